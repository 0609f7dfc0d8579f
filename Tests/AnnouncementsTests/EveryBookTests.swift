// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Foundation
import TestSupport
import Testing

@testable import Announcements

/// The rules that every phrase book must follow, whatever its language. A new book needs no test of its own.
@Suite("Every phrase book")
struct EveryBookTests {
  static let locales = (try? Books.all().locales) ?? []

  /// The distance of the amounts that are read back; with 1, all amounts from 0.01 to 999.99 are read back, and 20
  /// times as many random amounts. `make check-amounts` sets it.
  private static let step = Int(ProcessInfo.processInfo.environment["CRIER_BOOK_STEP"] ?? "") ?? 97

  /// Prints a count of `make check-amounts`.
  private static func say(_ line: String) {
    if step == 1 { print(line) }
  }

  private struct Reading {
    var grammar: AmountGrammar
    var reader: AmountReader

    init(_ book: PhraseBook) throws {
      grammar = AmountGrammar(book: book)
      reader = try AmountReaders.ofCheckout.reader(for: book.locale)
    }

    func words(_ minorUnits: Int64, _ currency: Currency) throws -> [String] {
      try grammar.words(Money(minorUnits: minorUnits, currency: currency))
    }

    func read(_ words: some Sequence<String>, _ currency: Currency) -> Int64? {
      try? reader.minorUnits(
        in: words.joined(), currency: currency.code, minorDigits: currency.minorDigits)
    }
  }

  /// Amounts from 1 to 99,999 minor units, round amounts, and random ones below 10^13 major units.
  private static func amounts(_ currency: Currency) -> [Int64] {
    let largest = Money.largestMajorUnits * currency.minorUnitsPerMajor
    var random = SplitMix64(seed: 20_261_129)
    let small = stride(from: Int64(1), through: 99_999, by: step)
    let round = (0..<13).flatMap { exponent in
      (1...9).flatMap { digit -> [Int64] in
        let value = (0..<exponent).reduce(Int64(digit)) { value, _ in value * 10 } * currency.minorUnitsPerMajor
        return [value, value + currency.minorUnitsPerMajor, value + 1]
      }
    }
    return small + round.filter { $0 <= largest }
      + (0..<20_000 / step).map { _ in Int64.random(in: 1...largest, using: &random) }
  }

  @Test(
    "the words of an amount are read back as the amount that was paid, in each currency of the phrase book",
    arguments: locales)
  func ownCurrencies(locale: String) throws {
    let book = try Books.all().book(for: locale)
    let reading = try Reading(book)
    var count = 0
    for code in book.content.currencies.keys.sorted() {
      let currency = try #require(Currency(code: code))
      for amount in Self.amounts(currency) {
        count += 1
        let words = try reading.words(amount, currency)
        let read = reading.read(words, currency)
        #expect(read == amount, "\(code) \(amount): \(words.joined())")
      }
    }
    Self.say("\(locale): \(count) amounts in \(book.content.currencies.count) currencies of the book")
  }

  @Test("an amount in any other currency is read back, or the currency cannot be spoken", arguments: locales)
  func otherCurrencies(locale: String) throws {
    let book = try Books.all().book(for: locale)
    let reading = try Reading(book)
    var random = SplitMix64(seed: 11)
    var (count, currencies) = (0, 0)
    for code in Locale.commonISOCurrencyCodes where book.content.currencies[code] == nil {
      guard let currency = Currency(code: code) else { continue }
      let largest = Money.largestMajorUnits * currency.minorUnitsPerMajor
      let samples =
        [1, 2, 5, 11, 21, 100, 1_000_000].map { $0 * currency.minorUnitsPerMajor } + [
          1, 5, 10, 50, 99, 101, 1_050, 12_345,
        ]
      for amount in samples + (0..<2_000 / Self.step).map({ _ in Int64.random(in: 1...largest, using: &random) }) {
        count += 1
        let words = try reading.words(amount, currency)
        #expect(reading.read(words, currency) == amount, "\(code) \(amount): \(words.joined())")
      }
      currencies += 1
    }
    Self.say("\(locale): \(count) amounts in \(currencies) other currencies")
  }

  @Test("the phrase books of the project are found")
  func found() {
    // Without books, no test of this suite would run.
    #expect(Self.locales.count >= 36)
  }

  @Test("a phrase book has the decimal separator of its country", arguments: locales)
  func decimalSeparator(locale: String) throws {
    let book = try Books.all().book(for: locale)
    #expect(String(book.decimalSeparator) == Locale(identifier: locale).decimalSeparator)
  }

  @Test("a sum in a text, written as usual in the country, is spoken as the intended sum", arguments: locales)
  func writtenSums(locale: String) throws {
    let writer = try Books.withVoices().writer(for: locale)
    let reading = try Reading(writer.book)
    let currency = try #require(Locale(identifier: locale).currency.flatMap { Currency(code: $0.identifier) })
    for amount in Self.amounts(currency).filter({ $0 < 1_000_000_000 }) {
      let text = try Money(minorUnits: amount, currency: currency).written(in: locale)
      let (script, remarks) = try writer.writing(of: .text(text, locale: nil))
      // A long sum contains a pause, so that the engine speaks all of it.
      let words = script.text.replacing(",", with: "")
      let read = reading.read([words], currency)
      #expect(read == amount && remarks.warnings.isEmpty, "\(text): \(words) \(remarks.warnings)")
    }
  }

  /// Words that people may leave out, so that a reader accepts an amount with and without them.
  private static let optional: [String: Set<String>] = [
    "en": ["and"], "de": ["ein"], "ko": ["일", "일만"], "pt": ["e"], "zh": ["零"], "fr": ["et"],
  ]

  /// Changes of a rule that give another spelling of the same number, which the readers accept on purpose.
  private static func plain(_ text: String, _ language: Substring) -> String {
    switch language {
    case "en": text.replacing(" and ", with: " ")
    case "pt": text.replacing(" e ", with: " ")
    case "ko":
      text.replacing("일십", with: "십").replacing("일백", with: "백").replacing("일천", with: "천").replacing("일만", with: "만")
    default: text
    }
  }

  @Test("an amount with words left out, doubled or exchanged is never read as the same amount", arguments: locales)
  func damage(locale: String) throws {
    let book = try Books.all().book(for: locale)
    let reading = try Reading(book)
    let code = try #require(book.content.currencies.keys.min())
    let currency = try #require(Currency(code: code))
    let language = String(book.language)
    var random = SplitMix64(seed: 5)
    for _ in 0..<20_000 / Self.step {
      let amount = Int64.random(in: 1...99_999_999, using: &random)
      let words = try reading.words(amount, currency)
      // A zero at the end of a fraction changes no amount.
      let isExact = words.contains { $0.trimmed == book.content.decimalPoint }
      for index in words.indices {
        let word = words[index].trimmed
        let isJoining =
          word == book.content.majorMinorSeparator.trimmed || Self.optional[language]?.contains(word) == true
        var without = words
        without.remove(at: index)
        if !isJoining, !isExact || word != book.content.digits[0] {
          #expect(reading.read(without, currency) != amount, "\(words.joined()) without \(word)")
        }
        var doubled = words
        doubled.insert(words[index], at: index)
        if !isExact || word != book.content.digits[0] {
          #expect(reading.read(doubled, currency) != amount, "\(words.joined()) with \(word) twice")
        }
      }
    }
  }

  @Test("a count of payments in words is read back as the same count", arguments: locales)
  func counts(locale: String) throws {
    let book = try Books.all().book(for: locale)
    let reading = try Reading(book)
    for count in Array(1...1_100) + [9_999, 10_000, 21_001, 100_000, 1_000_000, 2_345_678, 9_999_999] {
      let words = reading.grammar.count(count)
      #expect((try? reading.reader.count(in: words.joined())) == Int64(count), "\(words.joined())")
    }
  }

  @Test("the reader notices a change of any rule for numbers in a phrase book", arguments: locales)
  func mutants(locale: String) throws {
    let book = try Books.all().book(for: locale)
    guard case .rules(let lines, let counts) = book.content.numbers else { return }
    let statements = lines.joined(separator: " ").split(separator: ";").map { $0.drop { $0 == " " } }.filter {
      !$0.isEmpty
    }
    let reading = try Reading(book)
    let currencies = try book.content.currencies.keys.sorted().map { try #require(Currency(code: $0)) }
    var numbers = Array(Int64(0)...130)
    numbers += stride(from: Int64(131), through: 1_300, by: max(1, Self.step / 7))
    var power: Int64 = 1_000
    for _ in 3..<13 {
      for digits: Int64 in [1, 2, 3, 5, 21, 22, 25, 101] where digits * power <= Money.largestMajorUnits {
        numbers += [digits * power, digits * power + 1, digits * power + 123]
      }
      power *= 10
    }
    for (index, statement) in statements.enumerated() {
      // The text of one rule becomes that of the next one.
      var changed = statements
      changed[index] = statement.withText(of: statements[(index + 1) % statements.count])
      guard let rules = try? NumberRules([changed.map { $0 + ";" }.joined(separator: "\n")], plurals: book.plurals),
        case .rules(let original, let countRules) = book.numbers
      else { continue }
      for gender in [nil] + (counts.genders ?? [:]).keys.sorted().map(Optional.some) {
        let set = countRules.set(gender)
        for number in numbers {
          let text = reading.grammar.joined(rules.words(number, set: set))
          let right = reading.grammar.joined(original.words(number, set: set))
          guard Self.plain(text, book.language) != Self.plain(right, book.language), !text.isEmpty else { continue }
          // In whatever currency it is said, the changed number is not read as the original one.
          for currency in currencies {
            let unit = try #require(book.content.currencies[currency.code]).major
            guard unit.gender == gender else { continue }
            let name = unit.names[book.plurals.category(of: number)]
            let said = [unit.before, text, name].compactMap(\.self).filter { !$0.isEmpty }
              .joined(separator: book.content.wordSeparator)
            let read = reading.read([said], currency)
            #expect(read != number * currency.minorUnitsPerMajor, "\(statement) → \(changed[index]): \(said)")
          }
        }
      }
    }
  }

  @Test("if a name contains a sum in the phrase book's words, the sum is not spoken", arguments: locales)
  func sumsInNames(locale: String) throws {
    let writer = try Books.all().writer(for: locale)
    let reading = try Reading(writer.book)
    let currencies = try writer.book.content.currencies.keys.sorted().map { try #require(Currency(code: $0)) }
    var random = SplitMix64(seed: 3)
    var amounts: [Int64] = []
    for index in 0..<Int64(2_000 / Self.step) {
      amounts.append(index % 2 == 0 ? index * 7 + 1 : Int64.random(in: 1...900_000_000, using: &random))
    }
    // Each digit of each power may have a word of its own, and a short number behind it: さんぜんにえん.
    var power: Int64 = 1_000
    while power <= 100_000_000 {
      for digit in Int64(1)...9 {
        amounts.append((digit * power + 2) * currencies[amounts.count % currencies.count].minorUnitsPerMajor)
      }
      power *= 10
    }
    for (index, amount) in amounts.enumerated() {
      let currency = currencies[index % currencies.count]
      let name = (index % 4 < 2 ? "Anna " : "Anna. ") + (try reading.words(amount, currency).joined())
      let payment = Payment(
        amount: try Money(minorUnits: 500, currency: currency), payer: name, locale: locale)
      let warnings = try writer.writing(of: .payment(payment)).remarks.warnings
      #expect(warnings.contains { $0.hasPrefix("payer: a sum of money is not spoken") }, "\(name)")
    }
  }

  @Test("the source of a reader's words is not CLDR, from which the phrase book's rules come", arguments: locales)
  func sources(locale: String) throws {
    let folder = Books.directory.deletingLastPathComponent().appending(path: "Readers")
    let language = String(locale.prefix { $0 != "-" })
    let file = folder.appending(path: "\(language).json")
    guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return }
    let reader = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
    let source = try #require(reader?["source"] as? String)
    #expect(!source.contains("CLDR"))
  }
}

extension Substring {
  /// Returns the rule with the text of another rule: what follows the last colon.
  fileprivate func withText(of other: Substring) -> Substring {
    func text(_ rule: Substring) -> Substring.Index {
      rule.lastIndex(of: ":").map { rule.index(after: $0) } ?? rule.startIndex
    }
    return self[..<text(self)] + other[text(other)...]
  }
}
