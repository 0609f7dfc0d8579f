// SPDX-License-Identifier: Apache-2.0

/// Reads spoken words back as numbers: the words of an amount as minor units, and the words of a count as a whole
/// number. This verifies that the spoken amount is the amount paid.
///
/// The reader shares no table and no rule with the grammar that writes the words. It is strict: it refuses any word
/// that it does not understand or that is out of place, and any form that can be understood as two amounts. It does not
/// read negative amounts, digits or ordinals. The only punctuation that it reads is one comma, for a pause between the
/// currency's name and a number without units: “Tunisian dinars, twenty”. The text must be in Unicode's normalization
/// form C.
public struct AmountReader: Sendable {
  private let locale: String
  private let language: CompiledLanguage

  /// Creates a reader.
  ///
  /// - Parameter locale: a BCP 47 tag, whose language subtag selects the language (zh, en, es, ja, ko, hi).
  /// - Throws: `AmountReadbackError` with code `.languageUnknown`.
  public init(locale: String) throws(AmountReadbackError) {
    let subtag = locale.prefix { $0 != "-" && $0 != "_" }.lowercased()
    guard let language = AmountLanguages.language(subtag[...]) else {
      throw AmountReadbackError(code: .languageUnknown, locale: locale)
    }
    self.locale = locale
    self.language = language
  }

  /// Reads the words of one amount, without any words before or after them.
  ///
  /// - Parameters:
  ///   - currency: an ISO 4217 code in capitals. The words must name this currency.
  ///   - minorDigits: the number of the currency's decimal places, 0 to 18.
  /// - Returns: the amount in minor units: 1250 for "twelve dollars and fifty cents" with two minor digits.
  /// - Throws: `AmountReadbackError` with code `.unreadable`, `.wrongCurrency`, `.ambiguous` or `.outOfRange`.
  public func minorUnits(
    in words: String, currency: String, minorDigits: Int
  ) throws(AmountReadbackError) -> Int64 {
    do {
      return try read(words, currency, minorDigits)
    } catch {
      throw AmountReadbackError(code: error.code, locale: locale, currency: currency)
    }
  }

  /// The range of counts that can be read.
  public static let counts: ClosedRange<Int64> = 1...9_999_999

  /// Reads the words for a number of payments. The words must contain neither the counted noun nor any other words.
  ///
  /// Some forms occur only before a counted noun. They have the same value as the plain number: 两 and 二, veintiuna and
  /// veintiuno, 스물한 and 이십일, じゅっ and じゅう. Currencies and decimal points are refused.
  ///
  /// - Returns: a number in the range ``counts``.
  /// - Throws: `AmountReadbackError` with code `.unreadable`, `.ambiguous` or `.outOfRange` and subject `.count`.
  public func count(in words: String) throws(AmountReadbackError) -> Int64 {
    do throws(Refusal) {
      let lexicon = language.countLexicon
      let text = Folding.scalars(of: words, separatesWords: lexicon.separatesWords)
      let count = try language.rules.count(try lexicon.tokens(of: text[...]))
      guard Self.counts.contains(count) else { throw .outOfRange }
      return count
    } catch {
      throw AmountReadbackError(code: error.code, locale: locale, subject: .count)
    }
  }

  private static let commas: Set<UInt32> = [0x2C, 0x3001, 0xFF0C]

  /// Returns whether a folded text is a name of a currency's major unit, and nothing else.
  private func isName(
    _ text: ArraySlice<UInt32>, of currency: CurrencySet, _ names: [[UInt32]]
  ) throws(Refusal) -> Bool {
    if names.contains(where: text.elementsEqual) { return true }
    let tokens = try language.lexicon.tokens(of: text)
    return tokens.count == 1 && tokens[0].kind == .unit && tokens[0].unit.fraction == 0
      && tokens[0].unit.currencies.contains(currency)
  }

  private func read(_ words: String, _ code: String, _ minorDigits: Int) throws(Refusal) -> Int64 {
    let separatesWords = language.lexicon.separatesWords
    let text = Folding.scalars(of: words, separatesWords: separatesWords)
    let currency = CurrencySet(code: code)
    let names =
      language.named.contains(currency)
      ? [] : CurrencyNames.shared.names(of: code, locale: locale, separatesWords: separatesWords)
    var tokens: [Token] = []
    let pause = text.firstIndex(where: Self.commas.contains)
    if let pause {
      guard try isName(text[..<pause], of: currency, names) else { throw .unreadable }
      tokens = try language.lexicon.tokens(of: text[(pause + 1)...].drop { $0 == Folding.space })
      guard tokens.allSatisfy({ $0.kind != .unit }) else { throw .unreadable }
    } else if let name = CurrencyNames.range(of: names, in: text, separatesWords: separatesWords) {
      let unit = Unit(currencies: currency, whenNamed: [], fraction: 0, tag: Unit.untold)
      // Without spaces, a name behind a number may go on like one: 오만 is Oman and 50,000.
      if !separatesWords, name.lowerBound > 0, language.lexicon.beginsWithNumber(text[name]) { throw .ambiguous }
      tokens = try language.lexicon.tokens(of: text[..<name.lowerBound])
      tokens.append(Token(kind: .unit, tag: unit.tag, value: 0, unit: unit))
      tokens += try language.lexicon.tokens(of: text[name.upperBound...])
    } else {
      do {
        tokens = try language.lexicon.tokens(of: text[...])
      } catch {
        // The unknown words may name a currency that the lexicon does not contain.
        let isOther = CurrencyNames.shared.someCurrencyIsNamed(
          in: text, locale: language.rules.subtag, separatesWords: separatesWords)
        throw isOther ? .wrongCurrency : error
      }
    }
    var grammar = try AmountGrammar(
      tokens, rules: language.rules, currency: currency, minorDigits: minorDigits, isNamed: pause != nil)
    return try grammar.amount()
  }
}
