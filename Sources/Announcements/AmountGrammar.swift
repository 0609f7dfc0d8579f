// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Turns an exact sum into the words of one phrase book.
///
/// Three forms, chosen by the book's data: major and minor units each counted (`twelve dollars and fifty cents`);
/// more than one minor unit (`十二元五角五分`); and, for a currency without named minor units, the digits after a
/// decimal point (`twelve point five zero Swiss francs`), all of the currency's digits, so that nothing is rounded.
///
/// Each word comes by itself with what is written behind it, so that the same words are the engine's text when they are
/// joined and a recorded voice's tokens when they are not.
struct AmountGrammar {
  let book: PhraseBook

  /// The words in speaking order; joined as they stand they are the text to speak.
  /// - Throws: `.currencyUnspeakable` when the book has no units for the currency and CLDR's name for it is written in
  ///   a script that the book's voice does not read.
  func words(_ money: Money) throws(AnnouncementError) -> [String] {
    guard let units = book.content.currencies[money.currency.code] else {
      return separated(decimalWords(money) + [NumberWord(try nameFromCLDR(money))])
    }
    guard !units.minor.isEmpty || money.minorPart == 0 else {
      return separated(decimalWords(money) + [NumberWord(units.major.other)])
    }
    var words: [String] = []
    if money.majorPart > 0 {
      let isFeminine = book.numbers.isFeminine(money.currency)
      words = separated(counted(money.majorPart, units.major, isFeminine: isFeminine))
    }
    var rest = money.minorPart
    var isFirst = true
    var unitAboveIsSaid = money.majorPart > 0
    for unit in units.minor {
      let value = unit.value ?? 1
      let count = rest / value
      rest %= value
      if count > 0 {
        if !words.isEmpty {
          append(isFirst ? book.content.majorMinorSeparator : book.content.wordSeparator, to: &words)
          if let skipped = unit.skipped, !unitAboveIsSaid { words.append(skipped) }
        }
        words += separated(counted(count, unit, isAlone: words.isEmpty))
        isFirst = false
      }
      unitAboveIsSaid = count > 0
    }
    return words
  }

  /// How many payments there are, as it stands in the book's summary; joined as they stand the words are the text.
  func count(_ number: Int) -> [String] {
    separated(book.content.summary.counting(Int64(number), by: book.numbers))
  }

  /// A whole number by itself, for free text.
  func cardinal(_ number: Int64) -> String { joined(book.numbers.words(number)) }

  /// Words of a number as they are written together.
  func joined(_ words: [NumberWord]) -> String { separated(words).joined() }

  /// Digits one by one, for free text.
  func digits(_ digits: some Sequence<Int>) -> String { joined(digits.map { NumberWord(book.content.digits[$0]) }) }

  /// The digits of a telephone, card or order number, one by one, for free text.
  func numberDigits(_ digits: some Sequence<Int>) -> String {
    let words = book.content.text?.numberDigits ?? book.content.digits
    return joined(digits.map { NumberWord(words[$0]) })
  }

  /// What stands between two parts of a sum: white space and punctuation go onto the word before, and a word (`and`) is
  /// one by itself.
  private func append(_ separator: String, to words: inout [String]) {
    let opening = separator.prefix { !$0.isLetter }
    words[words.count - 1] += opening
    if opening.count < separator.count { words.append(String(separator.dropFirst(opening.count))) }
  }

  /// - Parameter isAlone: whether no unit is said before this one.
  private func counted(
    _ count: Int64, _ unit: PhraseBook.Unit, isFeminine: Bool = false, isAlone: Bool = false
  ) -> [NumberWord] {
    var words = book.numbers.words(counting: count, isFeminine: isFeminine)
    if let last = words.last, let contracted = unit.contractions?[last.text] {
      words[words.count - 1] = NumberWord(contracted)
    }
    return words + [NumberWord(unit.name(of: count, isAlone: isAlone))]
  }

  private func decimalWords(_ money: Money) -> [NumberWord] {
    // Zero before a point is read as a digit: Korean counts with 공 and reads decimals with 영.
    guard money.minorPart > 0 else {
      return book.numbers.words(counting: money.majorPart, isFeminine: book.numbers.isFeminine(money.currency))
    }
    let digits = book.content.digits.map { NumberWord($0) }
    let major = money.majorPart == 0 ? [digits[0]] : beforePoint(book.numbers.words(money.majorPart))
    return major + [NumberWord(book.content.decimalPoint)] + money.minorPartDigits.map { digits[$0] }
  }

  /// The words of a number as they stand before the decimal point: いってん.
  func beforePoint(_ number: [NumberWord]) -> [NumberWord] {
    guard let last = number.last, let contracted = book.content.pointContractions?[last.text] else { return number }
    return number.dropLast() + [NumberWord(contracted)]
  }

  /// The unit's name in the plural that the number takes, from CLDR.
  private func nameFromCLDR(_ money: Money) throws(AnnouncementError) -> String {
    let isOne = money.majorPart == 1 && money.minorPart == 0
    let style = Decimal.FormatStyle.Currency(code: money.currency.code, locale: Locale(identifier: book.locale))
      .presentation(.fullName).precision(.fractionLength(0))
    // Only the digit goes: 百 is a number too, and the first character of the Bermudian dollar's name.
    let name = String(
      String.UnicodeScalarView(
        Decimal(isOne ? 1 : 2).formatted(style).unicodeScalars
          .filter { $0.properties.generalCategory != .decimalNumber })
    ).trimmed
    // Where CLDR has no name it gives the code, and that is no word.
    let isReadable =
      !name.isEmpty && name != money.currency.code
      && name.unicodeScalars.allSatisfy {
        !$0.properties.isAlphabetic || book.writingSystems.contains(WritingSystem.of($0) ?? "")
      }
    guard isReadable else {
      throw AnnouncementError(
        .currencyUnspeakable, "currency", "\(money.currency.code) has no name that \(book.locale) can speak",
        remedy: "add \(money.currency.code) under currencies in \(book.locale).json")
    }
    return name
  }

  /// Each word but the last with what is written behind it.
  private func separated(_ words: [NumberWord]) -> [String] {
    words.enumerated().map { index, word in
      word.isBound || index == words.count - 1 ? word.text : word.text + book.content.wordSeparator
    }
  }
}
