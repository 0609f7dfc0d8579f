// SPDX-License-Identifier: Apache-2.0

/// The words for numbers and units of money, used to find sums that are written in words inside a name.
///
/// A name may imitate an announcement in any language that its listener understands. The table therefore contains the
/// number and unit words of all phrase books, and each book's ``GuardWords``.
struct NumberWordTable: Sendable {
  /// The role of a word. It is stored as the value of the word's entry.
  enum Role: String {
    case number
    /// A word that joins two words of one number: `and`, or the word for the decimal point.
    case joiner
    /// A word between a number and its unit.
    case filler
    /// A word that means “one” before a unit: `a dollar`.
    case article
  }

  /// The entries for all words except the names of units. ``SumSearch`` itself checks where a match may begin and end,
  /// so no entry is marked as a whole word.
  private(set) var words = ReplacementTable()
  /// The words that are numbers.
  private var numbers: Set<String> = []
  /// The names of major and minor units.
  private(set) var units = ReplacementTable()
  /// ``GuardWords/openings``, ``GuardWords/names``, ``GuardWords/before``, ``GuardWords/behind`` and
  /// ``GuardWords/particles`` of all books, in the form of ``HeardText``.
  private(set) var openings: Set<String> = []
  private(set) var names: Set<String> = []
  private(set) var before: Set<Unicode.Scalar> = []
  private(set) var behind: Set<String> = []
  private(set) var particles: Set<String> = []

  /// Currency codes that are also words or names: Bob, Ron.
  static let namedCodes: Set<String> = [
    "ALL", "BAM", "BOB", "CUP", "GEL", "LAK", "MAD", "MOP", "NIO", "PEN", "RON", "SOS", "TOP", "TRY", "YER",
  ]

  /// Adds the further words for numbers and units with which a name may imitate a sum in a language.
  mutating func add(_ words: GuardWords) {
    for word in words.fillers ?? [] { add(word, .filler) }
    for word in words.articles ?? [] { add(word, .article) }
    for word in words.numbers ?? [] { add(word, .number) }
    for unit in words.units ?? [] { add(unit: unit) }
    openings.formUnion((words.openings ?? []).map(HeardText.word))
    names.formUnion((words.names ?? []).map(HeardText.word))
    before.formUnion((words.before ?? []).flatMap(\.unicodeScalars))
    behind.formUnion((words.behind ?? []).map(HeardText.word))
    particles.formUnion((words.particles ?? []).map(HeardText.word))
  }

  /// Adds the words of a language.
  ///
  /// - Parameters:
  ///   - words: the words of numbers.
  ///   - joiners: the words that stand between two number words: `and`, or the word for the decimal point.
  ///   - units: the names of units of money.
  mutating func add(words: Set<String>, joiners: Set<String>, units: Set<String>) {
    for word in joiners { add(word, .joiner) }
    for word in words.subtracting(joiners) { add(word, .number) }
    for unit in units { add(unit: unit) }
  }

  /// Returns the table with each character of its words replaced by the result of `transform`.
  func mapCharacters(_ transform: (Unicode.Scalar) -> Unicode.Scalar) -> NumberWordTable {
    var table = self
    table.words = words.mapKeys(transform)
    table.units = units.mapKeys(transform)
    return table
  }

  /// Adds a word. A word that is a number in one language stays a number, even if it joins words in another language:
  /// “et” is 1 in Danish, and “and” in French.
  private mutating func add(_ word: String, _ role: Role) {
    let word = HeardText.word(word)
    if role == .number { numbers.insert(word) } else if numbers.contains(word) { return }
    words.add(word, role.rawValue, isWholeWord: false)
  }

  private mutating func add(unit: String) {
    let unit = HeardText.word(unit)
    units.add(unit, unit, isWholeWord: false)
  }

  /// Returns the ranges of the sums of money in a text, in order. A sum is a number in words or digits, next to a unit,
  /// a currency sign or a currency code.
  ///
  /// - Parameter speaksOfPayment: whether the text contains words about payments. If so, two number words in a row are
  ///   a sum even without a unit, and letters next to a sum do not make the sum a part of a name. Otherwise, such
  ///   letters make the sum a part of a name, as in 김이원.
  func sums(in text: FoldedText, speaksOfPayment: Bool) -> [Range<Int>] {
    let heard = HeardText(text.lowered)
    let search = SumSearch(heard.scalars, self, speaksOfPayment: speaksOfPayment)
    return search.sums.map { heard.sources[$0.lowerBound]..<heard.sources[$0.upperBound - 1] + 1 }
  }
}

extension ReplacementTable {
  /// Returns whether any entry matches anywhere in the text.
  func occurs(in text: [Unicode.Scalar]) -> Bool { text.indices.contains { match(text, at: $0) != nil } }
}
