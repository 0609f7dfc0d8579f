// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Foundation
import TestSupport
import Testing

/// Checks the product's first rule for every amount that a shop may receive: the independent reader turns the words
/// back into the same sum. It also checks that no amount has a token outside the vocabulary, so that a recorded voice
/// is finite.
@Suite("Every amount reads back")
struct AmountChecks {
  /// The own currency of each locale, and others with a different form: minor units, a decimal point, or neither.
  static let pairs =
    forms.filter { Checkout.chosenLocales?.contains($0.0) ?? true }
    + ((try? Checkout.locales()) ?? []).filter { locale in !forms.contains { $0.0 == locale } }.compactMap { locale in
      (try? Checkout.phraseBooks().writer(for: locale).ownCurrency).map { (locale, $0.code) }
    }

  private static let forms = [
    ("zh-CN", "CNY"), ("zh-CN", "HKD"), ("en-US", "USD"), ("en-US", "CNY"), ("ja-JP", "JPY"), ("ja-JP", "USD"),
    ("ja-JP", "CNY"), ("ko-KR", "KRW"), ("ko-KR", "USD"), ("ko-KR", "CNY"), ("hi-IN", "INR"), ("hi-IN", "CHF"),
    ("es-MX", "MXN"), ("es-MX", "USD"), ("es-MX", "GBP"), ("es-MX", "HKD"),
  ]

  /// The distance of the amounts that are checked, in minor units. Checking all amounts takes 20 minutes of two
  /// processors, so only `make check-amounts` does it. `make check` takes every 31st amount, and so meets every digit
  /// in every place.
  private static let step = Int(ProcessInfo.processInfo.environment["CRIER_AMOUNT_STEP"] ?? "") ?? 31

  /// The number of random amounts for each locale and currency; `make check-amounts` takes 100,000.
  private static let randomAmounts = Int(ProcessInfo.processInfo.environment["CRIER_RANDOM_AMOUNTS"] ?? "") ?? 5_000

  @Test("all checked amounts from 0.01 to 9,999.99 are read back as the same amount", arguments: pairs)
  func everyStep(locale: String, code: String) async throws {
    // The tests of this target run one after the other, so each processor takes a part of the amounts.
    let parts = ProcessInfo.processInfo.activeProcessorCount
    try await withThrowingTaskGroup(of: (wrong: Int, unlisted: Set<String>).self) { group in
      for part in 1...parts {
        group.addTask {
          var check = try Check(locale, code)
          // A currency without minor units is counted through the same numbers.
          var wrong = 0
          for minorUnits in stride(from: 1 + (part - 1) * Self.step, through: 999_999, by: Self.step * parts)
          where try !check.readsBack(Int64(minorUnits)) { wrong += 1 }
          return (wrong, check.unlisted)
        }
      }
      for try await result in group {
        #expect(result.wrong == 0)
        #expect(result.unlisted.isEmpty)
      }
    }
  }

  @Test("random amounts up to 10^12 are read back as the same amount", arguments: pairs)
  func random(locale: String, code: String) throws {
    var check = try Check(locale, code)
    var random = SplitMix64(seed: 20_261_120)
    var wrong = 0
    for _ in 0..<Self.randomAmounts {
      // Every length of number is equally likely.
      let highest = (0..<Int.random(in: 1...12, using: &random)).reduce(Int64(1)) { power, _ in power * 10 }
      let major = Int64.random(in: 0...highest, using: &random)
      let minor = Int64.random(in: 0..<check.currency.minorUnitsPerMajor, using: &random)
      let minorUnits = max(1, major * check.currency.minorUnitsPerMajor + minor)
      if try !check.readsBack(minorUnits) { wrong += 1 }
    }
    #expect(wrong == 0)
    #expect(check.unlisted.isEmpty)
  }

  private struct Check {
    let writer: ScriptWriter
    let reader: AmountReader
    let currency: Currency

    /// The vocabulary's tokens.
    private let listed: Set<String>
    private(set) var unlisted: Set<String> = []

    init(_ locale: String, _ code: String) throws {
      writer = try Checkout.phraseBooks().writer(for: locale)
      reader = try AmountReaders.ofCheckout.reader(for: locale)
      currency = try Currency(code: code).orThrow(code)
      listed = Set(try writer.vocabulary(currencies: [currency]).words.map(\.token))
    }

    mutating func readsBack(_ minorUnits: Int64) throws -> Bool {
      let amount = try Money(minorUnits: minorUnits, currency: currency)
      let script = try writer.script(for: .payment(Payment(amount: amount)), shortenings: [.amountOnly])
      for token in script.tokens where !listed.contains(token.name) { unlisted.insert(token.name) }
      let read = try? reader.minorUnits(
        in: script.amountText, currency: currency.code, minorDigits: currency.minorDigits)
      return read == minorUnits
    }
  }
}
