// SPDX-License-Identifier: Apache-2.0

/// A number as people write it in a text: digits, which may be grouped and may have a decimal part.
///
/// A phrase book says whether its country writes a decimal point (`1,234.50`) or a decimal comma (`1.234,50`). A text
/// may come from elsewhere, however. `1.234,50` and `1 234,50` can be read in only one way.
///
/// Some other texts can mean two different numbers. With a decimal point, `12,50` is such a text. With a decimal comma,
/// `12.50` means only one number, but `1,234 €` can mean two. If the country also groups digits with a space, `1.234`
/// can mean two numbers as well.
struct WrittenNumber {
  /// The digits, divided at the separators.
  private(set) var groups: [[Int]] = [[]]

  /// The separators between the groups: `,`, `.`, `'` or a space.
  private(set) var separators: [Unicode.Scalar] = []

  /// The index after the number.
  private(set) var end: Int

  /// The digits before and after the decimal point; `nil` when readers could understand the number in two ways.
  let value: (whole: [Int], fraction: [Int])?

  /// The length of the number in scalars.
  let length: Int

  /// Whether the number contains no separator.
  var isPlain: Bool { separators.isEmpty }

  /// Reads a number.
  ///
  /// - Parameters:
  ///   - book: The book of the text, for ``PhraseBook/decimalSeparator``.
  ///   - joinsSpaces: whether a plain space may group digits (`$1 000`). A non-breaking space may always group digits.
  ///   - isSum: whether a currency is next to the number. With a currency `1.234.567` is a sum. Without a currency it
  ///     may be a version number.
  /// - Returns: `nil` when there is no digit at `start`.
  init?(
    _ scalars: [Unicode.Scalar], at start: Int, of book: PhraseBook, joinsSpaces: Bool = false, isSum: Bool = false
  ) {
    guard start < scalars.count else { return nil }
    end = start
    // In $.50 there is no digit before the point.
    if isSum, scalars[start] == ".", start + 1 < scalars.count, scalars[start + 1].digit != nil {
      groups = [[0], []]
      separators = ["."]
      end = start + 1
    } else if scalars[start].digit == nil {
      return nil
    }
    while end < scalars.count {
      let scalar = scalars[end]
      if let digit = scalar.digit {
        groups[groups.count - 1].append(digit)
      } else if Self.separates(scalar, scalars, at: end, joinsSpaces: joinsSpaces) {
        separators.append(Self.sign(scalar, of: book))
        groups.append([])
      } else {
        break
      }
      end += 1
    }
    length = end - start
    value =
      book.decimalSeparator == "," && separators.count == 1 && separators != ["'"]
      ? Self.valueWithDecimalComma(groups, separators[0], of: book, isSum: isSum)
      : Self.value(of: groups, separators, isSum: isSum)
  }

  private static func separates(
    _ scalar: Unicode.Scalar, _ scalars: [Unicode.Scalar], at index: Int, joinsSpaces: Bool
  ) -> Bool {
    func isDigit(_ index: Int) -> Bool { index < scalars.count && scalars[index].digit != nil }
    switch scalar {
    case ",", ".", "\u{66B}", "\u{66C}": return isDigit(index + 1)
    case "'", FoldedText.groupingSpace, " ":
      guard scalar != " " || joinsSpaces else { return false }
      return isDigit(index + 1) && isDigit(index + 2) && isDigit(index + 3) && !isDigit(index + 4)
    default: return false
    }
  }

  /// Returns the sign that an Arabic separator stands for in the book's notation.
  private static func sign(_ scalar: Unicode.Scalar, of book: PhraseBook) -> Unicode.Scalar {
    switch scalar {
    case "\u{66B}": book.decimalSeparator
    case "\u{66C}": book.decimalSeparator == "," ? "." : ","
    default: scalar
    }
  }

  /// Returns the value of a number with one separator in a country with a decimal comma.
  private static func valueWithDecimalComma(
    _ groups: [[Int]], _ separator: Unicode.Scalar, of book: PhraseBook, isSum: Bool
  ) -> (whole: [Int], fraction: [Int])? {
    let isGrouped = isGroupedByThrees(groups) && groups[0].first != 0
    switch separator {
    // Few sums have three decimals, so a writer may have meant thousands.
    case "," where isSum && isGrouped: return nil
    case ",": return (groups[0], groups[1])
    case "." where !isGrouped: return (groups[0], groups[1])
    case ".": return book.groupsByPoint ? (groups[0] + groups[1], []) : nil
    default: return isGrouped ? (groups[0] + groups[1], []) : nil
    }
  }

  private static func value(
    of groups: [[Int]], _ separators: [Unicode.Scalar], isSum: Bool
  ) -> (whole: [Int], fraction: [Int])? {
    guard let last = separators.last, let lastGroup = groups.last else { return (groups[0], []) }
    let wholeGroups = Array(groups.dropLast())
    let before = Set(separators.dropLast())
    switch last {
    case "." where before.isEmpty:
      return (groups[0], lastGroup)
    case "." where before.count == 1 && !before.contains("."):
      return isGrouped(wholeGroups) ? (wholeGroups.flatMap(\.self), lastGroup) : nil
    case "." where before == ["."]:
      return isSum && isGroupedByThrees(groups) ? (groups.flatMap(\.self), []) : nil
    case "," where before.count == 1 && !before.contains(","):
      // If the last group had three digits, it could also belong to a number without a decimal part.
      return isGroupedByThrees(wholeGroups) && lastGroup.count != 3 ? (wholeGroups.flatMap(\.self), lastGroup) : nil
    default:
      return before.isSubset(of: [last]) && isGrouped(groups) ? (groups.flatMap(\.self), []) : nil
    }
  }

  /// Returns whether the digits are grouped in threes, or in the Indian way: 12,34,567.
  private static func isGrouped(_ groups: [[Int]]) -> Bool {
    let sizes = groups.map(\.count)
    let isIndian =
      sizes.count > 1 && (1...2).contains(sizes[0]) && sizes.last == 3
      && sizes.dropFirst().dropLast().allSatisfy { $0 == 2 }
    return isIndian || isGroupedByThrees(groups)
  }

  private static func isGroupedByThrees(_ groups: [[Int]]) -> Bool {
    (1...3).contains(groups[0].count) && groups.dropFirst().allSatisfy { $0.count == 3 }
  }
}
