// SPDX-License-Identifier: Apache-2.0

public import AmountReadback
public import Announcements
import ConcurrencySupport
import Crypto
import Foundation
import Mastering
import SoundFiles
public import SoundLibrary
import SpeakingPlans
public import SpeechEngine
public import SpeechServers
import TextFormats
import VoicePackIntegrity
public import VoicePacks
public import Waveforms

/// The pipeline that makes a clip. It turns an announcement into a script, the script into a waveform, and the waveform
/// into a mastered sound and a file.
///
/// The command, the batch, the service and the player all use this pipeline.
public final class Announcer: Sendable {
  /// The margin for IMA ADPCM, in frames. This encoding fills its last block with silence, up to 1,016 frames
  /// (measured, libsndfile 1.2).
  static let longestBlock = 1_024

  public let phraseBooks: PhraseBooks
  package let readers: AmountReaders
  package let engine: any Speaking
  let packs: PackChoice
  /// The speech servers. While they answer requests, they speak instead of the engine.
  public let speechServers: SpeechServerVoices

  /// - Parameters:
  ///   - readers: The readers that check the words of an amount. A language without a reader is not spoken.
  ///   - packs: The voice packs; none by default.
  ///   - speechServers: The speech servers; none by default.
  public init(
    phraseBooks: PhraseBooks, readers: AmountReaders, engine: any Speaking,
    packs: VoicePackShelf = VoicePackShelf(folders: []), speechServers: SpeechServerVoices = .none
  ) {
    self.phraseBooks = phraseBooks
    self.readers = readers
    self.engine = engine
    self.packs = PackChoice(shelf: packs)
    self.speechServers = speechServers
  }

  /// Renders a clip and publishes it in the library, or returns the clip that the library already has.
  ///
  /// - Parameters:
  ///   - library: The library to publish the clip in. If it is `nil`, the clip's bytes are returned and nothing is
  ///     written.
  ///   - permit: The permit to request before rendering a clip that is not in the library yet.
  /// - Throws: `AnnouncementError` for wrong input; `AnnouncerError`; `SpeechEngineError`; `VoicePackError` and
  ///   `VoicePackIntegrityError` for a requested pack; `MasteringError`; `SoundFileError`; `SoundLibraryError` if the
  ///   clip cannot be written; the permit's errors.
  public func render(
    _ announcement: Announcement, options: RenderOptions = RenderOptions(), into library: SoundLibrary?,
    permit: NewClipPermit = .always
  ) async throws -> RenderedClip {
    try await withTaskExecutorPreference(WaitingThreads.shared) {
      try await rendered(announcement, options, into: ClipPlace(library: library), permit).clip
    }
  }

  /// Returns the waveform of a clip that was published earlier. Its words and voices are not determined again.
  ///
  /// - Parameter name: The clip's file name: the digest of its recipe and a file extension.
  /// - Returns: Nil if the file is gone or damaged, or has another recipe.
  /// - Throws: `SoundLibraryError` if the file cannot be read.
  public static func publishedClip(named name: String, in library: SoundLibrary) async throws -> Waveform? {
    try await onWaitingThread {
      let recipe = String(name.prefix { $0 != "." })
      guard let bytes = try library.contents(of: name, isUse: true) ?? library.contents(of: name) else { return nil }
      return ClipRecord.read(bytes, recipe: recipe)?.waveform
    }
  }

  /// The place where a new clip is published.
  struct ClipPlace {
    /// The library for the clip's file; nil if no file is written.
    var library: SoundLibrary?
    /// The groups in which clips are published; nil if each clip is published as soon as it is made.
    var groups: GroupedPublishing?
  }

  /// A clip, and its file if the caller still has to publish it.
  typealias Rendered = (clip: RenderedClip, unpublished: PreparedClip?)

  /// Renders the clip on a thread that may wait for the disk.
  func rendered(
    _ announcement: Announcement, _ options: RenderOptions, into place: ClipPlace, _ permit: NewClipPermit
  ) async throws -> Rendered {
    try options.check()
    var options = options
    let named = try namedServer(for: announcement, options)
    if named != nil { options.voice = nil }
    var fallback: String?
    switch try await served(announcement, options, by: named, into: place, permit) {
    case .clip(let made): return made
    case .other(let reason): fallback = reason
    }
    let written = try ways(announcement, options, by: packs.pack(for:pauses:options:))
    do {
      return try await rendered(announcement, options, written, into: place, permit, fallback)
    } catch let error as SpeechEngineError where [.engineUnavailable, .speakerDied].contains(error.code) {
      let recorded = try waysWithoutEngine(announcement, options, written)
      guard !recorded.ways.isEmpty else { throw error }
      return try await rendered(announcement, options, recorded, into: place, permit, fallback)
    }
  }

  /// The possible ways to speak an announcement, and its unspoken parts.
  typealias Written = (ways: [Way], remarks: Remarks)

  /// - Parameter fallback: The code of the reason why another voice speaks instead of a speech server; nil if no speech
  ///   server should speak.
  func rendered(
    _ announcement: Announcement, _ options: RenderOptions, _ written: Written, into place: ClipPlace,
    _ permit: NewClipPermit, _ fallback: String?
  ) async throws -> Rendered {
    let ways = written.ways
    // If only recorded clips are needed, the engine is not started.
    let engine = ways.allSatisfy(\.plan.isRecorded) ? nil : try await engine.identity()
    let whole = Self.recipe(ways, engine, options)
    if let library = place.library {
      var found = try Self.find(whole, options, in: library)
      // Another announcement with the same words may wait to be published with its group.
      if found == nil, await place.groups?.waitForClips(named: Self.name(whole, options)) == true {
        found = try Self.find(whole, options, in: library)
      }
      if let found {
        return (try clip(announcement, written, options, found, fallback, cached: true, in: library), nil)
      }
    }
    try await permit.begin()
    do {
      let made = try await make(announcement, options, written, whole, engine, into: place, fallback)
      permit.end(.made(bytes: made.clip.bytes.count))
      return made
    } catch {
      permit.end(NewClipPermit.Ending(error))
      throw error
    }
  }

  /// Renders a clip that does not exist yet, and publishes it, or prepares it for the publication of its group.
  ///
  /// - Parameter whole: The digest of the recipe that contains all ways to speak the announcement.
  private func make(
    _ announcement: Announcement, _ options: RenderOptions, _ written: Written, _ whole: String,
    _ engine: EngineIdentity?, into place: ClipPlace, _ fallback: String?
  ) async throws -> Rendered {
    let ways = written.ways
    let spoken = try await speak(ways, isText: announcement.isText, options)
    // Ways that the engine failed to speak are not part of this clip's recipe. If the failure was temporary, the name
    // derived from all ways remains free for a complete clip.
    let recipe = spoken.ways.count == ways.count ? whole : Self.recipe(spoken.ways, engine, options)
    let mastered = try SampleRateConversion.convert(
      spoken.mastered, to: options.sampleRate, for: options.format.encoding)
    let record = ClipRecord(
      recipe: recipe, text: spoken.script.text, method: spoken.plan.method,
      voice: spoken.plan.recording?.pack.manifest.id ?? spoken.script.mainVoice,
      engine: engine?.description, loudnessLUFS: mastered.loudnessLUFS, shortened: spoken.shortened,
      marks: mastered.waveform.marks.map(ClipRecord.Mark.init), frames: 0)
    return try await store(mastered.waveform, record, announcement, written, options, into: place, fallback)
  }

  /// Writes a finished clip, and publishes it, or prepares it for the publication of its group.
  ///
  /// - Parameter record: The record without the number of frames.
  func store(
    _ waveform: Waveform, _ record: ClipRecord, _ announcement: Announcement, _ written: Written,
    _ options: RenderOptions, into place: ClipPlace, _ fallback: String?
  ) async throws -> Rendered {
    let (bytes, record) = try ClipRecord.write(waveform, as: options.format) { frames in
      var record = record
      record.frames = frames
      return record
    }
    let made = StoredClip(name: Self.name(record.recipe, options), bytes: bytes, record: record, waveform: waveform)
    let library = place.library
    if let groups = place.groups {
      let unpublished = try groups.prepare(bytes, as: made.name)
      return (try clip(announcement, written, options, made, fallback, cached: false, in: library), unpublished)
    }
    // The digest is computed while this function waits for the disk.
    async let clip = clip(announcement, written, options, made, fallback, cached: false, in: library)
    if let library { _ = try library.publish(bytes, as: made.name) }
    return (try await clip, nil)
  }

  static func name(_ recipe: String, _ options: RenderOptions) -> String {
    "\(recipe).\(options.format.fileExtension)"
  }

  static func recipe(_ ways: [Way], _ engine: EngineIdentity?, _ options: RenderOptions) -> String {
    ClipRecipe(
      ways: ways, engine: engine, format: options.format.container.rawValue,
      encoding: options.format.encoding.rawValue,
      convertedRate: options.sampleRate == RenderOptions.standardSampleRate ? nil : options.sampleRate
    ).digest
  }

  /// A number that increases when the installed or chosen voice packs have changed. A clip of an earlier generation may
  /// speak with another voice than a new clip. Reading the number reads no file.
  public var packGeneration: Int { packs.generation }

  /// Returns the state of each installed voice pack, in the order of the shelf. Files may be read.
  public func packStates() async -> [PackState] {
    await onWaitingThread { [packs] in packs.states() }
  }

  /// Returns the pack that speaks each locale if an announcement names no pack, voice or method. Locales that the
  /// engine speaks are left out. Files may be read.
  public func speakingPacks() async -> [SpeakingPack] {
    await onWaitingThread { [packs] in packs.speaking() }
  }

  /// Returns a sentence for each choice of a pack that has no effect, for example because the pack was removed.
  public func packChoiceFaults() async -> [String] {
    await onWaitingThread { [packs] in packs.choiceFaults() }
  }

  /// Returns the whole script of an announcement. Nothing is spoken.
  public func script(for announcement: Announcement, options: RenderOptions = RenderOptions()) throws -> Script {
    try writing(of: announcement, options: options).script
  }

  /// Returns the whole script of an announcement and its unspoken parts. Nothing is spoken.
  public func writing(
    of announcement: Announcement, options: RenderOptions = RenderOptions()
  ) throws -> (script: Script, remarks: Remarks) {
    try options.check()
    let writer = try phraseBooks.writer(for: announcement.locale ?? options.defaultLocale)
    return try writing(announcement, by: writer, without: [], options)
  }

  /// Returns the identity of the engine: its version and the hash of its data.
  ///
  /// - Throws: `SpeechEngineError` if the engine cannot be used.
  public func engineIdentity() async throws(SpeechEngineError) -> EngineIdentity { try await engine.identity() }

  /// Returns the phonemes that the engine will speak, in the engine's notation. Each run has one line.
  public func phonemes(of script: Script) async throws -> [String] {
    var lines: [String] = []
    for run in script.runs {
      lines.append(try await engine.phonemes(Utterance(run, rate: script.rate)))
    }
    return lines
  }

  // MARK: Writing the words

  /// Returns all ways that may be needed to speak the announcement. The unshortened way comes first. In each way the
  /// amount has been read back.
  ///
  /// - Parameters:
  ///   - requiresVoices: Whether the engine must have a voice for each part that no pack says.
  ///   - choice: Returns the pack that speaks a script, or `nil` if the engine speaks it.
  func ways(
    _ announcement: Announcement, _ options: RenderOptions, requiresVoices: Bool = true,
    by choice: (_ script: Script, _ pauses: ClipPauses, _ options: RenderOptions) throws -> VoicePack?
  ) throws -> Written {
    let writer = try phraseBooks.writer(for: announcement.locale ?? options.defaultLocale)
    let (whole, remarks) = try writing(announcement, by: writer, without: [], options)
    let pauses = writer.book.pauses
    let pack = options.method == .speech ? nil : try choice(whole, pauses, options)
    // Attempts that differ only in their pace have the same words, so the words are written only once.
    var said: [Set<ScriptWriter.Shortening>: (script: Script, plan: SpeakingPlan)] = [:]
    let ways = try Shortenings.attempts(for: announcement, script: whole).map { attempt in
      let leftOut = Set(attempt.taken.filter { $0 != .rate })
      if let (script, plan) = said[leftOut] { return Way(attempt: attempt, script: script, plan: plan) }
      let script = leftOut.isEmpty ? whole : try writing(announcement, by: writer, without: leftOut, options).script
      let plan = pack.map { SpeakingPlan(script, recordedBy: $0, pauses: pauses) } ?? SpeakingPlan(spoken: script)
      switch announcement {
      case .payment(let payment): try readBack(payment.amount, in: plan, script.locale)
      case .summary(let summary): try readBack(summary, in: plan, script.locale)
      case .text, .again: break
      }
      said[leftOut] = (script, plan)
      return Way(attempt: attempt, script: script, plan: plan)
    }
    // Recordings cannot be sped up. With the method `clips`, and in a language without a voice of the engine, only
    // words that have clips can be spoken.
    let open = ways.filter {
      !($0.plan.isRecorded && $0.attempt.pace != .normal) && (options.method != .clips || $0.plan.isRecorded)
        && ($0.plan.hasVoices || !requiresVoices)
    }
    guard !open.isEmpty else {
      if options.method != .clips { throw Self.noVoice(for: writer.book) }
      throw AnnouncerError(
        .methodUnavailable, "method clips", "the voice pack lacks words of this announcement",
        remedy: "to see which, run crier voices check \(pack?.manifest.id ?? ""), or choose the method 'auto'")
    }
    return (open, remarks)
  }

  /// Returns the ways to speak the announcement without an engine. The ways use the chosen pack. If that pack lacks
  /// words, they use the pack that replaces the engine. A payment is then spoken without names.
  private func waysWithoutEngine(
    _ announcement: Announcement, _ options: RenderOptions, _ written: Written
  ) throws -> Written {
    let recorded = written.ways.filter(\.plan.isRecorded)
    guard recorded.isEmpty else { return (recorded, written.remarks) }
    let substitute = try ways(announcement, options, by: packs.substitute(for:pauses:options:))
    return (substitute.ways.filter(\.plan.isRecorded), substitute.remarks)
  }

  private func writing(
    _ announcement: Announcement, by writer: ScriptWriter, without shortenings: Set<ScriptWriter.Shortening>,
    _ options: RenderOptions
  ) throws -> (script: Script, remarks: Remarks) {
    // The words of a long text take a while to write.
    BlockingWatchdog.check()
    var (script, remarks) = try writer.writing(of: announcement, shortenings: shortenings)
    if let rate = options.rate { script.rate = rate }
    if let voice = options.voice {
      // The words were read back only as text. A voice of another language would pronounce them differently.
      guard writer.book.isReadable(by: voice) else {
        let voices = writer.book.voices
        throw AnnouncerError(
          .optionInvalid, "voice", "cannot read the words of \(script.locale)",
          remedy: voices.isEmpty
            ? "leave it out and use a voice pack, because no voice of espeak-ng can read them"
            : "choose one of \(voices.joined(separator: ", ")), with any variant such as +f2")
      }
      let ours = script.locale
      for index in script.runs.indices where script.runs[index].language == ours { script.runs[index].voice = voice }
    }
    return (script, remarks)
  }

  /// Checks the words that will be heard for an amount.
  ///
  /// - Throws: `.amountMismatch`.
  func readBack(_ amount: Money, in plan: SpeakingPlan, _ locale: String) throws(AnnouncerError) {
    do throws(ReadbackMismatch) {
      try plan.readBack(amount, locale, by: readers)
    } catch {
      throw Self.mismatch(error, plan, locale)
    }
  }

  /// Checks the words that will be heard for a summary.
  ///
  /// - Throws: `.amountMismatch`.
  func readBack(_ summary: PaymentSummary, in plan: SpeakingPlan, _ locale: String) throws(AnnouncerError) {
    do throws(ReadbackMismatch) {
      try plan.readBack(summary, locale, by: readers)
    } catch {
      throw Self.mismatch(error, plan, locale)
    }
  }

  private static func noVoice(for book: PhraseBook) -> AnnouncerError {
    let others = book.voices.isEmpty ? "" : ", or choose the voice \(book.voices.joined(separator: " or "))"
    return AnnouncerError(
      .methodUnavailable, "speaking \(book.locale)",
      "espeak-ng has no voice that people would understand, and no voice pack has all words of this announcement",
      remedy: "record a voice pack (docs/voice-packs.md)\(others)")
  }

  static func mismatch(
    _ mismatch: ReadbackMismatch, _ plan: SpeakingPlan, _ locale: String
  ) -> AnnouncerError {
    let doing = "checking the words of the \(mismatch.subject)"
    if let missing = mismatch.missingReader {
      let file = "Readers/\(AmountReaders.file(for: locale))"
      return AnnouncerError(
        .amountMismatch, doing, missing.problem.map { "\(file) is invalid: \($0)" } ?? "there is no \(file)",
        remedy: "nothing was spoken; see docs/readers.md")
    }
    return AnnouncerError(
      .amountMismatch, doing,
      mismatch.isRead ? "the words mean a different \(mismatch.subject)" : "the words could not be read back",
      remedy: plan.isSpoken
        ? "nothing was spoken; correct the phrase book \(locale).json"
        : "nothing was spoken; run crier voices check, and check the phrase book \(locale).json")
  }

  // MARK: Publishing

  /// A clip's file, and the record that the file contains.
  private struct StoredClip {
    var name: String
    var bytes: [UInt8]
    var record: ClipRecord
    var waveform: Waveform
  }

  private static func find(_ recipe: String, _ options: RenderOptions, in library: SoundLibrary) throws -> StoredClip? {
    let name = name(recipe, options)
    guard let bytes = try library.contents(of: name, isUse: true),
      let (waveform, record) = ClipRecord.read(bytes, recipe: recipe)
    else { return nil }
    return StoredClip(name: name, bytes: bytes, record: record, waveform: waveform)
  }

  private func clip(
    _ announcement: Announcement, _ written: Written, _ options: RenderOptions, _ stored: StoredClip,
    _ fallback: String?, cached: Bool, in library: SoundLibrary?
  ) throws -> RenderedClip {
    let (ways, remarks) = written
    let record = stored.record
    var id: String?
    var amount: ClipReport.Amount?
    if case .payment(let payment) = announcement {
      id = payment.id
      amount = ClipReport.Amount(currency: payment.amount.currency.code, value: payment.amount.decimalText)
    }
    var waveform = stored.waveform
    waveform.marks = record.marks.map(\.mark)
    let url = try library?.url(for: stored.name)
    let report = ClipReport(
      id: id, text: record.text, locale: ways[0].script.locale, method: record.method,
      voice: record.voice, reproducible: record.server == nil, fallback: fallback, amount: amount,
      clip: ClipReport.Clip(
        name: stored.name, path: url?.path(percentEncoded: false) ?? "", url: url?.absoluteString ?? "",
        bytes: stored.bytes.count,
        sha256: SHA256.hash(data: stored.bytes).hexadecimal,
        durationMilliseconds: (record.frames * 1000 + waveform.sampleRate - 1) / waveform.sampleRate,
        format: options.format.container.rawValue, encoding: options.format.encoding.rawValue,
        sampleRate: waveform.sampleRate, channels: 1),
      loudnessLUFS: record.loudnessLUFS,
      marks: waveform.marks.map(ClipReport.Mark.init), shortened: record.shortened.map(\.rawValue),
      unspoken: remarks.unspoken, warnings: remarks.warnings, cached: cached, tokens: Self.tokens(of: record, in: ways),
      packDigest: ways.lazy.compactMap(\.plan.recording?.pack.manifest).first { $0.id == record.voice }?.digest)
    return RenderedClip(report: report, bytes: stored.bytes, waveform: waveform)
  }
}

extension Announcer {
  /// Returns the tokens of a clip, if a voice pack said all of its words; an empty array if the engine said any of the
  /// words.
  private static func tokens(of record: ClipRecord, in ways: [Way]) -> [ClipToken] {
    let way = ways.first { $0.plan.isRecorded && $0.attempt.taken == record.shortened }
    guard record.method == "clips", let way, way.plan.recording?.pack.manifest.id == record.voice else { return [] }
    return way.script.tokens
  }
}

extension Announcement {
  fileprivate var isText: Bool {
    if case .text = self { true } else { false }
  }
}

extension Script {
  /// The engine's voice of the sentence, or the first voice if the sentence has no words left.
  fileprivate var mainVoice: String {
    (runs.first { $0.language == locale } ?? runs.first)?.voice ?? ""
  }
}
