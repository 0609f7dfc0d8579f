// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A text in a form in which letter case and the encoding of accents make no difference, for searching.
public struct SearchText: Sendable, Hashable {
  /// The UTF-8 bytes of the form.
  let bytes: Data

  public init(_ text: String) { bytes = Data(text.lowercased().precomposedStringWithCanonicalMapping.utf8) }

  private struct Report: Decodable { var text: String? }

  /// Creates the text of the words in a report, the string with the key `text`; nil if there is none.
  init?(wordsOf report: Data) {
    guard let words = (try? JSONDecoder().decode(Report.self, from: report))?.text else { return nil }
    self.init(words)
  }

  /// Returns whether another text occurs anywhere in this one, even within a syllable, as in Devanagari and Hangul.
  func contains(_ other: SearchText) -> Bool {
    bytes.isEmpty ? other.bytes.isEmpty : bytes.range(of: other.bytes) != nil
  }
}
