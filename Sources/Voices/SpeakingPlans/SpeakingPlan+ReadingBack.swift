// SPDX-License-Identifier: Apache-2.0

import AmountReadback
package import Announcements

/// The words that will be heard do not mean what they should.
package struct ReadbackMismatch: Error, Sendable, Hashable {
  /// What was read back: `amount`, `count` or `summary`.
  package var subject: String
  /// Whether the words could be read. If so, they mean something else.
  package var isRead: Bool
}

extension SpeakingPlan {
  /// Checks that the words of the amount mean the amount paid, using a parser that is independent of the writer. It
  /// checks the words that will be heard. For recorded clips these are the words in the pack's manifest.
  ///
  /// - Parameter locale: the locale of the words (BCP 47).
  package func readBack(_ amount: Money, _ locale: String) throws(ReadbackMismatch) {
    let read = Self.read(amountText, as: amount, locale)
    guard read == amount.minorUnits else { throw ReadbackMismatch(subject: "amount", isRead: read != nil) }
  }

  /// Checks each count and each sum of a summary, as for a single amount.
  package func readBack(_ summary: PaymentSummary, _ locale: String) throws(ReadbackMismatch) {
    let heard = totals
    guard heard.count == summary.totals.count else { throw ReadbackMismatch(subject: "summary", isRead: false) }
    for (heard, total) in zip(heard, summary.totals) {
      let sum = Self.read(heard.amount, as: total.amount, locale)
      guard sum == total.amount.minorUnits else { throw ReadbackMismatch(subject: "amount", isRead: sum != nil) }
      let count = try? AmountReader(locale: locale).count(in: heard.count)
      guard count == Int64(total.count) else { throw ReadbackMismatch(subject: "count", isRead: count != nil) }
    }
  }

  private static func read(_ words: String, as amount: Money, _ locale: String) -> Int64? {
    try? AmountReader(locale: locale)
      .minorUnits(in: words, currency: amount.currency.code, minorDigits: amount.currency.minorDigits)
  }
}
