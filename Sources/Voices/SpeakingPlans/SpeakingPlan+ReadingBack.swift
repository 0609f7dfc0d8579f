// SPDX-License-Identifier: Apache-2.0

package import AmountReadback
package import Announcements

/// The error for words that do not have the meaning that listeners should hear.
package struct ReadbackMismatch: Error, Sendable, Hashable {
  /// The part that was read back: `amount`, `count` or `summary`.
  package var subject: String
  /// Whether a reader could read the words. If so, the words mean something else.
  package var isRead: Bool
  /// The reason why no reader could read the words of the language; `nil` if one could.
  package var missingReader: AmountReadbackError?
}

extension SpeakingPlan {
  /// Checks that the words of the amount mean the amount paid, using a parser that is independent of the writer. It
  /// checks the words that will be heard. For recorded clips these are the words in the pack's manifest.
  ///
  /// - Parameters:
  ///   - locale: the locale of the words (BCP 47).
  ///   - readers: the readers of the languages. If the language has no reader, the check fails.
  package func readBack(
    _ amount: Money, _ locale: String, by readers: AmountReaders
  ) throws(ReadbackMismatch) {
    let read = Self.read(amountText, as: amount, try Self.reader(of: "amount", locale, readers))
    guard read == amount.minorUnits else { throw ReadbackMismatch(subject: "amount", isRead: read != nil) }
  }

  /// Checks each count and each sum of a summary in the same way as a single amount.
  package func readBack(
    _ summary: PaymentSummary, _ locale: String, by readers: AmountReaders
  ) throws(ReadbackMismatch) {
    let heard = totals
    let reader = try Self.reader(of: "summary", locale, readers)
    guard heard.count == summary.totals.count else { throw ReadbackMismatch(subject: "summary", isRead: false) }
    for (heard, total) in zip(heard, summary.totals) {
      let sum = Self.read(heard.amount, as: total.amount, reader)
      guard sum == total.amount.minorUnits else { throw ReadbackMismatch(subject: "amount", isRead: sum != nil) }
      let count = try? reader.count(in: heard.count)
      guard count == Int64(total.count) else { throw ReadbackMismatch(subject: "count", isRead: count != nil) }
    }
  }

  private static func reader(
    of subject: String, _ locale: String, _ readers: AmountReaders
  ) throws(ReadbackMismatch) -> AmountReader {
    do throws(AmountReadbackError) { return try readers.reader(for: locale) } catch {
      throw ReadbackMismatch(subject: subject, isRead: false, missingReader: error)
    }
  }

  private static func read(_ words: String, as amount: Money, _ reader: AmountReader) -> Int64? {
    try? reader
      .minorUnits(in: words, currency: amount.currency.code, minorDigits: amount.currency.minorDigits)
  }
}
