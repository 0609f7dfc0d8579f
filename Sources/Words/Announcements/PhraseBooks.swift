// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The installed phrase books, selected by BCP 47 locale.
public struct PhraseBooks: Sendable {
  /// The locale (BCP 47) that is used if the caller names no locale.
  public static let usualLocale = "en-US"

  private let shelf: PhraseBookShelf
  public let voices: ScriptVoices
  private let pronunciations: Pronunciations
  private let sumWords: SumWords
  private let smallSums: SmallSums
  private let parents: LocaleParents

  /// The files of the folder that are not books.
  private static let otherFiles: Set<String> = ["scripts.json", "parents.json"]

  /// Reads a folder of phrase books: a file `<locale>.json` for each book, `scripts.json` with the voices of other
  /// scripts, `parents.json` with the parents of locales, and `pronunciation/` with the respellings for voices.
  ///
  /// - Parameters:
  ///   - lexicon: the user's pronunciations of names.
  ///   - smallSums: the payments that are said with “only”.
  /// - Throws: `.phraseBooksMissing` when there is no book; `.phraseBookInvalid` when `scripts.json`, `parents.json` or
  ///   a file of respellings is invalid. The error of an invalid book is thrown only when that book is requested.
  public init(directory: URL, lexicon: Lexicon = .empty, smallSums: SmallSums = SmallSums()) throws(AnnouncementError) {
    self.smallSums = smallSums
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    guard let voices = try? Data(contentsOf: directory.appending(path: "scripts.json")) else {
      throw Self.missing(directory.path)
    }
    var files: [String: Data?] = [:]
    for name in names where name.hasSuffix(".json") && !Self.otherFiles.contains(name) {
      files.updateValue(try? Data(contentsOf: directory.appending(path: name)), forKey: name)
    }
    guard !files.isEmpty else { throw Self.missing(directory.path) }
    shelf = PhraseBookShelf(files, lexicon: lexicon)
    sumWords = SumWords(shelf)
    self.voices = try ScriptVoices(data: voices)
    let parents = try? Data(contentsOf: directory.appending(path: "parents.json"))
    self.parents =
      try parents.map { data throws(AnnouncementError) in try LocaleParents(data: data) } ?? LocaleParents()
    pronunciations = try Pronunciations(directory: directory.appending(path: "pronunciation"))
  }

  /// The locales that can be spoken, in alphabetical order.
  public var locales: [String] { shelf.locales }

  /// Returns the book for a locale: the exact match, or else the first of its parents that has a book, or else the only
  /// book of its language.
  ///
  /// - Throws: `.localeUnknown`, with the available locales, or the error of an invalid book.
  public func book(for locale: String) throws(AnnouncementError) -> PhraseBook {
    // Nearly all callers use the exact name. Parsing a tag would take as long as writing all words of an amount.
    if shelf.contains(locale) { return try shelf.entry(locale).book }
    let wanted = locale.replacing("_", with: "-").lowercased()
    // BCP 47 (RFC 5646, section 2.1): subtags of one to eight letters and digits.
    let subtags = wanted.split(separator: "-", omittingEmptySubsequences: false)
    let isWellFormed =
      wanted.utf8.count <= 35
      && subtags.allSatisfy {
        (1...8).contains($0.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      }
    if isWellFormed {
      let chain = parents.chain(from: wanted)
      for parent in chain {
        if let locale = locales.first(where: { $0.lowercased() == parent }) { return try shelf.entry(locale).book }
      }
      let siblings = locales.filter { $0.lowercased().prefix { $0 != "-" } == chain[chain.count - 1] }
      if siblings.count == 1 { return try shelf.entry(siblings[0]).book }
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
      lexicon: try shelf.entry(book.locale).lexicon,
      sumWords: sumWords, smallSums: smallSums)
  }

  /// Reads all books and makes the table with which sums in names are found. Without this call, the first announcement
  /// with a name does this work, which takes a quarter of a second of processor time. The call blocks the thread.
  public func prepareForNames() { _ = sumWords.table }

  static func missing(_ name: String) -> AnnouncementError {
    AnnouncementError(
      .phraseBooksMissing, name, "does not exist or cannot be read",
      remedy: "give the folder that contains Templates/ with --data or CRIER_DATA")
  }
}
