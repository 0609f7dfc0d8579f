// SPDX-License-Identifier: Apache-2.0

/// A set of Unicode scalars, written as single scalars and ranges with a space between two: `a-z á é`.
struct ScalarRanges: Sendable, Hashable {
  /// In rising order, none overlapping.
  private var ranges: [ClosedRange<UInt32>] = []

  /// - Returns: `nil` when a part is neither a scalar nor a range of two.
  init?(_ text: String) {
    // By scalars: a mark behind a space would be one character with it.
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
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(scalar.value)
  }
}
