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

  @Test("the engine understands the whole number vocabulary in every locale", arguments: codes.keys.sorted())
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

  @Test("the engine understands every sentence, channel and currency of every phrase book")
  func phraseBooks() async throws {
    let announcer = try Checkout.announcer()
    for locale in announcer.phraseBooks.locales {
      let book = try Book(locale)
      var announcements: [Announcement] = []
      for code in book.currencies.keys {
        let currency = try Currency(code: code).orThrow(code)
        for minorUnits in [1, currency.minorUnitsPerMajor * 2 + 5 % currency.minorUnitsPerMajor] {
          let amount = try Money(minorUnits: minorUnits, currency: currency)
          announcements.append(.payment(Payment(amount: amount, locale: locale)))
        }
      }
      let amount = try Money(minorUnits: 500, currency: try Currency(code: "USD").orThrow("USD"))
      for channel in book.channels.keys {
        for kind in Payment.Kind.allCases {
          announcements.append(.payment(Payment(amount: amount, kind: kind, channel: channel, locale: locale)))
        }
      }
      for symbol in book.symbols.keys { announcements.append(.text("\(symbol) 7 3.5", locale: locale)) }
      try await check(announcements, by: announcer)
    }
  }

  @Test("the engine understands every sample announcement")
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

  private func check(_ announcements: [Announcement], by announcer: Announcer) async throws {
    for announcement in announcements {
      let script = try announcer.script(for: announcement)
      for (run, trace) in zip(script.runs, try await announcer.phonemes(of: script)) {
        #expect(!trace.contains("("), "\(run.language): \(run.text): \(trace)")
        #expect(!trace.isEmpty)
      }
    }
  }

  /// The parts of a phrase book's file that this test examines.
  private struct Book: Decodable {
    var channels: [String: Ignored]
    var currencies: [String: Ignored]
    var symbols: [String: String]

    /// A value of any shape.
    struct Ignored: Decodable {
      init(from decoder: any Decoder) {}
    }

    init(_ locale: String) throws {
      let file = Checkout.installation.templates.appending(path: "\(locale).json")
      self = try JSONDecoder().decode(Book.self, from: try Data(contentsOf: file))
    }
  }
}
