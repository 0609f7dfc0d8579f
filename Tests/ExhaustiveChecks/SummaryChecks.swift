// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import TestSupport
import Testing

/// What is said of a backlog is what came, for every number of payments that may wait.
@Suite("Every count of payments")
struct SummaryChecks {
  @Test(
    "up to 9,999 payments are read back, with no digit and no token that is not listed",
    arguments: ["zh-CN", "en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR"])
  func counts(locale: String) throws {
    let writer = try Checkout.phraseBooks().writer(for: locale)
    let reader = try AmountReader(locale: locale)
    let currency = try writer.ownCurrency.orThrow("a currency")
    let listed = Set(try writer.vocabulary().words.map(\.token))
    var wrong: [Int] = []
    var unlisted: Set<String> = []
    for count in 1...9_999 {
      // A sum that differs from the count, so that the two cannot be taken for each other.
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
