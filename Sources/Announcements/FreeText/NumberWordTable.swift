// SPDX-License-Identifier: Apache-2.0

/// The words of a language's numbers, to find sums in words inside a name.
struct NumberWordTable: Sendable {
  private var words = ReplacementTable()
  /// The names of major and minor units.
  private var units = ReplacementTable()

  /// - Parameters:
  ///   - words: words of numbers, `and` and the decimal point among them.
  ///   - units: names of units of money.
  init(words: Set<String>, units: Set<String>) {
    for word in words { self.words.add(word, "", isWholeWord: Self.isWholeWord(word)) }
    for unit in units { self.units.add(unit, "", isWholeWord: Self.isWholeWord(unit)) }
  }

  private static func isWholeWord(_ word: String) -> Bool { !word.unicodeScalars.allSatisfy(\.isUnspaced) }

  /// The end of a sum in words that begins at `index`: number words and a unit of money.
  ///
  /// - Parameter acceptsNumber: whether a number of two words or more is enough, without a unit.
  func endOfSum(
    in text: [Unicode.Scalar], at index: Int, acceptsNumber: Bool
  ) -> Int? {
    guard var end = words.match(text, at: index).map({ index + $0.key.count }) else { return nil }
    var count = 1
    var behind = Self.skippingSeparator(text, end)
    while let next = words.match(text, at: behind) {
      end = behind + next.key.count
      behind = Self.skippingSeparator(text, end)
      count += 1
    }
    if let unit = units.match(text, at: behind) { return behind + unit.key.count }
    return acceptsNumber && count >= 2 ? end : nil
  }

  private static func skippingSeparator(_ text: [Unicode.Scalar], _ index: Int) -> Int {
    index < text.count && (text[index] == " " || text[index] == "-") ? index + 1 : index
  }
}

extension ReplacementTable {
  /// Whether any entry matches anywhere in the text.
  func occurs(in text: [Unicode.Scalar]) -> Bool { text.indices.contains { match(text, at: $0) != nil } }
}
