// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// The check that a recording sheet belongs to the locale of the pack that is made from it.
public enum SheetLocale {
  /// Checks the rows of a sheet. A sheet of the program has a column with its locale. In a sheet without this column,
  /// at least half of the tokens must be words of the locale's announcements.
  ///
  /// - Parameters:
  ///   - vocabulary: the words of the pack's locale, in all currencies.
  ///   - others: the words of the other locales, for the suggestion in the error.
  /// - Throws: `PackMakingError` with the code `wrongLocale`.
  public static func check(
    _ rows: [SheetRow], against vocabulary: Vocabulary, others: () -> [Vocabulary]
  ) throws(PackMakingError) {
    if let named = rows.lazy.compactMap(\.locale).first(where: { $0.lowercased() != vocabulary.locale.lowercased() }) {
      throw PackMakingError(
        .wrongLocale, sheetLine: 1, "the sheet is for \(named), but the pack is for \(vocabulary.locale)",
        remedy: "give --locale \(named), or the sheet of \(vocabulary.locale)")
    }
    let known = count(rows, in: vocabulary)
    guard !rows.isEmpty, known * 2 < rows.count else { return }
    let better = others().map { ($0.locale, count(rows, in: $0)) }.max { $0.1 < $1.1 }
    let hint = better.flatMap { $0.1 > known ? "give --locale \($0.0), or " : nil } ?? ""
    throw PackMakingError(
      .wrongLocale, sheetLine: 1,
      "only \(known) of \(rows.count) rows are words of announcements in \(vocabulary.locale)",
      remedy: "\(hint)print the sheet with crier voices sheet --locale \(vocabulary.locale)")
  }

  private static func count(_ rows: [SheetRow], in vocabulary: Vocabulary) -> Int {
    let tokens = Set(vocabulary.words.map(\.token))
    return rows.count { tokens.isSuperset(of: $0.tokens) }
  }
}
