// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import ArgumentParser
import Foundation
import PhraseBookChecks

/// The commands for somebody who adds a language.
struct Book: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Helps a native speaker to add a language: its phrase book and its reader.",
    discussion: """
      docs/add-a-language.md describes all steps. The files are Templates/LOCALE.json and Readers/LANGUAGE.json in the \
      data folder ($CRIER_DATA, or --data).

      EXAMPLES
        crier book new sv-SE --data /tmp/try
        crier book check sv-SE --data /tmp/try
        crier book listen sv-SE --data /tmp/try
        crier book sheet sv-SE --data /tmp/try >sv-SE.tsv
      """,
    subcommands: [New.self, Check.self, Sheet.self, Listen.self])

  /// The sheet that a native speaker signed.
  static func sheetFile(_ locale: String, in templates: URL) -> URL {
    templates.appending(path: "sheets/\(locale).tsv", directoryHint: .notDirectory)
  }

  /// Returns the locale of the book that a book extends; nil if it stands alone.
  static func extended(by locale: String, in templates: URL) throws -> String? {
    struct Head: Decodable { var extends: String? }
    let file = templates.appending(path: "\(locale).json")
    return try JSONDecoder().decode(Head.self, from: Data(contentsOf: file)).extends
  }

  /// Returns the writer of a locale that has a book of its own.
  static func writer(_ locale: String, _ books: PhraseBooks) throws -> ScriptWriter {
    try requireBook(locale, books)
    return try books.writer(for: locale)
  }

  /// - Throws: ``CommandError`` if the locale has no book of its own.
  static func requireBook(_ locale: String, _ books: PhraseBooks) throws {
    guard books.locales.contains(locale) else {
      throw CommandError(
        64,
        "LOCALE \(Terminal.printable(locale)): there is no such book. Make one with crier book new, or "
          + "choose one of these: \(books.locales.joined(separator: ", ")).")
    }
  }
}
