// SPDX-License-Identifier: Apache-2.0

/// A set of Unicode scalars. It is written as single scalars and ranges, separated by spaces: `a-z á é`.
struct ScalarRanges: Sendable, Hashable {
  /// The ranges in ascending order, without overlaps.
  private var ranges: [ClosedRange<UInt32>] = []

  /// A bit for each scalar of ASCII, because most texts are asked about letter by letter.
  private var ascii = SIMD2<UInt64>()

  /// Reads a set.
  ///
  /// - Returns: `nil` when a part of the text is neither a scalar nor a range between two scalars.
  init?(_ text: String) {
    // The text is split by scalars, because a mark after a space would form one character with the space.
    for part in text.unicodeScalars.split(separator: " ") {
      let scalars = Array(part)
      switch scalars.count {
      case 1: ranges.append(scalars[0].value...scalars[0].value)
      case 3 where scalars[1] == "-" && scalars[0].value <= scalars[2].value:
        ranges.append(scalars[0].value...scalars[2].value)
      default: return nil
      }
    }
    ranges.sort { $0.lowerBound < $1.lowerBound }
    for value in ranges.joined() {
      guard value < 128 else { break }
      ascii[Int(value / 64)] |= 1 << UInt64(value % 64)
    }
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return ascii[Int(scalar.value / 64)] & 1 << UInt64(scalar.value % 64) != 0 }
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(scalar.value)
  }
}
