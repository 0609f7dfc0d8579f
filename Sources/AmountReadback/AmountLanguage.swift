// SPDX-License-Identifier: Apache-2.0

/// What one language brings to the reader: its words, its names of units, and how its whole numbers are built.
///
/// To add a language, write one file with a type that conforms, and enter it in `AmountLanguages`.
protocol AmountLanguage: Sendable {
  /// The BCP 47 language subtag, in lower case.
  static var subtag: String { get }

  /// True where words stand apart (English, Hindi). Then a space or a hyphen ends a word, and a word may hold
  /// spaces ("hong kong dollars"). Where false (Chinese, Japanese, Korean), spaces are skipped wherever they are.
  static var separatesWords: Bool { get }

  static var words: [Word] { get }

  static var units: [UnitName] { get }

  /// Words that numbers have only before something counted that is no money; read in counts alone.
  static var countWords: [Word] { get }

  /// Reads a whole number and stops at the first token that cannot belong to it.
  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64

  /// Reads all tokens as the count of something that is not there to be read.
  static func count(_ tokens: [Token]) throws(Refusal) -> Int64

  /// Refuses neighbours that the language does not put side by side; called once, before anything is read.
  static func checkNeighbours(_ tokens: [Token]) throws(Refusal)

  /// True where the currency's name may stand before an amount that is said in units (人民币十二元, 人民币五角).
  static var namesCurrencyFirst: Bool { get }

  /// True where a zero said between two units marks a skipped place (十二元零五分).
  static var saysZeroForSkippedPlace: Bool { get }

  /// Tells whether a minor part may be said like this; it is called only where a skipped place is said.
  static func accepts(_ part: MinorPart) -> Bool
}

extension AmountLanguage {
  static var countWords: [Word] { [] }

  static func count(_ tokens: [Token]) throws(Refusal) -> Int64 {
    try checkNeighbours(tokens)
    return try number(tokens)
  }

  /// Reads all tokens as one whole number, without a look at their neighbours.
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

/// A count of minor units as it was said: `count` of `unit`, after which units, with a zero before it or not.
struct MinorPart {
  var count: Int64
  /// How many decimal places the part fills, counted from the unit said before it.
  var places: Int
  var unit: Unit
  /// The major units said before, nil when the amount begins with this part.
  var major: Int64?
  var follows: FollowedUnit
  var hasZeroBefore: Bool

  enum FollowedUnit { case nothing, major, minor }
}

/// A word and what it means. Spelling is folded (see `Folding`) on both sides, so one entry stands for all cases.
struct Word: Sendable {
  var text: String
  var token: Token

  init(_ text: String, _ kind: Token.Kind, _ value: Int64 = 0, tag: UInt8 = 0) {
    self.text = text
    self.token = Token(kind: kind, tag: tag, value: value, unit: .none)
  }

  /// Words for 0, 1, 2 …: one string a number, its variants apart by spaces. The first number is `first`.
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

  /// - Parameters:
  ///   - fraction: 0 for the major unit; else the unit is 10^-fraction of it (角 1, cent 2, fils 3).
  ///   - whenNamed: for which currencies the name holds after the currency was said (新台币一百元); for a minor
  ///     unit, when left out, the same as `currencies`; for a major unit, none, for it would be said twice.
  init(
    _ currencies: CurrencySet, fraction: UInt8 = 0, whenNamed: CurrencySet? = nil, tag: UInt8 = 0, _ names: String...
  ) {
    self.names = names
    self.unit = Unit(
      currencies: currencies, whenNamed: whenNamed ?? (fraction == 0 ? [] : currencies), fraction: fraction, tag: tag)
  }
}

/// The languages there are: each has its subtag in the list and its case below.
enum AmountLanguages {
  static let subtags = ["en", "es", "hi", "ja", "ko", "zh"]

  /// A lexicon is built when its language is first asked for, and kept.
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

/// A language with its words made ready for reading.
final class CompiledLanguage: Sendable {
  let rules: any AmountLanguage.Type
  let lexicon: Lexicon
  let countLexicon: Lexicon
  /// Those that the language brings unit names for; all others go by their CLDR names.
  let currencies: CurrencySet

  init(_ rules: any AmountLanguage.Type) {
    self.rules = rules
    self.lexicon = Lexicon(words: rules.words, units: rules.units, separatesWords: rules.separatesWords)
    self.countLexicon = Lexicon(
      words: rules.words + rules.countWords, units: [], separatesWords: rules.separatesWords)
    self.currencies = rules.units.reduce(into: []) { $0.formUnion($1.unit.currencies) }
  }
}
