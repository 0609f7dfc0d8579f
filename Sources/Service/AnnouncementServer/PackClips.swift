// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import HTTPTypes
import NIOCore
import SpeechEngine
import VoicePackMaking
import VoicePacks
import Waveforms

/// The clips of the voice packs, which people listen to, mark as wrong and record again.
actor PackClips {
  /// The longest recording of a clip, in seconds.
  static let longestSeconds = 15

  let shelf: VoicePackShelf
  let phraseBooks: PhraseBooks
  private let engine: any Speaking
  /// The user's own `Voices` folder, the only one whose packs are changed.
  let voices: URL
  /// The packs of this folder that are under construction.
  nonisolated let drafts: PackDrafts
  /// The checks of recordings, by locale. Each check keeps the engine's speech.
  private var checks: [String: RecordingCheck] = [:]
  /// The locks for changes of packs, by pack id.
  let turns = Turns<String>()
  /// The clips of each pack as they are listed, in the order of the recording sheet.
  nonisolated let listed = PackValues<[Line]>()

  init(shelf: VoicePackShelf, phraseBooks: PhraseBooks, engine: any Speaking, voices: URL) {
    self.shelf = shelf
    self.phraseBooks = phraseBooks
    self.engine = engine
    self.voices = voices
    drafts = PackDrafts(voices: voices)
  }

  /// A clip as it is listed.
  struct Line: Sendable {
    var clip: ListedClip
    var milliseconds: Int
    /// The JSON of the clip without and with a mark.
    var json: (plain: Data, marked: Data)

    init(_ clip: ListedClip, of pack: VoicePack) throws {
      self.clip = clip
      milliseconds = pack.milliseconds(ofClip: clip.file) ?? 0
      json = (
        try ReportJSON.data(of: ClipLine(clip, durationMilliseconds: milliseconds, isMarked: false)),
        try ReportJSON.data(of: ClipLine(clip, durationMilliseconds: milliseconds, isMarked: true))
      )
    }
  }

  /// The facts about a pack besides its clips.
  private struct Facts: Encodable {
    var id: String
    var locale: String
    var isWritable: Bool
  }

  /// The clip that was recorded again, with what the listener should know about it.
  struct Recorded: Sendable {
    var line: ClipLine
    var warnings: [String]
  }

  // MARK: Reading

  /// Returns a pack with its clips, as JSON.
  nonisolated func listing(_ id: String) async throws -> ByteBuffer {
    // A pack that cannot be changed has no marks.
    let (pack, marks) = try await onWaitingThread { [self] () throws -> (VoicePack, PackMarks?) in
      let pack = try self.pack(id)
      return (pack, isWritable(id) ? try PackMarks(of: pack.manifest, in: voices) : nil)
    }
    var json = ByteBuffer(string: "{\"clips\":[")
    for (index, line) in try await lines(of: pack).enumerated() {
      if index > 0 { json.writeStaticString(",") }
      json.writeBytes(marks?.contains(line.clip.file) == true ? line.json.marked : line.json.plain)
    }
    json.writeStaticString("],")
    let facts = Facts(id: id, locale: pack.manifest.locale, isWritable: marks != nil)
    json.writeBytes(try ServiceJSON.data(of: facts).dropFirst())
    return json
  }

  /// Returns the bytes of a clip and their SHA-256 digest.
  nonisolated func bytes(_ file: String, of id: String) async throws -> (bytes: Data, digest: String) {
    try await onWaitingThread { [self] in
      if let draft = draft(id), let row = draft.rows.first(where: { $0.file == file }) {
        guard let bytes = drafts.bytes(of: row, in: draft) else { throw Self.noClip }
        return (bytes, Self.digest(of: bytes))
      }
      let pack = try pack(id)
      guard let clip = pack.manifest.clips[file], let bytes = pack.bytes(ofClip: file) else { throw Self.noClip }
      return (bytes, clip.sha256)
    }
  }

  private nonisolated func pack(_ id: String) throws -> VoicePack {
    guard PackManifest.isID(id), shelf.directory(id: id) != nil else {
      throw Problem.notFound("There is no voice pack with this id. GET /v1/packs lists the packs.")
    }
    return try shelf.pack(id: id)
  }

  nonisolated func isWritable(_ id: String) -> Bool {
    guard let folder = shelf.directory(id: id)?.deletingLastPathComponent() else { return false }
    return folder.standardizedFileURL.path == voices.standardizedFileURL.path
  }

  /// Returns the clips of a pack in the order of the recording sheet. If the locale has no phrase book, they are in the
  /// order of their tokens.
  private nonisolated func lines(of pack: VoicePack) async throws -> [Line] {
    try await listed.value(for: pack.manifest) { [phraseBooks] in
      // Writing the vocabulary takes a while.
      let vocabulary = try? phraseBooks.writer(for: pack.manifest.locale).vocabulary()
      return try ListedClip.clips(of: pack.manifest, vocabulary: vocabulary).map { try Line($0, of: pack) }
    }
  }

  static let readOnly = Problem(
    .conflict, "pack_read_only",
    "The voice pack belongs to the installation and is not changed. Import or build a pack of your own.")

  static let noClip = Problem.notFound(
    "The voice pack has no clip with this file name. Its clips are listed with the pack.")

  /// Returns a pack that may be changed, and one of its clips.
  private nonisolated func writable(_ file: String, of id: String) async throws -> (pack: VoicePack, line: Line) {
    let pack = try await onWaitingThread { [self] in
      let pack = try self.pack(id)
      guard pack.manifest.clips[file] != nil else { throw Self.noClip }
      guard isWritable(id) else {
        throw Self.readOnly
      }
      return pack
    }
    guard let line = try await lines(of: pack).first(where: { $0.clip.file == file }) else { throw Self.noClip }
    return (pack, line)
  }

  // MARK: Changing

  /// Marks a clip as wrong, or removes its mark.
  nonisolated func mark(_ file: String, of id: String, as isMarked: Bool) async throws -> ClipLine {
    let (pack, line) = try await writable(file, of: id)
    try await onWaitingThread { [voices] in
      _ = try Self.making { try PackMarks.set(isMarked, file: file, of: pack.manifest, in: voices) }
    }
    return ClipLine(line.clip, durationMilliseconds: line.milliseconds, isMarked: isMarked)
  }

  /// Records a clip again: prepares the recording as an import does, compares it with what it should say, and stores
  /// the pack with it in one step.
  ///
  /// - Parameters:
  ///   - recording: A WAV file.
  ///   - accepts: Whether a recording that seems to be wrong is stored.
  ///   - permit: Charges the account. A recording that waits for earlier recordings holds no permit.
  nonisolated func record(
    _ file: String, of id: String, from recording: Data, accepting accepts: Bool, charging permit: NewClipPermit
  ) async throws -> Recorded {
    try await turns.take([id]) {
      if let draft = await onWaitingThread({ [self] in draft(id) }) {
        return try await charged(permit, bytes: recording.count) {
          try await record(file, of: draft, from: recording, accepting: accepts)
        }
      }
      let (pack, listed) = try await writable(file, of: id)
      return try await charged(permit, bytes: recording.count) {
        try await replace(listed, in: pack, with: recording, accepting: accepts)
      }
    }
  }

  /// Does the work of a recording, and charges the account. Preparing and comparing a recording takes about as long as
  /// making a clip, and may use the engine.
  nonisolated func charged<Value: Sendable>(
    _ permit: NewClipPermit, bytes: Int, _ work: () async throws -> Value
  ) async throws -> Value {
    try await permit.begin()
    do {
      let value = try await work()
      permit.end(.made(bytes: bytes))
      return value
    } catch {
      permit.end(Problem(error).status.kind == .serverError ? .serviceFailed : .contentFailed)
      throw error
    }
  }

  private nonisolated func replace(
    _ listed: Line, in pack: VoicePack, with recording: Data, accepting accepts: Bool
  ) async throws -> Recorded {
    let clips = await onWaitingThread { RecordedClips(pack) }
    guard let index = clips.files.firstIndex(of: listed.clip.file) else { throw Self.noClip }
    let (clip, report) = try await onWaitingThread {
      let prepared = try Self.making { try Self.prepared(recording) }
      var clip = clips.clips[index]
      clip.waveform = prepared.waveform
      return (clip, prepared.report)
    }
    let warnings = try await warnings(
      about: clip, report, in: clips.clips, locale: pack.manifest.locale, isSynthesized: pack.manifest.isSynthesized,
      accepting: accepts)
    try await onWaitingThread { [self] in
      try Self.making {
        try PackWriter(directory: voices).replace(listed.clip.file, with: clip.waveform, in: pack)
      }
      shelf.look()
    }
    let line = ClipLine(listed.clip, durationMilliseconds: clip.waveform.durationMilliseconds, isMarked: false)
    return Recorded(line: line, warnings: warnings)
  }

  /// Stores the body of a request in a temporary file and reads this file. Errors name the body, not the file.
  static func reading<Value>(
    _ body: Data, _ read: (URL) throws(PackMakingError) -> Value
  ) throws(PackMakingError) -> Value {
    let file = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString).wav")
    defer { try? FileManager.default.removeItem(at: file) }
    guard (try? body.write(to: file)) != nil else {
      throw PackMakingError(
        .writingFailed, "body", "could not be written to a temporary file", remedy: "free space for temporary files")
    }
    do throws(PackMakingError) {
      return try read(file)
    } catch {
      throw PackMakingError(error.code, "body", error.problem, remedy: error.remedy, details: error.details)
    }
  }

  static func prepared(_ bytes: Data) throws(PackMakingError) -> PreparedClip {
    try reading(bytes) { (file: URL) throws(PackMakingError) -> PreparedClip in
      let recording = try Recording.read(file)
      guard recording.samples.count <= longestSeconds * Recording.sampleRate else {
        throw PackMakingError(
          .tooLong, "body", "is longer than \(longestSeconds) s", remedy: "record only the words of the clip")
      }
      return try ClipPreparation().prepare(recording)
    }
  }

  /// Returns what a listener should know about a recording.
  ///
  /// - Parameters:
  ///   - clips: The other clips of the pack.
  ///   - accepts: Whether a recording that seems to be wrong is accepted.
  /// - Throws: ``Problem`` with 409 `recording_suspicious`.
  func warnings(
    about clip: PackClip, _ report: RecordingReport, in clips: [PackClip], locale: String, isSynthesized: Bool = false,
    accepting accepts: Bool
  ) async throws -> [String] {
    let compared = try await comparison(of: clip, in: clips, locale: locale, isSynthesized: isSynthesized)
    let suspicions = report.warnings + compared.suspicions
    guard accepts || suspicions.isEmpty else {
      throw Problem(
        .conflict, "recording_suspicious",
        "\(suspicions.joined(separator: " ")) Nothing was stored. Record the clip again, or send the recording with "
          + "accept=true.")
    }
    return suspicions + [compared.note].compactMap(\.self)
  }

  /// Compares a recording with the other clips of a pack.
  ///
  /// - Returns: A sentence for each clip that the recording sounds like, and the reason why it was not compared.
  private func comparison(
    of clip: PackClip, in clips: [PackClip], locale: String, isSynthesized: Bool
  ) async throws -> (suspicions: [String], note: String?) {
    guard !isSynthesized else { return ([], Self.notCompared("a program made the pack")) }
    guard clip.isSingleWord else { return ([], Self.notCompared("only single words are compared")) }
    do {
      let check = try await check(locale)
      let suspicions = try await check.suspicions(of: clip, in: clips).map { suspicion in
        let other = suspicion.clip == clips.count ? suspicion.soundsLike : suspicion.clip
        let text = clips.indices.contains(other) ? clips[other].text : clip.text
        return "The recording sounds more like “\(text)”. Listen to both clips."
      }
      return (suspicions, nil)
    } catch let error as SpeechEngineError {
      return (
        [],
        Self.notCompared(
          error.code == .queueFull ? "the speech engine is busy" : "the speech engine is not available")
      )
    } catch is PackMakingError {
      return ([], "The recording could not be compared with what it should say.")
    } catch is AnnouncementError {
      return ([], Self.notCompared("the pack's locale has no phrase book"))
    }
  }

  private static func notCompared(_ reason: String) -> String {
    "The recording was not compared with what it should say, because \(reason)."
  }

  func check(_ locale: String) async throws -> RecordingCheck {
    if let check = checks[locale] { return check }
    // Writing the vocabulary takes a while.
    let made = try await onWaitingThread { [engine, phraseBooks] in
      try RecordingCheck(engine: engine, writer: phraseBooks.writer(for: locale))
    }
    // Another recording may have made a check meanwhile.
    let check = checks[locale] ?? made
    checks[locale] = check
    return check
  }

  /// Performs work on the files of a pack.
  ///
  /// - Throws: ``Problem`` with the error that the client reads.
  @discardableResult
  static func making<Value>(_ work: () throws -> Value) throws -> Value {
    do { return try work() } catch let error as PackMakingError { throw problem(error) }
  }

  static func problem(_ error: PackMakingError) -> Problem {
    let detail = (["\(error.subject): \(error.problem); \(error.remedy)."] + error.details).joined(separator: " ")
    switch error.code {
    case .packChanged, .packExists: return Problem(.conflict, error.code.rawValue, detail)
    case .writingFailed, .conversionFailed, .marksUnreadable:
      return Problem(
        .internalServerError, error.code.rawValue, "The voice pack could not be changed. See the service's log.")
    default: return Problem(.unprocessableContent, error.code.rawValue, detail)
    }
  }
}
