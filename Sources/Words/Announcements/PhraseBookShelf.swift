// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The phrase books of a folder. All files are read when the shelf is created, so a later change in the folder has no
/// effect. A book is decoded when it is first requested, because that takes about a millisecond, and most programs need
/// one or two books.
final class PhraseBookShelf: Sendable {
  /// A book, and the table that combines the user's lexicon with the book's readings.
  struct Entry: Sendable {
    var book: PhraseBook
    var lexicon: ReplacementTable
  }

  /// The locales in alphabetical order.
  let locales: [String]
  private let localeSet: Set<String>
  private let files: [String: Data?]
  private let lexicon: Lexicon
  private let made = Locked<[String: Result<Entry, AnnouncementError>]>([:])

  /// - Parameters:
  ///   - files: the files `<locale>.json`, by name; `nil` for a file that cannot be read.
  ///   - lexicon: the user's pronunciations of names.
  init(_ files: [String: Data?], lexicon: Lexicon) {
    self.files = files
    self.lexicon = lexicon
    locales = files.keys.map { String($0.dropLast(".json".count)) }.sorted()
    localeSet = Set(locales)
  }

  func contains(_ locale: String) -> Bool { localeSet.contains(locale) }

  /// Returns the book of a locale of ``locales``.
  ///
  /// - Throws: the error of an invalid book.
  func entry(_ locale: String) throws(AnnouncementError) -> Entry {
    if let known = made.withLock({ $0[locale] }) { return try known.get() }
    let entry = Result { () throws(AnnouncementError) in try make(locale) }
    made.withLock { $0[locale] = entry }
    return try entry.get()
  }

  /// All books that have no fault.
  var validBooks: [PhraseBook] { locales.compactMap { try? entry($0).book } }

  private func make(_ locale: String) throws(AnnouncementError) -> Entry {
    let name = "\(locale).json"
    let book = try PhraseBook(data: try PhraseBookFile.contents(of: name, in: files), name: name)
    guard book.locale == locale else {
      throw AnnouncementError(
        .phraseBookInvalid, name, "is for the locale \(book.locale)", remedy: "name the file after its locale")
    }
    return Entry(book: book, lexicon: lexicon.table(for: book))
  }
}
