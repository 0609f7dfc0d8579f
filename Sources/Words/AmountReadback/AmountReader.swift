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
  private let language: ReadingLanguage

  init(_ locale: String, _ language: ReadingLanguage) {
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
      let counts = try counts(in: language.folded(words), by: language.payments + [language.whole])
      let count = try Self.only(counts)
      guard Self.counts.contains(count) else { throw .outOfRange }
      return count
    } catch {
      throw AmountReadbackError(code: error.code, locale: locale, subject: .count)
    }
  }

  /// Returns whether a text has a word that occurs in numbers, such as “twelve”. In the text, the word may mean
  /// something else.
  public func hasNumberWord(in text: String) -> Bool {
    let words = language.words
    // Punctuation would hide the end of a word.
    let folded = language.folded(String(text.map { $0.isLetter ? $0 : " " }))
    var matches: [WordTree.Match] = []
    for place in folded.indices where !words.separatesWords || place == 0 || folded[place - 1] == Folding.space {
      words.appendMatches(in: folded, at: place, to: &matches)
    }
    return matches.contains {
      $0.meaning.kind == .word && language.numberClasses & 1 << UInt64($0.meaning.place) != 0
    }
  }

  private static let commas: Set<UInt32> = [0x2C, 0x3001, 0xFF0C]

  /// The largest number of scalars of a text that is read. No amount is that long.
  private static let longestText = 1_000

  private func read(_ words: String, _ code: String, _ minorDigits: Int) throws(Refusal) -> Int64 {
    let separatesWords = language.words.separatesWords
    var text = language.folded(words)
    guard text.count <= Self.longestText else { throw .unreadable }
    let names =
      language.named.contains(code)
      ? []
      : CurrencyNames.shared.names(of: code, locale: locale, separatesWords: separatesWords).map(language.folded)
    let pause = text.firstIndex(where: Self.commas.contains)
    if let pause {
      guard isName(Array(text[..<pause]), of: code, names) else { throw .unreadable }
      text = Array(text[(pause + 1)...].drop { $0 == Folding.space })
    }
    let amounts = try AmountParser.amounts(
      in: text, language, currency: code, minorDigits: minorDigits, otherNames: names, isNamed: pause != nil)
    guard amounts.isEmpty else { return try Self.only(amounts) }
    throw try refusal(of: text, code, minorDigits, names, isNamed: pause != nil)
  }

  /// Returns the reason why a text is not an amount of a currency.
  private func refusal(
    of text: [UInt32], _ code: String, _ minorDigits: Int, _ names: [[UInt32]], isNamed: Bool
  ) throws(Refusal) -> Refusal {
    func isAmount(_ text: [UInt32], acceptsOthers: Bool, _ names: [[UInt32]], isNamed: Bool) throws(Refusal) -> Bool {
      try !AmountParser.amounts(
        in: text, language, currency: code, acceptsOthers: acceptsOthers, minorDigits: minorDigits, otherNames: names,
        isNamed: isNamed
      ).isEmpty
    }
    if try AmountParser.isHalfNamed(text, language, currency: code, minorDigits: minorDigits) { return .ambiguous }
    let separatesWords = language.words.separatesWords
    if let name = CurrencyNames.range(of: names, in: text, separatesWords: separatesWords) {
      // If the words name the requested currency but cannot be read, the error must not claim that the currency is
      // wrong.
      let rest = Array(text[..<name.lowerBound] + text[name.upperBound...])
      return try isAmount(rest, acceptsOthers: true, [], isNamed: false) ? .wrongCurrency : .unreadable
    }
    if try isAmount(text, acceptsOthers: true, names, isNamed: isNamed) { return .wrongCurrency }
    // Without a unit, the words name no currency.
    if try isAmount(text, acceptsOthers: false, [], isNamed: true) { return .wrongCurrency }
    if try !counts(in: text, by: language.countRules).isEmpty { return .wrongCurrency }
    var lattice = WordLattice(text, language.words)
    if lattice.consistsOfWords(language.amountClasses) { return .unreadable }
    // The unknown words may name a currency that the file does not have.
    return CurrencyNames.shared.someCurrencyIsNamed(
      in: text, locale: language.subtag, separatesWords: separatesWords) ? .wrongCurrency : .unreadable
  }

  /// Returns the numbers that a folded text can mean by the given rules.
  ///
  /// - Throws: `.ambiguous` for words that people understand in two ways.
  private func counts(in text: [UInt32], by rules: [Int]) throws(Refusal) -> [Int64] {
    guard text.count <= Self.longestText else { throw .unreadable }
    var lattice = WordLattice(text, language.words)
    var counts: [Int64] = []
    var isDoubtful = false
    for rule in rules {
      for index in try language.grammar.readings(rule, at: 0, in: &lattice) {
        let reading = lattice.reading(index)
        guard reading.end == text.count else { continue }
        if reading.isDoubtful {
          isDoubtful = true
        } else if !counts.contains(reading.value) {
          counts.append(reading.value)
        }
      }
    }
    if counts.isEmpty, isDoubtful { throw .ambiguous }
    return counts
  }

  /// Returns whether a folded text is a name of a currency's major unit, and nothing else.
  private func isName(_ text: [UInt32], of code: String, _ names: [[UInt32]]) -> Bool {
    if names.contains(text) { return true }
    var matches: [WordTree.Match] = []
    language.words.appendMatches(in: text, at: 0, to: &matches)
    return matches.contains { match in
      guard match.meaning.kind == .unit, match.end == text.count else { return false }
      let unit = language.units[Int(match.meaning.place)]
      return unit.fraction == 0 && unit.currencies.contains(code)
    }
  }

  private static func only(_ values: [Int64]) throws(Refusal) -> Int64 {
    guard let value = values.first else { throw .unreadable }
    guard values.count == 1 else { throw .ambiguous }
    return value
  }
}
