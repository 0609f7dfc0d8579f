// SPDX-License-Identifier: Apache-2.0

public import Foundation
private import VoicePackIntegrity

/// A voice that speaks the rows of a pack one after the other: a speech program or a speech server.
///
/// Finished rows stay in a folder until the pack is made, so an interrupted run goes on where it ended. Each file is
/// named after the digest of the recipe and the text. A changed recipe therefore begins anew.
public protocol PackVoice: Sendable {
  /// The folder of finished rows. It is created if it does not exist. It must belong to this pack alone.
  var folder: URL { get }

  /// Everything that determines the sounds except their words, such as a command.
  var recipe: [String] { get }

  /// Speaks one row.
  ///
  /// - Parameter output: the file to write. The file does not exist yet.
  /// - Throws: `PackMakingError`, whose subject names what failed; `CancellationError`. Errors of the file system.
  func speak(_ row: SheetRow, to output: URL) async throws
}

extension PackVoice {
  /// Speaks each row that is not finished yet.
  ///
  /// - Parameter progress: a function that is called after each row, with the number of finished rows and the total.
  /// - Returns: the sound file of each row, in the order of the rows.
  /// - Throws: `PackMakingError` for the first row that cannot be spoken; the finished rows stay. `CancellationError`.
  ///   Errors of the file system.
  public func recordings(
    of rows: [SheetRow], progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> [RecordingSource] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Each source gets a name for messages, because the file's own name is a digest, from which nobody can tell the
    // row.
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
    // The voice writes another file first, so that an interrupted row is not mistaken for a finished row.
    let unfinished = folder.appending(path: "unfinished.wav")
    try? FileManager.default.removeItem(at: unfinished)
    do {
      try await speak(source.row, to: unfinished)
    } catch let error as PackMakingError {
      throw PackMakingError(
        error.code, source.name, "\(error.subject) \(error.problem)",
        remedy: "\(error.remedy); the finished rows are kept for the next run")
    }
    try FileManager.default.moveItem(at: unfinished, to: source.file)
  }

  private func file(for row: SheetRow) -> String {
    PackIntegrity.sha256(Data((recipe + [row.spokenText]).joined(separator: "\0").utf8)) + ".wav"
  }

  private func removeOthers(than names: Set<String>) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    where !names.contains(name) {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
  }
}
