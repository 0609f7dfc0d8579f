// SPDX-License-Identifier: Apache-2.0

/// A set of Unicode scalars. It is searched for every letter of a text, so it does not hash the scalars.
struct ScalarSet: Sendable, Hashable {
  /// One bit for each scalar of most alphabets, up to U+0FFF; empty if the set has none of them.
  private var bits: [UInt64] = []

  /// The other scalars as ranges in ascending order, without overlaps.
  private var ranges: [ClosedRange<UInt32>] = []

  private static let firstOfRanges: UInt32 = 0x1000

  init(_ scalars: some Sequence<Unicode.Scalar> = []) {
    for scalar in scalars { insert(scalar) }
  }

  /// Reads a set that is written as single scalars and ranges, separated by spaces: `a-z á é`.
  ///
  /// - Returns: `nil` when a part of the text is neither a scalar nor a range between two scalars.
  init?(ranges text: String) {
    var found: [ClosedRange<UInt32>] = []
    // The text is split by scalars, because a mark after a space would form one character with the space.
    for part in text.unicodeScalars.split(separator: " ") {
      let scalars = Array(part)
      switch scalars.count {
      case 1: found.append(scalars[0].value...scalars[0].value)
      case 3 where scalars[1] == "-" && scalars[0].value <= scalars[2].value:
        found.append(scalars[0].value...scalars[2].value)
      default: return nil
      }
    }
    for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) { insert(range) }
  }

  mutating func insert(_ scalar: Unicode.Scalar) { insert(scalar.value...scalar.value) }

  private mutating func insert(_ range: ClosedRange<UInt32>) {
    if range.lowerBound < Self.firstOfRanges {
      if bits.isEmpty { bits = Array(repeating: 0, count: Int(Self.firstOfRanges) / 64) }
      for value in range.clamped(to: 0...Self.firstOfRanges - 1) { bits[Int(value >> 6)] |= 1 << UInt64(value & 63) }
    }
    guard range.upperBound >= Self.firstOfRanges else { return }
    var joined = range.clamped(to: Self.firstOfRanges...UInt32.max)
    guard let last = ranges.last, last.upperBound >= joined.lowerBound else { return ranges.append(joined) }
    for other in ranges where other.overlaps(joined) {
      joined = min(other.lowerBound, joined.lowerBound)...max(other.upperBound, joined.upperBound)
    }
    ranges.removeAll { $0.overlaps(joined) }
    ranges.insert(joined, at: ranges.firstIndex { $0.lowerBound > joined.upperBound } ?? ranges.count)
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    if value < Self.firstOfRanges { return !bits.isEmpty && bits[Int(value >> 6)] >> UInt64(value & 63) & 1 == 1 }
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(value)
  }
}
