// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Turns an exact sum into the words of one phrase book.
///
/// The phrase book's data selects one of three forms:
/// - the major and the minor units, each counted (`twelve dollars and fifty cents`);
/// - several minor units, each counted (`十二元五角五分`);
/// - for a currency whose minor units have no name in the book, or only one that does not name the currency (`fifty
///   cents`), the digits after a decimal point (`twelve point five zero Swiss francs`). All digits of the currency are
///   spoken, so nothing is rounded.
///
/// If listeners would hear a currency's name as a part of the number before it, the name is said first, followed by a
/// pause: 오만 is Oman and 50,000, so 20 Omani rials are `오만 리알, 이십`.
///
/// Each word carries the white space and punctuation that follow it. Joined together, the words are the text for the
/// engine. Taken one by one, they are the tokens for a recorded voice.
struct AmountGrammar {
  let book: PhraseBook

  /// Returns the words in speaking order. Joined without a separator, they are the text to speak.
  ///
  /// - Throws: `.currencyUnspeakable` when the book has no units for the currency, and CLDR's name for the currency is
  ///   written in a script that the book's voice does not read.
  func words(_ money: Money) throws(AnnouncementError) -> [String] {
    let code = money.currency.code
    let own = book.content.currencies[code]
    if let own, !own.minor.isEmpty { return counted(money, own.major, own.minor) }
    // A shared minor unit does not name the currency, so it is said only after a major unit.
    let shared = money.majorPart > 0 && money.minorPart > 0 ? book.minorUnits[code] : nil
    // A number with digits after a point is not a whole number. Its plural category is “other” in all languages of the
    // phrase books.
    let isWhole = money.minorPart == 0 || shared != nil
    let category = isWhole ? book.plurals.category(of: money.majorPart) : .other
    var major: PhraseBook.Unit
    if let own {
      major = own.major
    } else {
      major = .init(names: PluralForms(try otherName(of: money.currency, category)))
      major.gender = book.numbers.gender(of: money.currency)
    }
    let name = major.names[category]
    let isNamedFirst = own == nil ? book.isHeardAsNumber(name) : book.currenciesSaidFirst.contains(code)
    guard !isNamedFirst, money.minorPart == 0 || shared != nil else {
      return sum(money, major, named: name, isNamedFirst: isNamedFirst)
    }
    return counted(money, major, [shared].compactMap(\.self))
  }

  /// Returns the words of a sum whose units are counted, from large to small.
  private func counted(_ money: Money, _ major: PhraseBook.Unit, _ minor: [PhraseBook.Unit]) -> [String] {
    var words: [String] = []
    if money.majorPart > 0 {
      words = separated(counted(money.majorPart, major, isLast: money.minorPart == 0))
    }
    var rest = money.minorPart
    var isFirst = true
    var unitAboveIsSaid = money.majorPart > 0
    for unit in minor {
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

  /// Returns the words for a number of payments, in the form that the book's summary uses. Joined, they are the text to
  /// speak.
  func count(_ number: Int) -> [String] {
    separated(book.content.summary.counting(Int64(number), by: book.numbers))
  }

  /// Returns a whole number in words, for free text.
  func cardinal(_ number: Int64) -> String { joined(book.numbers.words(number)) }

  /// Returns the words of a number as one text, with the language's separators.
  func joined(_ words: [NumberWord]) -> String { separated(words).joined() }

  /// Returns digits spoken one by one, for free text.
  func digits(_ digits: some Sequence<Int>) -> String { joined(digits.map { NumberWord(book.content.digits[$0]) }) }

  /// Returns the digits of a telephone, card or order number as words, one by one, for free text.
  func numberDigits(_ digits: some Sequence<Int>) -> String {
    let words = book.content.text?.numberDigits ?? book.content.digits
    return joined(digits.map { NumberWord(words[$0]) })
  }

  /// Appends the separator between two parts of a sum. White space and punctuation are added to the previous word. A
  /// separator that is a word, such as `and`, becomes an element of its own.
  private func append(_ separator: String, to words: inout [String]) {
    let opening = separator.prefix { !$0.isLetter }
    words[words.count - 1] += opening
    if opening.count < separator.count { words.append(String(separator.dropFirst(opening.count))) }
  }

  /// Returns the words of a count and its unit.
  ///
  /// - Parameters:
  ///   - isAlone: whether no other unit is spoken before this unit.
  ///   - isLast: whether no other unit is spoken after it.
  private func counted(
    _ count: Int64, _ unit: PhraseBook.Unit, isAlone: Bool = false, isLast: Bool = true
  ) -> [NumberWord] {
    let category = book.plurals.category(of: count)
    let names = (isAlone ? unit.alone : isLast ? nil : unit.beforeMinor) ?? unit.names
    if unit.uncounted?.contains(category.rawValue) == true { return [NumberWord(names[category])] }
    var words = book.numbers.words(counting: count, gender: unit.gender)
    if let last = words.last, let contracted = unit.contractions?[last.text] {
      words[words.count - 1] = NumberWord(contracted)
    }
    return Self.named(unit.before, words, names[category])
  }

  /// Returns a count with the names around it. Either name can be missing.
  private static func named(_ before: String?, _ count: [NumberWord], _ after: String) -> [NumberWord] {
    [before].compactMap(\.self).map { NumberWord($0) } + count + (after.isEmpty ? [] : [NumberWord(after)])
  }

  /// Returns the words of a sum whose minor units have no name.
  private func sum(
    _ money: Money, _ major: PhraseBook.Unit, named name: String, isNamedFirst: Bool
  ) -> [String] {
    guard isNamedFirst else {
      return separated(Self.named(major.before, decimalWords(money, gender: major.gender), name))
    }
    // No unit follows the number, so it is not counted: 二, and not 两.
    let number = money.minorPart == 0 ? book.numbers.words(money.majorPart) : decimalWords(money, gender: nil)
    return [name + (book.content.currencyFirstSeparator ?? ", ")] + separated(number)
  }

  private func decimalWords(_ money: Money, gender: String?) -> [NumberWord] {
    // A sum without a fraction is a count. With a fraction, a zero before the point is read as a digit. Korean has a
    // different word for each: 공 for zero in a count, 영 for zero as a digit.
    guard money.minorPart > 0 else {
      return book.numbers.words(counting: money.majorPart, gender: gender)
    }
    let digits = book.content.digits.map { NumberWord($0) }
    let major = money.majorPart == 0 ? [digits[0]] : beforePoint(book.numbers.words(money.majorPart))
    return major + [NumberWord(book.content.decimalPoint)] + money.minorPartDigits.map { digits[$0] }
  }

  /// Returns the words of a number in the form that stands before the decimal point, such as いってん.
  func beforePoint(_ number: [NumberWord]) -> [NumberWord] {
    guard let last = number.last, let contracted = book.content.pointContractions?[last.text] else { return number }
    return number.dropLast() + [NumberWord(contracted)]
  }

  /// Returns the plural name of a currency's units; nil if there is no name that the book's voice can read.
  func name(of currency: Currency, isMinor: Bool) -> String? {
    let units = book.content.currencies[currency.code]
    if isMinor { return (units?.minor.last ?? book.minorUnits[currency.code])?.names.other }
    // In 新台币十二元, the part before the number names the currency.
    return units.map { $0.major.before ?? $0.major.names.other } ?? (try? otherName(of: currency, .other))
  }

  /// Returns the name of a currency that has no units in the book: the book's own name, or else CLDR's.
  private func otherName(of currency: Currency, _ category: PluralCategory) throws(AnnouncementError) -> String {
    guard let names = book.content.currencyNames?[currency.code] else { return try nameFromCLDR(currency, category) }
    return names[category]
  }

  /// Returns CLDR's name for the currency, in the plural form that the sum requires.
  private func nameFromCLDR(_ currency: Currency, _ category: PluralCategory) throws(AnnouncementError) -> String {
    // CLDR chooses the form by the number that is formatted, so a number of this category is used. If no whole number
    // has the category, as in Russian, a fraction is used.
    let number = [2, 1, 5, 0, 1_000_000].first { book.plurals.category(of: $0) == category }
    let style = Decimal.FormatStyle.Currency(code: currency.code, locale: Locale(identifier: book.locale))
      .presentation(.fullName).precision(.fractionLength(number == nil ? 1 : 0))
    let name = Self.name(in: (number.map { Decimal($0) } ?? Decimal(15) / 10).formatted(style), of: currency)
    // CLDR returns the currency's code when it has no name, and a code cannot be spoken as a word.
    let isReadable =
      !name.isEmpty && name != currency.code
      && name.unicodeScalars.allSatisfy {
        !$0.properties.isAlphabetic || book.writingSystems.contains(WritingSystem.of($0) ?? "")
      }
    guard isReadable else {
      throw AnnouncementError(
        .currencyUnspeakable, "currency", "\(currency.code) has no name that the \(book.locale) voice can speak",
        remedy: "add \(currency.code) under currencyNames in \(book.locale).json")
    }
    return name
  }

  /// Returns the name in a formatted sum: the part that is neither a number nor a code nor a sign. In Turkish, CLDR
  /// puts the code or the sign before the number: `AED 2 BAE dirhemi`.
  private static func name(in sum: String, of currency: Currency) -> String {
    // Only decimal digits are removed. The character 百 is a number too, but it begins the name of the Bermudian dollar.
    // A joiner between letters changes only how they look.
    let letters = sum.unicodeScalars.filter {
      $0.properties.generalCategory != .decimalNumber && !(0x200C...0x200D).contains($0.value)
    }
    return String(String.UnicodeScalarView(letters)).split(whereSeparator: \.isWhitespace).filter { word in
      word != currency.code && word != "," && word != "." && word != "٫"
        && !word.unicodeScalars.contains { $0.properties.generalCategory == .currencySymbol }
    }.joined(separator: " ")
  }

  /// Returns the words, with the book's separator after each word except the last.
  private func separated(_ words: [NumberWord]) -> [String] {
    words.enumerated().map { index, word in
      word.isBound || index == words.count - 1 ? word.text : word.text + book.content.wordSeparator
    }
  }
}
