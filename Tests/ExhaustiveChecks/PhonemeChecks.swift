// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SpeechEngine
import TestSupport
import Testing

/// If a trace shows `(en)` or a change to another language in a run of its own language, the engine did not understand
/// the text (measured: `cmn` reads 付 as English "fu four").
@Suite("The engine understands every word that it receives")
struct PhonemeChecks {
  private static let codes = [
    "zh-CN": "CNY", "en-US": "USD", "ja-JP": "JPY", "ko-KR": "KRW", "hi-IN": "INR", "es-MX": "MXN",
  ]

  @Test("the engine can speak the whole number vocabulary in every locale", arguments: codes.keys.sorted())
  func numbers(locale: String) async throws {
    let announcer = try Checkout.announcer()
    let code = Self.codes[locale] ?? ""
    let currency = try Currency(code: code).orThrow(code)
    // The test covers every number up to 1,000, and each power of ten with every digit, with each number of minor
    // units.
    var numbers = Array(Int64(1)...1_000)
    var power: Int64 = 1_000
    while power <= Money.largestMajorUnits {
      for digit: Int64 in 1...9 where digit * power <= Money.largestMajorUnits { numbers.append(digit * power) }
      power *= 10
    }
    try await check(
      numbers.enumerated().map { index, number in
        let minor = Int64(index) % currency.minorUnitsPerMajor
        return .payment(
          Payment(
            amount: try Money(minorUnits: number * currency.minorUnitsPerMajor + minor, currency: currency),
            locale: locale))
      }, by: announcer)
  }

  @Test("the engine can speak every sentence, channel and currency of every phrase book")
  func phraseBooks() async throws {
    let announcer = try Checkout.announcer()
    for locale in try Checkout.locales() where try Checkout.phraseBooks().book(for: locale).voice != nil {
      let book = try Book(locale)
      var announcements: [Announcement] = []
      for code in book.currencies.sorted() {
        let currency = try Currency(code: code).orThrow(code)
        for minorUnits in [1, currency.minorUnitsPerMajor * 2 + 5 % currency.minorUnitsPerMajor] {
          let amount = try Money(minorUnits: minorUnits, currency: currency)
          announcements.append(.payment(Payment(amount: amount, locale: locale)))
        }
      }
      let amount = try Money(minorUnits: 500, currency: try Currency(code: "USD").orThrow("USD"))
      var channels: [Announcement] = []
      for channel in book.channels.sorted() {
        for kind in Payment.Kind.allCases {
          channels.append(.payment(Payment(amount: amount, kind: kind, channel: channel, locale: locale)))
        }
      }
      // Some voices say names of companies in English, because their dictionaries know the words: Apple Pay.
      try await check(channels, by: announcer, allowsEnglish: Self.codes[locale] == nil)
      for symbol in book.symbols.sorted() { announcements.append(.text("\(symbol) 7 3.5", locale: locale)) }
      try await check(announcements, by: announcer)
    }
  }

  @Test("the engine can speak every sample announcement")
  func everySample() async throws {
    let samples = try Self.samples()
    #expect(samples.count >= 8)
    try await check(samples, by: try Checkout.announcer())
  }

  private static func samples() throws -> [Announcement] {
    let folder = Checkout.installation.data.appending(path: "Samples")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.map { try PayloadDecoder.decode(try Data(contentsOf: $0)) }
  }

  private func check(
    _ announcements: [Announcement], by announcer: Announcer, allowsEnglish: Bool = false
  ) async throws {
    for announcement in announcements {
      let script = try announcer.script(for: announcement)
      for (run, trace) in zip(script.runs, try await announcer.phonemes(of: script)) {
        let isUnderstood = !trace.contains("(") || allowsEnglish && trace.contains("(en)")
        #expect(isUnderstood, "\(run.language): \(run.text): \(trace)")
        #expect(!trace.isEmpty)
      }
    }
  }

  /// The keys of a phrase book, and of the books that it extends.
  private struct Book {
    var channels: Set<String>
    var currencies: Set<String>
    var symbols: Set<String>

    init(_ locale: String) throws {
      let file = Checkout.installation.templates.appending(path: "\(locale).json")
      let object = try JSONSerialization.jsonObject(with: try Data(contentsOf: file)) as? [String: Any] ?? [:]
      let base = try (object["extends"] as? String).map(Book.init)
      func keys(_ name: String, _ base: Set<String>?) -> Set<String> {
        let own = object[name] as? [String: Any] ?? [:]
        return (base ?? []).union(own.keys).subtracting(own.filter { $0.value is NSNull }.keys)
      }
      channels = keys("channels", base?.channels)
      currencies = keys("currencies", base?.currencies)
      symbols = keys("symbols", base?.symbols)
    }
  }
}
