// SPDX-License-Identifier: Apache-2.0

/// A requested range of bytes: `bytes=0-499`, `bytes=500-` or `bytes=-500`.
struct ByteRange: Sendable, Hashable {
  private var first: Int?
  private var last: Int?

  /// - Returns: nil for several ranges, another unit or an invalid range. The response then contains the whole file.
  init?(_ field: String) {
    guard field.hasPrefix("bytes=") else { return nil }
    let ends = field.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
    guard ends[0].isEmpty || first != nil, ends[1].isEmpty || last != nil, first != nil || last != nil else {
      return nil
    }
    if let first, let last, first > last { return nil }
  }

  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // A number that is too large for `Int` lies beyond the end of any file, so its exact value does not matter.
    return Int(text) ?? Int.max
  }

  /// Returns the bounds of the range in a file of a size in bytes; nil if the range contains none of its bytes.
  func bounds(in size: Int) -> Range<Int>? {
    guard let first else {
      guard let last, last > 0, size > 0 else { return nil }
      return max(0, size - last)..<size
    }
    guard first < size else { return nil }
    return first..<min(size, last.map { $0 < Int.max ? $0 + 1 : $0 } ?? size)
  }
}
