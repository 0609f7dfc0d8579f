// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import PhraseBookChecks

extension Book {
  struct New: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes the files of a new locale, filled from CLDR where possible.",
      discussion: """
        The book is a copy of another one. A locale in the language of the other book only extends it. The rules for \
        numbers and plurals come from CLDR's files, if they are there (in Debian, the package unicode-cldr-core has \
        them). The texts that a person must replace stay in the other language. crier book check finds the sentences \
        that were left.

        The paths of the files are printed. No file is replaced. Exit status: 73 if a file is there already or cannot be \
        written.
        """)

    @Argument(help: "The new locale, as a BCP 47 tag such as sv-SE.")
    var locale: String

    @Option(help: "The locale of the book to copy. (default: the book that serves for the language, else en-US)")
    var like: String?

    @Option(help: "CLDR's folder common/.", completion: .directory)
    var cldr = "/usr/share/unicode/cldr/common"

    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      guard locale.wholeMatch(of: #/[a-z]{2,3}(-[A-Z][a-z]{3})?-[A-Z]{2}/#) != nil else {
        throw ValidationError(
          "LOCALE \(Terminal.printable(locale)) is not a language with a country: write it as in sv-SE or zh-Hant-TW.")
      }
    }

    func perform() async throws {
      let installation = files.installation
      let books = try PhraseBooks(directory: installation.templates)
      let base = like ?? (try? books.book(for: locale).locale) ?? PhraseBooks.usualLocale
      guard books.locales.contains(base) else {
        throw CommandError(
          64,
          "--like \(Terminal.printable(base)): there is no such book. Choose one of these: "
            + books.locales.joined(separator: ", ") + ".")
      }
      let baseFile = installation.templates.appending(path: "\(base).json")
      var book = NewBook(locale: locale, base: base, baseText: try String(contentsOf: baseFile, encoding: .utf8))
      if !book.isInLanguageOfBase, let extended = try Book.extended(by: base, in: installation.templates) {
        throw CommandError(64, "--like \(base): this book only extends \(extended). Give --like \(extended).")
      }
      let language = String(locale.prefix { $0 != "-" })
      let folder = URL(filePath: cldr, directoryHint: .isDirectory)
      book.spelloutRules = (try? text(folder.appending(path: "rbnf/\(language).xml"))).flatMap(
        SpelloutRules.init(cldr:))
      book.plurals = (try? text(folder.appending(path: "supplemental/plurals.xml")))
        .flatMap { SpelloutRules.plurals(of: language, cldr: $0) }
      try write(book.text, to: installation.templates.appending(path: "\(locale).json"))
      let reader = installation.readers.appending(path: "\(language).json")
      if !FileManager.default.fileExists(atPath: reader.path(percentEncoded: false)) {
        try write(book.readerText, to: reader)
      }
      if book.isInLanguageOfBase {
        Terminal.note("The book extends \(base): write only what differs. Then run crier book check \(locale).")
      } else {
        Terminal.note(
          "The book has the texts of \(base): replace them. "
            + (book.spelloutRules == nil
              ? "CLDR's rules for the numbers were not found, so write these rules too. "
              : "The rules for the numbers are CLDR's: try 1, 21, 100, 101, 1000 and 1000000. ")
            + "Fill the reader from another source, and put that source into its key 'source'. "
            + "Then run crier book check \(locale).")
      }
    }

    private func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    private func write(_ text: String, to file: URL) throws {
      let path = file.path(percentEncoded: false)
      do {
        try Data(text.utf8).write(to: file, options: .withoutOverwriting)
      } catch let error as CocoaError where error.code == .fileWriteFileExists {
        throw CommandError.unwritable(path, "it is there already; remove it or name another locale")
      } catch {
        throw CommandError.unwritable(path, (error as NSError).localizedDescription)
      }
      try StandardOutput.write(path)
    }
  }
}
