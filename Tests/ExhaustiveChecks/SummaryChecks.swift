// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import TestSupport
import Testing

/// Checks that a summary is correct for every possible number of waiting payments.
@Suite("Every count of payments")
struct SummaryChecks {
  @Test(
    "every count up to 9,999 payments is read back, has no digit, and has only tokens of the vocabulary",
    arguments: ["zh-CN", "en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR"])
  func counts(locale: String) throws {
    let writer = try Checkout.phraseBooks().writer(for: locale)
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    let currency = try writer.ownCurrency.orThrow("a currency")
    let listed = Set(try writer.vocabulary().words.map(\.token))
    var wrong: [Int] = []
    var unlisted: Set<String> = []
    for count in 1...9_999 {
      // The sum differs from the count, so that the two cannot be confused.
      let amount = try Money(minorUnits: Int64(count) * 1_234 + 7, currency: currency)
      let summary = try PaymentSummary(totals: [PaymentSummary.Total(count: count, amount: amount)])
      let script = try writer.script(for: .summary(summary))
      let total = try script.totals.first.orThrow("a total")
      let sum = try? reader.minorUnits(
        in: total.amount, currency: currency.code, minorDigits: currency.minorDigits)
      let hasDigit = script.text.unicodeScalars.contains { $0.properties.generalCategory == .decimalNumber }
      if (try? reader.count(in: total.count)) != Int64(count) || sum != amount.minorUnits || hasDigit {
        wrong.append(count)
      }
      for token in script.tokens where !listed.contains(token.name) { unlisted.insert(token.name) }
    }
    #expect(wrong.isEmpty && unlisted.isEmpty, "\(wrong.prefix(9)) \(unlisted)")
  }
}
