// SPDX-License-Identifier: Apache-2.0

/// A number as people write it in a text: digits of any script, perhaps grouped, perhaps with a decimal part.
struct WrittenNumber {
  /// The digits, as commas and points part them.
  private(set) var groups: [[Int]] = []
  private var separators: [Unicode.Scalar] = []

  /// Whether a letter that multiplies it follows at once: `1.5万`, `1.2M`.
  let isScaled: Bool

  /// The first index behind it.
  private(set) var end: Int

  /// - Returns: `nil` when no digit stands at `start`.
  init?(_ scalars: [Unicode.Scalar], at start: Int) {
    func digit(_ index: Int) -> Int? {
      guard index < scalars.count, scalars[index].properties.generalCategory == .decimalNumber else { return nil }
      return scalars[index].properties.numericValue.map { Int($0) }
    }
    guard digit(start) != nil else { return nil }
    groups = [[]]
    end = start
    while true {
      if let value = digit(end) {
        groups[groups.count - 1].append(value)
        end += 1
      } else if end < scalars.count, [",", "."].contains(scalars[end]), digit(end + 1) != nil {
        separators.append(scalars[end])
        groups.append([])
        end += 1
      } else {
        break
      }
    }
    isScaled = end < scalars.count && Self.scales(scalars[end])
  }

  /// Letters that multiply the number before them: a thousand, a million and so on, as people abbreviate them.
  private static func scales(_ scalar: Unicode.Scalar) -> Bool {
    ["k", "K", "m", "M", "b", "B", "千", "百", "十", "万", "萬", "亿", "億", "兆", "만", "억", "천", "조"].contains(scalar)
  }

  /// Whether everybody reads it as the same sum: no digits grouped, or grouped by threes, or as India groups them, with
  /// at most one point, behind the groups; and nothing that multiplies it.
  var isPlain: Bool { isCounted && !isScaled }

  /// Whether everybody reads it as the same number.
  var isCounted: Bool {
    let points = separators.filter { $0 == "." }.count
    guard points == 0 || (points == 1 && separators.last == ".") else { return false }
    let sizes = wholeGroups.map(\.count)
    guard sizes.count > 1 else { return true }
    let byThrees = (1...3).contains(sizes[0]) && sizes.dropFirst().allSatisfy { $0 == 3 }
    let indian = (1...2).contains(sizes[0]) && sizes.last == 3 && sizes.dropFirst().dropLast().allSatisfy { $0 == 2 }
    return byThrees || indian
  }

  private var wholeGroups: ArraySlice<[Int]> { separators.last == "." ? groups.dropLast() : groups[...] }

  var whole: [Int] { wholeGroups.flatMap(\.self) }

  var fraction: [Int] { separators.last == "." ? groups[groups.count - 1] : [] }

  var decimalText: String {
    let digits = whole.map(String.init).joined()
    return fraction.isEmpty ? digits : digits + "." + fraction.map(String.init).joined()
  }
}
