// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SpeechEngine
import TestSupport
import Testing

/// Checks the product's first rule in phonemes: no two amounts sound alike, and no amount sounds like a bare number.
@Suite("The sound of amounts")
struct SpokenAmountChecks {
  /// An amount, or a bare number, as it is spoken.
  private struct Said: Hashable {
    var meaning: String
    var spelling: String
    /// Whether the voice must say every word in its own language: true for bare numbers, and for the currencies of the
    /// book.
    var mustBeUnderstood = true
  }

  /// The first locales, and all others or a share of them.
  private static let locales =
    Checkout.chosenLocales
    ?? Set(["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"]).union((try? Checkout.locales()) ?? []).sorted()

  /// The locales that have a voice of the engine.
  private static let spokenLocales = locales.filter { (try? Checkout.phraseBooks().book(for: $0))?.voice != nil }

  @Test(
    "no two amounts in ISO 4217 currencies have the same phonemes, or in a language without a voice the same words",
    arguments: locales)
  func noTwoSoundAlike(locale: String) async throws {
    let announcer = try Checkout.announcer()
    let said = try Self.said(locale, announcer.phraseBooks)
    let collisions = try await Self.collisions(said, locale, announcer)
    let currencies = Set(said.compactMap { $0.meaning.split(separator: " ").dropFirst().first })
    print(
      "\(locale): \(said.count) amounts and numbers in \(currencies.count) currencies, "
        + "\(collisions.count) pairs that sound alike")
    #expect(currencies.count > 130 / Self.step)
    #expect(collisions == [])
  }

  @Test("a phrase book that says the Omani rial after the number is refused, because the name begins like a number")
  func brokenName() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.copyItem(at: Checkout.installation.templates, to: folder)
    let file = folder.appending(path: "ko-KR.json")
    let book = try String(contentsOf: file, encoding: .utf8)
    // The unit is counted, because it has a minor unit.
    let bad = book.replacing(
      #""currencies": {"#,
      with: #""currencies": { "OMR": { "major": { "other": "오만 리알" }, "minor": [{ "other": "바이자", "value": 1 }] },"#)
    try #require(bad != book)
    try Data(bad.utf8).write(to: file)
    let error = #expect(throws: AnnouncementError.self) { try PhraseBooks(directory: folder).writer(for: "ko-KR") }
    #expect(error?.description.contains("currencies.OMR has a unit, 오만 리알") == true)
  }

  @Test("the check finds a table of respellings that makes the word 'won' sound like the word 'one'")
  func brokenTable() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.copyItem(at: Checkout.installation.templates, to: folder)
    let file = folder.appending(path: "pronunciation/en-us.json")
    let table = try String(contentsOf: file, encoding: .utf8)
    #expect(table.contains(#""won": "wahn""#))
    try Data(table.replacing(#""won": "wahn""#, with: #""won": "one""#).utf8).write(to: file)
    let announcer = Announcer(
      phraseBooks: try PhraseBooks(directory: folder), readers: .ofCheckout, engine: Checkout.engine())
    // The test covers bare numbers, and the won.
    let said = try Self.said("en-US", announcer.phraseBooks)
      .filter { !$0.meaning.contains(" ") || $0.meaning.hasSuffix("KRW") }
    let collisions = try await Self.collisions(said, "en-US", announcer)
    #expect(collisions.contains("20 KRW and 21"))
  }

  /// The largest of the numbers without a gap. `make check-amounts` takes 1,000.
  private static let numbers = ProcessInfo.processInfo.environment["CRIER_SPOKEN_NUMBERS"].flatMap(Int64.init) ?? 200

  /// Of the currencies that no book has, every one is spoken, or every nth, to save time.
  private static let step =
    ProcessInfo.processInfo.environment["CRIER_CURRENCY_STEP"].flatMap(Int.init).map { max(1, $0) } ?? 1

  /// Returns the words of numbers up to ``numbers``, of every power of ten with every digit, with and without a one, and of
  /// random numbers. Each is in every currency of the book. Every number of minor units occurs alone, and some after
  /// major units. The bare numbers are also included. In all other currencies of ISO 4217, only numbers with every word
  /// for a number are included, with and without a fraction.
  private static func said(_ locale: String, _ books: PhraseBooks) throws -> [Said] {
    let writer = try books.writer(for: locale)
    var random = SplitMix64(seed: 20_261_121)
    var numbers = Array(Int64(1)...max(100, Self.numbers))
    var power: Int64 = 100
    while power <= 100_000_000_000 {
      for digit in Int64(1)...9 { numbers += [digit * power, digit * power + 1, digit * power + power / 10] }
      numbers.append(Int64.random(in: power..<power * 10, using: &random))
      power *= 10
    }
    var said: [Said] = []
    // Without a voice, a text of a number alone cannot be spoken.
    for number in Set(numbers).sorted() where number < 10_000 && writer.book.voice != nil {
      let script = try writer.script(for: .text(String(number), locale: nil))
      said.append(Said(meaning: "\(number)", spelling: script.runs.map(\.spelling).joined()))
    }
    let others = Locale.commonISOCurrencyCodes.compactMap(Currency.init(code:))
      .filter { !writer.bookCurrencies.contains($0) }.enumerated().filter { $0.offset.isMultiple(of: step) }
      .map { $0.element }
    let many: [Int64] =
      Array(1...21) + [30, 40, 50, 60, 70, 80, 90, 99, 100, 101, 200, 300, 400, 500, 600, 700, 800, 900, 1_000, 2_000]
      + [10_000, 20_000, 50_000, 100_000, 200_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]
    for currency in others {
      let scale = currency.minorUnitsPerMajor
      var amounts = many.map { $0 * scale }
      if scale > 1 { amounts += many.prefix(21).flatMap { [$0, $0 * scale + scale / 2] } }
      for minorUnits in Set(amounts).sorted() {
        let amount = try Money(minorUnits: minorUnits, currency: currency)
        let payment = Announcement.payment(Payment(amount: amount))
        guard let script = try? writer.script(for: payment, shortenings: [.amountOnly]) else { continue }
        said.append(
          Said(
            meaning: "\(amount.decimalText) \(currency.code)", spelling: script.runs.map(\.spelling).joined(),
            mustBeUnderstood: false))
      }
    }
    for currency in writer.bookCurrencies {
      let scale = currency.minorUnitsPerMajor
      var amounts = numbers.map { $0 * scale }
      if scale > 1 {
        for minor in 1..<scale { amounts += [minor, scale + minor] }
        for minor in [1, 10, scale / 2, scale - 1] { amounts += numbers.prefix(100).map { $0 * scale + minor } }
      }
      for minorUnits in Set(amounts).sorted() {
        let amount = try Money(minorUnits: minorUnits, currency: currency)
        let script = try writer.script(for: .payment(Payment(amount: amount)), shortenings: [.amountOnly])
        said.append(
          Said(meaning: "\(amount.decimalText) \(currency.code)", spelling: script.runs.map(\.spelling).joined()))
      }
    }
    return said
  }

  /// Returns the pairs with the same phonemes, except for stress and pauses. Without a voice, it compares the words,
  /// except for their spaces and commas.
  private static func collisions(_ said: [Said], _ locale: String, _ announcer: Announcer) async throws -> [String] {
    let book = try announcer.phraseBooks.book(for: locale)
    let engine = Checkout.engine()
    var meanings: [String: String] = [:]
    var collisions: [String] = []
    guard let voice = book.voice else {
      for said in said {
        let words = said.spelling.filter { !$0.isWhitespace && !",，、".contains($0) }
        if let other = meanings.updateValue(said.meaning, forKey: words), other != said.meaning {
          collisions.append([other, said.meaning].sorted().joined(separator: " and "))
        }
      }
      return collisions
    }
    try await concurrently(said.chunks(of: 20), limit: 2) { chunk in
      // The engine ends a paragraph at a new line, so one request can contain many texts. It also begins a line after
      // a comma. Pauses do not count here, so a space stands for it.
      let texts = chunk.map { $0.spelling.replacing(#/[,，、] ?/#, with: " ") + "." }
      let text = texts.joined(separator: "\n\n")
      var lines = try await engine.phonemes(Utterance(voice: voice, rate: book.rate, text: text))
        .split(separator: "\n").map(String.init)
      if lines.count != chunk.count {
        // The engine divides a long amount into several lines.
        lines = []
        for text in texts {
          let alone = Utterance(voice: voice, rate: book.rate, text: text)
          lines.append(try await engine.phonemes(alone).replacing("\n", with: " "))
        }
      }
      return zip(chunk, lines).map { ($0, $1) }
    } each: { pairs in
      for (said, line) in pairs {
        // The voice spells what it does not understand in another language. The name of a currency that is not in the book
        // comes from CLDR, and the voice may say a foreign name so.
        if line.contains("("), said.mustBeUnderstood { collisions.append("\(said.meaning) is not understood: \(line)") }
        let heard = String(line.filter { !" ',%|_:".contains($0) })
        if let other = meanings[heard], other != said.meaning {
          collisions.append([other, said.meaning].sorted().joined(separator: " and "))
        }
        meanings[heard] = said.meaning
      }
    }
    return collisions
  }

  @Test("every word of every phrase book has its reviewed phonemes", arguments: spokenLocales)
  func reviewedPhonemes(locale: String) async throws {
    let announcer = try Checkout.announcer()
    let writer = try announcer.phraseBooks.writer(for: locale)
    let book = writer.book
    let voice = try #require(book.voice)
    let words = Set(try writer.vocabulary(currencies: writer.bookCurrencies).words.map(\.text)).sorted()
    let engine = Checkout.engine()
    var lines = ["# word\tas the engine is given it\tphonemes of \(voice)"]
    for word in words {
      let run = writer.respelled(
        Script.Run(language: book.locale, voice: voice, segments: [Script.Segment(word, .phrase)]))
      let phonemes = try await engine.phonemes(Utterance(voice: voice, rate: book.rate, text: run.spelling))
      lines.append("\(word)\t\(run.spelling)\t\(phonemes.split(whereSeparator: \.isWhitespace).joined(separator: " "))")
    }
    try Recorded.expect(lines, in: "Tests/Fixtures/phonemes/\(locale).tsv")
  }
}

extension Array {
  /// Returns the array in parts of at most `size` elements.
  func chunks(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
