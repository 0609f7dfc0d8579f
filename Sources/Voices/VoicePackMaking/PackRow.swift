// SPDX-License-Identifier: Apache-2.0

public import AmountReadback
public import Announcements
public import SpeechServers

/// A row of a pack that a voice other than espeak-ng speaks, and an announcement that contains the words of the row.
struct PackRow {
  var row: SheetRow
  /// The announcement that contains the words; nil for a vocabulary that does not come from a phrase book.
  var source: WrittenAnnouncement?

  /// Returns the rows to speak: the rows of the recording sheet, and the numbers with their units. Most voices say
  /// “twenty dollars” more naturally than “twenty” and “dollars” one after the other.
  ///
  /// - Throws: `AnnouncementError` for a phrase book that cannot speak its own currency.
  static func rows(of vocabulary: Vocabulary, writer: ScriptWriter) throws(AnnouncementError) -> [PackRow] {
    let sources = Dictionary(vocabulary.words.map { ($0.token, $0.source) }) { first, _ in first }
    var rows = RecordingSheet(vocabulary: vocabulary).rows
      .map { PackRow(row: $0, source: sources[$0.token] ?? nil) }
    for sentence in try SpokenContexts(writer: writer).sentences {
      for context in sentence.contexts
      where context.tokens.count > 1 && context.tokens.allSatisfy({ sources[$0] != nil }) {
        let row = SheetRow(
          number: rows.count + 1, file: "\(rows.count + 1)", token: context.tokens.joined(separator: " "),
          text: context.text, position: context.position, locale: vocabulary.locale)
        rows.append(PackRow(row: row, source: sentence.source))
      }
    }
    return rows
  }
}

extension SheetRow {
  /// The words, followed by a punctuation mark. A full stop lets the pitch of a voice fall, and a comma keeps the pitch
  /// up.
  var spokenText: String { text + (position == .final ? "." : ",") }
}

/// The rows of a pack that a speech server may speak. The words of each row have been read back.
public struct ReadBackRows: Sendable, Hashable {
  /// The rows with their words, in the order of the recording sheet.
  public private(set) var words: [SheetRow: ReadBackWords] = [:]
  public private(set) var rows: [SheetRow] = []
  /// The rows that contain a digit or a symbol, such as the name of a channel. They are not sent to any server.
  public private(set) var unsendable: [SheetRow] = []

  /// Reads the rows of a vocabulary back.
  ///
  /// - Parameter readers: the readers of the languages.
  /// - Throws: `AnnouncementError`; `PackMakingError` with the code `rowUnread` for words that say another amount than
  ///   they should, or that no reader can read.
  public init(of vocabulary: Vocabulary, writer: ScriptWriter, readers: AmountReaders) throws {
    for packRow in try PackRow.rows(of: vocabulary, writer: writer) {
      let row = packRow.row
      guard let source = packRow.source else { throw Self.unread(RecordingImport.name(row), writer) }
      switch try Self.words(
        row.tokens, endsSentence: row.position == .final, from: source, readers, RecordingImport.name(row), writer)
      {
      case .success(let said) where said.text == row.spokenText:
        rows.append(row)
        words[row] = said
      case .success: throw Self.unread(RecordingImport.name(row), writer)
      case .failure: unsendable.append(row)
      }
    }
  }

  /// Reads an announcement back, and returns some of its words.
  static func words(
    _ tokens: [String], endsSentence: Bool, from source: WrittenAnnouncement, _ readers: AmountReaders, _ name: String,
    _ writer: ScriptWriter
  ) throws(PackMakingError) -> Result<ReadBackWords, SpeechServerError> {
    do {
      return try ReadBackWords.excerpt(tokens, endsSentence: endsSentence, from: source, readers: readers)
    } catch {
      throw unread(name, writer)
    }
  }

  static func unread(_ name: String, _ writer: ScriptWriter) -> PackMakingError {
    PackMakingError(
      .rowUnread, name, "does not say its amount when it is read back",
      remedy: "check Templates/\(writer.book.locale).json and Readers/\(AmountReaders.file(for: writer.book.locale))")
  }
}
