// SPDX-License-Identifier: Apache-2.0

private import FileSystem
public import Foundation
import VoicePacks
public import Waveforms

/// A voice pack under construction: the rows of its recording sheet, which somebody records one by one.
///
/// It is not a voice pack yet. It never speaks, and phones do not get it.
public struct PackDraft: Sendable, Hashable, Codable {
  /// A row of the recording sheet, as it was when the construction began.
  public struct Row: Sendable, Hashable, Codable {
    public var number: Int
    /// The name of the clip's file.
    public var file: String
    /// The name of the clip token.
    public var token: String
    /// The words to say.
    public var text: String
    public var position: ClipPosition
    /// One English sentence that says how to read the words aloud.
    public var how: String
    /// A whole announcement with the words.
    public var example: String
    /// Whether payments need the row.
    public var isRequired: Bool

    /// The row in the form that the import of recordings uses.
    public var sheetRow: SheetRow {
      SheetRow(number: number, file: file, token: token, text: text, position: position)
    }

    /// Returns a clip of the row with the given sound.
    public func clip(_ waveform: Waveform) -> PackClip {
      PackClip(tokens: [token], position: position, text: text, waveform: waveform)
    }
  }

  public var facts: PackFacts
  public var rows: [Row]

  /// Creates a pack under construction with all rows of a sheet.
  public init(_ facts: PackFacts, sheet: RecordingSheet) {
    self.facts = facts
    rows = sheet.blocks.flatMap { block in
      block.rows.map { row in
        Row(
          number: row.number, file: "\(row.file).wav", token: row.token, text: row.text, position: row.position,
          how: row.how, example: row.example, isRequired: block.isRequired)
      }
    }
  }

  /// Returns whether these files contain all rows that payments need.
  public func isComplete(with files: Set<String>) -> Bool {
    rows.allSatisfy { !$0.isRequired || files.contains($0.file) }
  }
}

/// The voice packs under construction in a `Voices` folder. The drafts are in the hidden folder `.drafts` of the
/// `Voices` folder. Each draft has a folder of its own, which contains its rows and its recorded clips.
public struct PackDrafts: Sendable {
  private static let rowsName = "draft.json"
  private let folder: URL

  /// - Parameter voices: the `Voices` folder, such as `$CRIER_HOME/Voices`.
  public init(voices: URL) { folder = voices.appending(path: ".drafts", directoryHint: .isDirectory) }

  private func place(_ id: String) -> URL { folder.appending(path: id, directoryHint: .isDirectory) }

  /// The packs under construction, in the alphabetical order of their ids. Packs that cannot be read are left out.
  public var all: [PackDraft] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    return names.sorted().compactMap(draft)
  }

  /// Returns a pack under construction; `nil` if there is none with this id.
  public func draft(_ id: String) -> PackDraft? {
    guard PackManifest.isID(id), let bytes = try? Data(contentsOf: place(id).appending(path: Self.rowsName)),
      let draft = try? JSONDecoder().decode(PackDraft.self, from: bytes), draft.facts.id == id
    else { return nil }
    return draft
  }

  /// Begins a pack. When the function returns, the draft is on the disk.
  ///
  /// - Throws: `PackMakingError`: `packInvalid` for an invalid id; `packExists` if a pack with this id is under
  ///   construction; `writingFailed`.
  public func create(_ draft: PackDraft) throws(PackMakingError) {
    let id = draft.facts.id
    guard PackManifest.isID(id) else {
      throw PackMakingError(
        .packInvalid, "id", "is not a valid pack name", remedy: "use 1 to 64 ASCII letters, digits, “-”, “_” and “.”")
    }
    guard self.draft(id) == nil else {
      throw PackMakingError(
        .packExists, id, "is under construction already", remedy: "choose another id, or remove it first")
    }
    try writing(id) {
      try DurableFolder.make(folder, .ownerOnly)
      try DurableFolder.make(place(id), .ownerOnly)
      try DurableFile.write(try JSONEncoder().encode(draft), to: place(id).appending(path: Self.rowsName))
    }
  }

  /// Returns the files of the rows that were recorded.
  public func recorded(in draft: PackDraft) -> Set<String> {
    let path = place(draft.facts.id).path(percentEncoded: false)
    let names = Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
    return names.intersection(draft.rows.map(\.file))
  }

  /// Stores the clip of a row. When the function returns, the clip is on the disk.
  ///
  /// - Throws: `PackMakingError`: `writingFailed`.
  public func store(_ waveform: Waveform, as row: PackDraft.Row, in draft: PackDraft) throws(PackMakingError) {
    let file = place(draft.facts.id).appending(path: row.file)
    try writing(draft.facts.id) { try DurableFile.write(WAVFile.encode(waveform), to: file) }
  }

  /// Returns the bytes of a recorded clip; `nil` if the row was not recorded.
  public func bytes(of row: PackDraft.Row, in draft: PackDraft) -> Data? {
    try? Data(contentsOf: place(draft.facts.id).appending(path: row.file))
  }

  /// Returns the recorded clips with their rows, in the order of the rows. Files that are not WAV files are left out.
  public func clips(of draft: PackDraft) -> [(row: PackDraft.Row, clip: PackClip)] {
    draft.rows.compactMap { row in
      guard let bytes = bytes(of: row, in: draft), let sound = try? WAVFile.decode([UInt8](bytes)).waveform else {
        return nil
      }
      return (row, row.clip(sound))
    }
  }

  /// Removes a pack under construction with its recordings.
  ///
  /// - Throws: `PackMakingError`: `writingFailed`.
  public func remove(_ id: String) throws(PackMakingError) {
    guard PackManifest.isID(id) else { return }
    try writing(id) { try FileManager.default.removeItem(at: place(id)) }
  }

  private func writing(_ id: String, _ write: () throws -> Void) throws(PackMakingError) {
    do {
      try write()
    } catch {
      throw PackMakingError(
        .writingFailed, id, "could not be written",
        remedy: "check the space on the disk and the permissions of the pack's folder")
    }
  }
}
