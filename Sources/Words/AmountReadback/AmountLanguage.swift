// SPDX-License-Identifier: Apache-2.0

/// The parts of the reader that depend on the language: its words, its names of units, and the structure of its whole
/// numbers.
///
/// To add a language, write one file with a conforming type, and add the type to `AmountLanguages`.
protocol AmountLanguage: Sendable {
  /// The BCP 47 language subtag in lower case.
  static var subtag: String { get }

  /// Whether spaces separate words. If so (English, Hindi), a space or a hyphen ends a word, and the name of a unit may
  /// contain spaces ("hong kong dollars"). If not (Chinese, Japanese, Korean), spaces are skipped everywhere.
  static var separatesWords: Bool { get }

  static var words: [Word] { get }

  static var units: [UnitName] { get }

  /// Names of major units beside those of CLDR, for currencies that are not in `units`.
  static var otherNames: [UnitName] { get }

  /// Number words that occur only before counted nouns other than money. They are accepted only in counts.
  static var countWords: [Word] { get }

  /// Reads a whole number and stops at the first token that cannot belong to it.
  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64

  /// Reads all tokens as a count. The tokens do not include the counted noun.
  static func count(_ tokens: [Token]) throws(Refusal) -> Int64

  /// Refuses combinations of adjacent words that the language does not permit. It is called once, before any number is
  /// read.
  static func checkNeighbours(_ tokens: [Token]) throws(Refusal)

  /// Whether the currency's name may stand before an amount with units (人民币十二元, 人民币五角).
  static var namesCurrencyFirst: Bool { get }

  /// Whether a zero marks a place that is skipped between two units (十二元零五分).
  static var saysZeroForSkippedPlace: Bool { get }

  /// Returns whether a count of minor units may be spoken in this form. It is called only for languages that mark a
  /// skipped place.
  static func accepts(_ part: MinorPart) -> Bool
}

extension AmountLanguage {
  static var countWords: [Word] { [] }

  static func count(_ tokens: [Token]) throws(Refusal) -> Int64 {
    try checkNeighbours(tokens)
    return try number(tokens)
  }

  /// Reads all tokens as one whole number, without checking combinations of adjacent words.
  static func number(_ tokens: [Token]) throws(Refusal) -> Int64 {
    var reader = TokenReader(tokens)
    let number = try wholeNumber(&reader)
    guard reader.isAtEnd else { throw .unreadable }
    return number
  }

  static func checkNeighbours(_ tokens: [Token]) throws(Refusal) {}

  static var namesCurrencyFirst: Bool { false }

  static var saysZeroForSkippedPlace: Bool { false }

  static func accepts(_ part: MinorPart) -> Bool { true }
}

/// A spoken count of minor units: `count` of `unit`. The other fields say which units precede the count, and whether a
/// zero does.
struct MinorPart {
  var count: Int64
  /// The number of decimal places that the part fills, counted from the unit before it.
  var places: Int
  var unit: Unit
  /// The number of major units before the part; `nil` when the amount has no major units before it.
  var major: Int64?
  var follows: FollowedUnit
  var hasZeroBefore: Bool

  enum FollowedUnit { case nothing, major, minor }
}

/// A word and its meaning. The table's words and the text are both folded (see `Folding`), so one entry covers all
/// letter cases.
struct Word: Sendable {
  var text: String
  var token: Token

  init(_ text: String, _ kind: Token.Kind, _ value: Int64 = 0, tag: UInt8 = 0) {
    self.text = text
    self.token = Token(kind: kind, tag: tag, value: value, unit: .none)
  }

  /// Returns the words for consecutive numbers. There is one string for each number, in which variants are separated by
  /// spaces. The first number is `first`.
  static func numbers(from first: Int64, _ variants: [String]) -> [Word] {
    zip(first..., variants).flatMap { value, spellings in
      spellings.split(separator: " ").map { Word(String($0), value == 0 ? .zero : .number, value) }
    }
  }
}

/// The names of one unit of money.
struct UnitName: Sendable {
  var names: [String]
  var unit: Unit

  /// Creates the names of a unit.
  ///
  /// - Parameters:
  ///   - fraction: 0 for the major unit; otherwise the unit is 10^-fraction of it (角 1, cent 2, fils 3).
  ///   - hundredthOf: further currencies of which the unit is a hundredth once they are named, whatever `fraction` is.
  ///   - whenNamed: the currencies to which the name may refer if the currency was named before (新台币一百元). For a minor
  ///     unit the default is `currencies`. For a major unit the default is no currency, because the currency would be
  ///     named twice.
  init(
    _ currencies: CurrencySet, fraction: UInt8 = 0, hundredthOf: CurrencySet = [], whenNamed: CurrencySet? = nil,
    tag: UInt8 = 0, _ names: String...
  ) {
    self.names = names
    let whenNamed = whenNamed ?? (fraction == 0 ? [] : currencies)
    self.unit = Unit(
      currencies: currencies, whenNamed: whenNamed.union(hundredthOf), fraction: fraction, hundredthOf: hundredthOf,
      tag: tag)
  }
}

/// The supported languages. To add a language, add its subtag to the list and its case to the switch.
enum AmountLanguages {
  static let subtags = ["en", "es", "hi", "ja", "ko", "zh"]

  /// Returns a language. Its lexicon is built when it is first requested, and then kept.
  static func language(_ subtag: Substring) -> CompiledLanguage? {
    switch subtag {
    case "en": English.compiled
    case "es": Spanish.compiled
    case "hi": Hindi.compiled
    case "ja": Japanese.compiled
    case "ko": Korean.compiled
    case "zh": Chinese.compiled
    default: nil
    }
  }
}

/// A language with its lexicon, ready for reading.
final class CompiledLanguage: Sendable {
  let rules: any AmountLanguage.Type
  let lexicon: Lexicon
  let countLexicon: Lexicon
  /// The currencies whose major unit has names in the language's table. All other currencies have CLDR's names.
  let named: CurrencySet

  init(_ rules: any AmountLanguage.Type) {
    self.rules = rules
    self.lexicon = Lexicon(
      words: rules.words, units: rules.units + rules.otherNames, separatesWords: rules.separatesWords)
    self.countLexicon = Lexicon(
      words: rules.words + rules.countWords, units: [], separatesWords: rules.separatesWords)
    self.named = rules.units.reduce(into: []) { if $1.unit.fraction == 0 { $0.formUnion($1.unit.currencies) } }
  }
}
