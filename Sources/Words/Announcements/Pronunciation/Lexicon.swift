// SPDX-License-Identifier: Apache-2.0

public import Foundation
import TextFormats

/// The user's pronunciations of names and other words, by language: the file `lexicon.csv`.
///
///     locale,text,said
///     en-US,Siobhán,Shivawn
///     ja-JP,田中,たなか
///
/// `text` is a word, in any letter case, that may occur in a payer's name, a channel, a note or a text. `said` is its
/// spelling for the voice of the locale's phrase book. If several entries match, the longest is used.
public struct Lexicon: Sendable {
  public static let empty = Lexicon()

  /// The largest number of entries in a lexicon.
  public static let mostEntries = 100_000

  /// The tables by language. The language is the part of a locale before the first hyphen, in lower case.
  private var tables: [Substring: ReplacementTable] = [:]
  private var count = 0

  private init() {}

  /// Reads a lexicon from comma-separated values in UTF-8 with the header `locale,text,said`.
  ///
  /// - Parameters:
  ///   - data: the file's contents.
  ///   - name: the file's name, for errors.
  /// - Throws: `.lexiconInvalid`, with the file, the line and the remedy.
  public init(data: Data, name: String) throws(AnnouncementError) {
    var reader = CSVReader()
    reader.append(data)
    reader.end()
    guard let header = try Self.record(&reader, name) else {
      throw Self.invalid(name, 1, "is empty", remedy: "begin with the line locale,text,said")
    }
    guard header.fields == ["locale", "text", "said"] else {
      throw Self.invalid(name, header.line, "is not the header", remedy: "begin with the line locale,text,said")
    }
    while let record = try Self.record(&reader, name) {
      if !record.isBlank { try add(record, name) }
    }
  }

  private static func record(_ reader: inout CSVReader, _ name: String) throws(AnnouncementError) -> CSVRecord? {
    do {
      return try reader.next()
    } catch {
      throw invalid(name, error.line, "field \(error.field) \(error.problem)", remedy: error.remedy)
    }
  }

  private mutating func add(_ record: CSVRecord, _ name: String) throws(AnnouncementError) {
    guard record.fields.count == 3 else {
      throw Self.invalid(
        name, record.line, "has \(record.fields.count) fields instead of three", remedy: "write locale,text,said")
    }
    let (locale, text, said) = (record.fields[0].trimmed, record.fields[1].trimmed, record.fields[2].trimmed)
    guard !locale.isEmpty, locale.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
      throw Self.invalid(
        name, record.line, "has a locale that is not a BCP 47 tag", remedy: "write a tag such as en-US")
    }
    guard text.contains(where: { $0.isLetter || $0.isNumber }), text.count <= 80 else {
      throw Self.invalid(
        name, record.line, "has a text without a letter, or with more than 80 characters",
        remedy: "write the word as it is spelled in a payment")
    }
    // The engine receives the words of `said` unchanged.
    let isWord = said.unicodeScalars.allSatisfy { $0.isWordPart || " ,'-".unicodeScalars.contains($0) }
    guard isWord, said.contains(where: \.isLetter), said.count <= 160 else {
      throw Self.invalid(
        name, record.line, "has an invalid reading",
        remedy: "write at most 160 letters of the language, without digits and signs")
    }
    count += 1
    guard count <= Self.mostEntries else {
      throw Self.invalid(
        name, record.line, "has one entry too many", remedy: "use at most \(Self.mostEntries) entries")
    }
    let language = Self.language(of: locale)
    // The entry is folded, because free text is also folded before the lookup.
    let folded = String(String.UnicodeScalarView(FoldedText(text).scalars))
    tables[language, default: ReplacementTable()]
      .add(folded, said, isWholeWord: !folded.unicodeScalars.allSatisfy(\.isUnspaced))
  }

  private static func invalid(
    _ name: String, _ line: Int, _ problem: String, remedy: String
  ) -> AnnouncementError {
    AnnouncementError(.lexiconInvalid, "\(name), line \(line)", problem, remedy: remedy)
  }

  private static func language(of locale: String) -> Substring { locale.lowercased().prefix { $0 != "-" } }

  /// Returns the entries for a book's language, which take precedence over the book's own readings.
  func table(for book: PhraseBook) -> ReplacementTable {
    var table = book.readings
    if let own = tables[Self.language(of: book.locale)] { table.add(own) }
    return table
  }
}
