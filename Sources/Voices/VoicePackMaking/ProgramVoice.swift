// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
private import VoicePackIntegrity

/// A speech program as the voice of a pack. It is run for each row of the recording sheet, and for each number with its
/// unit.
///
/// Finished rows stay in a folder until the pack is made, so an interrupted run goes on where it ended. Each file is
/// named after the digest of the command and the text. A changed command therefore begins anew.
public struct ProgramVoice: Sendable {
  private let program: SpeechProgram
  private let folder: URL

  /// Creates the voice.
  ///
  /// - Parameters:
  ///   - seconds: the time that the program may take for one row.
  ///   - folder: the folder of finished rows. It is created if it does not exist. It must belong to this pack alone.
  /// - Throws: `PackMakingError` with the code `commandInvalid` if the program is not installed.
  public init(_ command: SpeechCommand, seconds: Int, folder: URL) throws(PackMakingError) {
    _ = try SpeechProgram.program(command.words[0])
    program = SpeechProgram(command: command, seconds: seconds)
    self.folder = folder
  }

  /// Returns the rows to speak: the rows of the recording sheet, and the numbers with their units. A program says
  /// “twenty dollars” more naturally than its two words one after the other.
  ///
  /// - Throws: `AnnouncementError` for a phrase book that cannot speak its own currency.
  public static func rows(of vocabulary: Vocabulary, writer: ScriptWriter) throws(AnnouncementError) -> [SheetRow] {
    var rows = RecordingSheet(vocabulary: vocabulary).rows.map(\.sheetRow)
    let tokens = Set(vocabulary.words.map(\.token))
    for context in try SpokenContexts(writer: writer).sentences.flatMap(\.contexts)
    where context.tokens.count > 1 && tokens.isSuperset(of: context.tokens) {
      rows.append(
        SheetRow(
          number: rows.count + 1, file: "\(rows.count + 1)", token: context.tokens.joined(separator: " "),
          text: context.text, position: context.position, locale: vocabulary.locale))
    }
    return rows
  }

  /// Runs the program for each row that is not finished yet.
  ///
  /// - Parameter progress: a function that is called after each row, with the number of finished rows and the total.
  /// - Returns: the sound file of each row, in the order of the rows.
  /// - Throws: `PackMakingError` with the code `programFailed` for the first row that cannot be spoken; the finished
  ///   rows stay. `CancellationError`. Errors of the file system.
  public func recordings(
    of rows: [SheetRow], progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> [RecordingSource] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // The names of the files are digests, which would tell nobody which row a message is about.
    let sources = rows.map { row in
      RecordingSource(file: folder.appending(path: file(for: row)), row: row, name: RecordingImport.name(row))
    }
    try removeOthers(than: Set(sources.map(\.file.lastPathComponent)))
    for (index, source) in sources.enumerated() {
      try Task.checkCancellation()
      if !FileManager.default.fileExists(atPath: source.file.path(percentEncoded: false)) {
        try await speak(source)
      }
      progress(index + 1, sources.count)
    }
    return sources
  }

  /// Removes the finished rows, after the pack was made.
  public func removeRecordings() { try? FileManager.default.removeItem(at: folder) }

  private func speak(_ source: RecordingSource) async throws {
    // The program writes another file first, so that an interrupted row is not taken for a finished one.
    let unfinished = folder.appending(path: "unfinished.wav")
    try? FileManager.default.removeItem(at: unfinished)
    do {
      try await program.speak(Self.spoken(source.row), in: folder, to: unfinished)
      _ = try ClipPreparation().prepare(Recording.read(unfinished))
      try FileManager.default.moveItem(at: unfinished, to: source.file)
    } catch let error as PackMakingError {
      let isProgram = error.code == .programFailed
      throw PackMakingError(
        .programFailed, "row \(source.row.number) (\(source.row.text))",
        isProgram ? "\(error.subject) \(error.problem)" : "what the program wrote \(error.problem)",
        remedy: "\(isProgram ? error.remedy : "try the command by hand"); the finished rows are kept for the next run")
    }
  }

  /// Returns the text for the program. A full stop makes a voice fall, and a comma keeps it up.
  private static func spoken(_ row: SheetRow) -> String { row.text + (row.position == .final ? "." : ",") }

  private func file(for row: SheetRow) -> String {
    let recipe = (program.command.words + [Self.spoken(row)]).joined(separator: "\0")
    return PackIntegrity.sha256(Data(recipe.utf8)) + ".wav"
  }

  private func removeOthers(than names: Set<String>) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    where !names.contains(name) {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
  }
}
