// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The installed phrase books, selected by BCP 47 locale.
public struct PhraseBooks: Sendable {
  /// The books in alphabetical order. For an invalid book its error is stored, so that the other books can still be
  /// used.
  private let books: [(locale: String, book: Result<PhraseBook, AnnouncementError>)]
  /// The tables that combine the user's lexicon with the readings of a book. The keys are the locales of the books.
  private let lexicons: [String: ReplacementTable]
  public let voices: ScriptVoices
  private let pronunciations: Pronunciations
  private let sumWords: SumWords
  private let smallSums: SmallSums

  /// Reads a folder of phrase books: a file `<locale>.json` for each book, `scripts.json` with the voices of other
  /// scripts, and `pronunciation/` with the respellings for voices.
  ///
  /// - Parameters:
  ///   - lexicon: the user's pronunciations of names.
  ///   - smallSums: the payments that are said with “only”.
  /// - Throws: `.phraseBooksMissing` when there is no book; `.phraseBookInvalid` when `scripts.json` or a file of
  ///   respellings is invalid. The error of an invalid book is thrown only when that book is requested.
  public init(directory: URL, lexicon: Lexicon = .empty, smallSums: SmallSums = SmallSums()) throws(AnnouncementError) {
    self.smallSums = smallSums
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    guard let voices = try? Data(contentsOf: directory.appending(path: "scripts.json")) else {
      throw Self.missing(directory.path)
    }
    books = names.sorted().filter { $0.hasSuffix(".json") && $0 != "scripts.json" }.map { name in
      (String(name.dropLast(".json".count)), Result { () throws(AnnouncementError) in try Self.book(name, directory) })
    }
    guard !books.isEmpty else { throw Self.missing(directory.path) }
    lexicons = books.reduce(into: [:]) { lexicons, entry in
      if case .success(let book) = entry.book { lexicons[book.locale] = lexicon.table(for: book) }
    }
    sumWords = SumWords(books.compactMap { try? $0.book.get() })
    self.voices = try ScriptVoices(data: voices)
    pronunciations = try Pronunciations(directory: directory.appending(path: "pronunciation"))
  }

  private static func book(_ name: String, _ directory: URL) throws(AnnouncementError) -> PhraseBook {
    guard let data = try? Data(contentsOf: directory.appending(path: name)) else { throw missing(name) }
    let book = try PhraseBook(data: data, name: name)
    guard name == "\(book.locale).json" else {
      throw AnnouncementError(
        .phraseBookInvalid, name, "is for the locale \(book.locale)", remedy: "name the file after its locale")
    }
    return book
  }

  /// The locales that can be spoken, in alphabetical order.
  public var locales: [String] { books.map(\.locale) }

  /// Returns the book for a locale: the exact match, or else the first book of the same language, whatever its region
  /// or script.
  ///
  /// - Throws: `.localeUnknown`, with the available locales, or the error of an invalid book.
  public func book(for locale: String) throws(AnnouncementError) -> PhraseBook {
    // Nearly all callers use the exact name. Parsing a tag would take as long as writing all words of an amount.
    if let same = books.first(where: { $0.locale == locale }) { return try same.book.get() }
    let wanted = locale.replacing("_", with: "-").lowercased()
    if let exact = books.first(where: { $0.locale.lowercased() == wanted }) { return try exact.book.get() }
    // BCP 47 (RFC 5646, section 2.1): subtags of one to eight letters and digits. cmn is Mandarin, which zh means too.
    let subtags = wanted.split(separator: "-", omittingEmptySubsequences: false)
    let language = subtags.first == "cmn" ? "zh" : subtags.first
    let isWellFormed =
      wanted.utf8.count <= 35
      && subtags.allSatisfy {
        (1...8).contains($0.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      }
    if isWellFormed, let sibling = books.first(where: { $0.locale.lowercased().prefix { $0 != "-" } == language }) {
      return try sibling.book.get()
    }
    throw AnnouncementError(
      .localeUnknown, "locale", isWellFormed ? "\(locale) has no phrase book" : "is not a BCP 47 tag",
      remedy: "choose one of \(locales.joined(separator: ", "))")
  }

  /// Returns a writer of scripts that uses the book for a locale.
  public func writer(for locale: String) throws(AnnouncementError) -> ScriptWriter {
    let book = try book(for: locale)
    return ScriptWriter(
      book: book, askedLocale: locale, voices: voices, pronunciations: pronunciations,
      lexicon: lexicons[book.locale] ?? book.readings,
      sumWords: sumWords, smallSums: smallSums)
  }

  private static func missing(_ name: String) -> AnnouncementError {
    AnnouncementError(
      .phraseBooksMissing, name, "does not exist or cannot be read",
      remedy: "give the folder that contains Templates/ with --data or CRIER_DATA")
  }
}
