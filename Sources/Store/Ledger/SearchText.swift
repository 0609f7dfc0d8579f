// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A text in a form for searching, in which letter case and the encoding of accents make no difference.
public struct SearchText: Sendable, Hashable {
  /// The UTF-8 bytes of the form.
  package let bytes: Data

  public init(_ text: String) { bytes = Data(text.lowercased().precomposedStringWithCanonicalMapping.utf8) }

  private struct Report: Decodable {
    struct Amount: Decodable { var value, currency: String? }

    var text: String?
    var amount: Amount?
    var payer, note: String?
  }

  /// Creates the text for searching a report. It contains the words (the string with the key `text`), and the amount,
  /// the payer and the note as they were sent, each on its own line. Nil if the report has no words.
  package init?(wordsOf report: Data) {
    guard let report = try? JSONDecoder().decode(Report.self, from: report), let words = report.text else { return nil }
    let amount = report.amount.flatMap { amount in amount.value.map { "\($0) \(amount.currency ?? "")" } }
    self.init([words, amount, report.payer, report.note].compactMap(\.self).joined(separator: "\n"))
  }

  /// Returns whether another text occurs anywhere in this one, even within a syllable, as in Devanagari and Hangul.
  package func contains(_ other: SearchText) -> Bool {
    bytes.isEmpty ? other.bytes.isEmpty : bytes.range(of: other.bytes) != nil
  }
}
