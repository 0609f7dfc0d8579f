// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import Crypto
import Foundation
import HTTPTypes
import SpeechEngine
import TextFormats
import VoicePackMaking
import VoicePacks
import Waveforms

/// The voice packs under construction, which are recorded row by row or in one long recording.
extension PackClips {
  /// The description of a pack under construction.
  struct DraftLine: Sendable, Encodable {
    var id: String
    var locale: String
    var speaker: String
    var licence: String
    var rows: Int
    var recorded: Int
    /// The number of the rows that payments need, and how many of them were recorded.
    var required: Int
    var requiredRecorded: Int
    var isComplete: Bool

    init(_ draft: PackDraft, _ files: Set<String>) {
      (id, locale, speaker) = (draft.facts.id, draft.facts.locale, draft.facts.speaker)
      (licence, rows, recorded) = (draft.facts.licence, draft.rows.count, files.count)
      let needed = draft.rows.filter(\.isRequired)
      (required, requiredRecorded) = (needed.count, needed.count { files.contains($0.file) })
      isComplete = draft.isComplete(with: files)
    }
  }

  /// A row to record.
  struct RowLine: Sendable, Encodable {
    var number: Int
    var file: String
    var text: String
    var position: String
    var how: String
    var example: String
    var isRequired: Bool
    var isRecorded: Bool
  }

  /// The rows of a pack under construction, in the order of the sheet.
  struct Rows: Sendable, Encodable {
    var pack: DraftLine
    var rows: [RowLine]
  }

  static let noDraft = Problem.notFound(
    "No voice pack with this id is under construction. GET /v1/packs lists them as drafts.")

  static func digest(of bytes: Data) -> String { SHA256.hash(data: bytes).hexadecimal }

  /// Returns a pack under construction; nil if there is none, or if a finished pack has the same id.
  nonisolated func draft(_ id: String) -> PackDraft? { isWritable(id) ? nil : drafts.draft(id) }

  nonisolated func draftLines() async -> [DraftLine] {
    await onWaitingThread { [drafts] in drafts.all.map { DraftLine($0, drafts.recorded(in: $0)) } }
  }

  nonisolated func rows(of id: String) async throws -> Rows {
    try await onWaitingThread { [self] in
      guard let draft = draft(id) else { throw Self.noDraft }
      let files = drafts.recorded(in: draft)
      return Rows(
        pack: DraftLine(draft, files),
        rows: draft.rows.map { row in
          RowLine(
            number: row.number, file: row.file, text: row.text, position: row.position.rawValue, how: row.how,
            example: row.example, isRequired: row.isRequired, isRecorded: files.contains(row.file))
        })
    }
  }

  // MARK: Changing

  /// Begins a pack with all rows of its locale's recording sheet.
  nonisolated func create(_ facts: PackFacts) async throws -> DraftLine {
    try await turns.take([facts.id]) {
      try await onWaitingThread { [self] in
        let writer = try phraseBooks.writer(for: facts.locale)
        var facts = facts
        facts.locale = writer.book.locale
        let draft = PackDraft(facts, sheet: RecordingSheet(vocabulary: try writer.vocabulary()))
        guard shelf.directory(id: facts.id) == nil else {
          throw Problem(.conflict, "pack_exists", "id: belongs to another voice pack; choose another id.")
        }
        try Self.making { try drafts.create(draft) }
        return DraftLine(draft, [])
      }
    }
  }

  /// Records a row of a pack under construction. Call this while holding the pack's lock.
  nonisolated func record(
    _ file: String, of draft: PackDraft, from recording: Data, accepting accepts: Bool
  ) async throws -> Recorded {
    guard let row = draft.rows.first(where: { $0.file == file }) else { throw Self.noClip }
    let (prepared, others) = try await onWaitingThread { [drafts] in
      let prepared = try Self.making { try Self.prepared(recording) }
      return (prepared, drafts.clips(of: draft).filter { $0.row != row }.map(\.clip))
    }
    let clip = row.clip(prepared.waveform)
    let warnings = try await warnings(
      about: clip, prepared.report, in: others, locale: draft.facts.locale, accepting: accepts)
    try await onWaitingThread { [drafts] in
      try Self.making { try drafts.store(clip.waveform, as: row, in: draft) }
    }
    let line = ClipLine(
      file: row.file, tokens: [row.token], position: row.position.rawValue, text: row.text,
      durationMilliseconds: clip.waveform.durationMilliseconds, isMarked: false)
    return Recorded(line: line, warnings: warnings)
  }

  /// Cuts one long recording into the rows of a pack under construction, as `crier voices import` does. Rows that were
  /// recorded before are replaced.
  ///
  /// - Returns: The pack, and a sentence for each warning.
  nonisolated func importRecording(
    _ recording: Data, into id: String, accepting accepts: Bool, charging permit: NewClipPermit
  ) async throws -> (DraftLine, [String]) {
    try await turns.take([id]) {
      guard let draft = await onWaitingThread({ [self] in draft(id) }) else { throw Self.noDraft }
      return try await charged(permit, bytes: recording.count) {
        var imported = try await cut(recording, into: draft.rows)
        let note = try await compare(&imported, locale: draft.facts.locale, accepting: accepts)
        let (clips, rows) = (imported.clips, imported.rows)
        let files = try await onWaitingThread { [drafts] in
          for (clip, row) in zip(clips, rows) {
            guard let own = draft.rows.first(where: { $0.number == row.number }) else { continue }
            try Self.making { try drafts.store(clip.waveform, as: own, in: draft) }
          }
          return drafts.recorded(in: draft)
        }
        return (DraftLine(draft, files), imported.warnings.map { "\($0)" } + [note].compactMap(\.self))
      }
    }
  }

  private nonisolated func cut(_ recording: Data, into rows: [PackDraft.Row]) async throws -> ImportedRecordings {
    try await onWaitingThread {
      try Self.making {
        try Self.reading(recording) { (file: URL) throws(PackMakingError) -> ImportedRecordings in
          try RecordingImport().recordings(
            cutting: file, for: rows.map(\.sheetRow), orOnly: rows.filter(\.isRequired).map(\.sheetRow))
        }
      }
    }
  }

  /// Compares the rows with what they should say.
  ///
  /// - Returns: The reason why they were not compared; nil if they were.
  private nonisolated func compare(
    _ imported: inout ImportedRecordings, locale: String, accepting accepts: Bool
  ) async throws -> String? {
    do {
      let suspicions = try await check(locale).suspicions(in: imported.clips)
      do throws(PackMakingError) {
        try imported.add(suspicions, acceptingSwaps: accepts)
      } catch {
        throw Self.problem(
          PackMakingError(
            error.code, "body", error.problem,
            remedy: "listen to them, and record them in the order of the sheet, or send them with accept=true",
            details: error.details))
      }
      return nil
    } catch is SpeechEngineError {
      return "The recordings were not compared with what they should say, because the speech engine is not available."
    }
  }

  /// Turns a pack under construction into a voice pack that can speak.
  ///
  /// - Returns: False if no pack with this id is under construction.
  /// - Throws: ``Problem`` with 409 `pack_incomplete` if a row that payments need was not recorded.
  nonisolated func finish(_ id: String, locale: String) async throws -> Bool {
    try await turns.take([id]) {
      try await onWaitingThread { [self] in
        guard let draft = draft(id), draft.facts.locale.lowercased() == locale.lowercased() else { return false }
        let clips = drafts.clips(of: draft)
        guard draft.isComplete(with: Set(clips.map(\.row.file))) else {
          throw Problem(
            .conflict, "pack_incomplete",
            "pack: is under construction, and some of its required rows were not recorded; record them first.")
        }
        try Self.making {
          try PackWriter(directory: voices).write(draft.facts, clips: clips.map(\.clip))
          try drafts.remove(id)
        }
        shelf.look()
        return true
      }
    }
  }

  /// Removes a pack of the user's own folder, or a pack under construction.
  nonisolated func remove(_ id: String) async throws {
    try await turns.take([id]) {
      try await onWaitingThread { [self] in
        let isDraft = drafts.draft(id) != nil
        guard isDraft || (PackManifest.isID(id) && shelf.directory(id: id) != nil) else {
          throw Problem.notFound("There is no voice pack with this id. GET /v1/packs lists the packs.")
        }
        guard isDraft || isWritable(id) else { throw Self.readOnly }
        try Self.making {
          if isDraft { try drafts.remove(id) }
          if isWritable(id) {
            try PackWriter(directory: voices).remove(id)
            PackMarks.remove(id, in: voices)
          }
        }
        shelf.look()
      }
    }
  }
}
