// SPDX-License-Identifier: Apache-2.0

/// The words of numbers and of units of money, to find sums in words inside a name.
///
/// A name may imitate an announcement in any language that its listener understands, so the words of all phrase books
/// are looked for, and common words of money that no book says.
struct NumberWordTable: Sendable {
  /// What a word is beside others; the value of its entry.
  enum Role: String {
    case number
    /// Joins two words of one number: `and`, the decimal point.
    case joiner
    /// Stands between a number and its unit.
    case filler
    /// Stands for one before a unit: `a dollar`.
    case article
  }

  /// Where an entry may begin and end is looked at by ``SumSearch``, so that no entry is a whole word by itself.
  private(set) var words = ReplacementTable()
  /// The names of major and minor units.
  private(set) var units = ReplacementTable()

  init() {
    for word in MoneyWords.fillers { add(word, .filler) }
    for word in MoneyWords.articles { add(word, .article) }
    for word in MoneyWords.numbers { add(word, .number) }
    for unit in MoneyWords.units { add(unit: unit) }
  }

  /// - Parameters:
  ///   - words: words of numbers.
  ///   - joiners: words that stand between two of them: `and`, the decimal point.
  ///   - units: names of units of money.
  mutating func add(words: Set<String>, joiners: Set<String>, units: Set<String>) {
    for word in joiners { add(word, .joiner) }
    for word in words.subtracting(joiners) { add(word, .number) }
    for unit in units { add(unit: unit) }
  }

  private mutating func add(_ word: String, _ role: Role) {
    words.add(HeardText.word(word), role.rawValue, isWholeWord: false)
  }

  private mutating func add(unit: String) {
    let unit = HeardText.word(unit)
    units.add(unit, unit, isWholeWord: false)
  }

  /// Where sums of money stand in a text, in its order: numbers in words or digits beside a unit, a sign or a code of a
  /// currency.
  ///
  /// - Parameter speaksOfPayment: whether the text speaks of a payment. Then a number of two words is enough, and letters
  ///   beside the sum do not make it a part of a name, as they do in 김이원.
  func sums(in text: FoldedText, speaksOfPayment: Bool) -> [Range<Int>] {
    let heard = HeardText(text.lowered)
    let search = SumSearch(heard.scalars, self, speaksOfPayment: speaksOfPayment)
    return search.sums.map { heard.sources[$0.lowerBound]..<heard.sources[$0.upperBound - 1] + 1 }
  }
}

extension ReplacementTable {
  /// Whether any entry matches anywhere in the text.
  func occurs(in text: [Unicode.Scalar]) -> Bool { text.indices.contains { match(text, at: $0) != nil } }
}
