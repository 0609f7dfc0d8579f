// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The phrase books that are installed, chosen by BCP 47 locale.
public struct PhraseBooks: Sendable {
  private let books: [PhraseBook]
  public let voices: ScriptVoices

  /// - Throws: `.phraseBooksMissing` when there is no book.
  public init(_ books: [PhraseBook], voices: ScriptVoices) throws(AnnouncementError) {
    guard !books.isEmpty else { throw Self.missing("the folder of phrase books") }
    self.books = books.sorted { $0.locale < $1.locale }
    self.voices = voices
  }

  /// Reads a folder of phrase books: each `<locale>.json`, and `scripts.json` for the voices of other scripts.
  /// - Throws: `.phraseBooksMissing`, `.phraseBookInvalid`.
  public init(directory: URL) throws(AnnouncementError) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    guard let voices = try? Data(contentsOf: directory.appending(path: "scripts.json")) else {
      throw Self.missing(directory.path)
    }
    var books: [PhraseBook] = []
    for name in names.sorted() where name.hasSuffix(".json") && name != "scripts.json" {
      guard let data = try? Data(contentsOf: directory.appending(path: name)) else { throw Self.missing(name) }
      let book = try PhraseBook(data: data, name: name)
      guard name == "\(book.locale).json" else {
        throw AnnouncementError(
          .phraseBookInvalid, name, "holds the locale \(book.locale)", remedy: "name the file after its locale")
      }
      books.append(book)
    }
    try self.init(books, voices: try ScriptVoices(data: voices))
  }

  /// The locales that can be spoken, in alphabetical order.
  public var locales: [String] { books.map(\.locale) }

  /// The book for a locale: the very one, else the first of the same language, by RFC 4647's lookup and its
  /// implementation-defined default: a language's only book speaks for all of its regions.
  /// - Throws: `.localeUnknown`, naming the locales there are.
  public func book(for locale: String) throws(AnnouncementError) -> PhraseBook {
    let wanted = locale.replacing("_", with: "-").lowercased()
    if let exact = books.first(where: { $0.locale.lowercased() == wanted }) { return exact }
    let language = wanted.prefix { $0 != "-" }
    let isWellFormed =
      wanted.utf8.count <= 35 && wanted.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    if isWellFormed, let sibling = books.first(where: { $0.locale.lowercased().hasPrefix("\(language)-") }) {
      return sibling
    }
    throw AnnouncementError(
      .localeUnknown, "locale", isWellFormed ? "\(locale) has no phrase book" : "is not a BCP 47 tag",
      remedy: "choose one of \(locales.joined(separator: ", "))")
  }

  /// Writes scripts in the book for a locale.
  public func writer(for locale: String) throws(AnnouncementError) -> ScriptWriter {
    ScriptWriter(book: try book(for: locale), voices: voices)
  }

  private static func missing(_ name: String) -> AnnouncementError {
    AnnouncementError(
      .phraseBooksMissing, name, "is not there or cannot be read",
      remedy: "name the folder that holds Templates/ with --data or CRIER_DATA")
  }
}
