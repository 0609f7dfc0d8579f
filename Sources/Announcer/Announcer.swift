// SPDX-License-Identifier: Apache-2.0

import AmountReadback
public import Announcements
import Crypto
import Foundation
import Mastering
import SoundFiles
public import SoundLibrary
public import SpeechEngine
import Waveforms

/// The one way to make a clip: announcement, script, waveform, mastered sound, file.
///
/// The command, the batch, the service and the player all call this.
public final class Announcer: Sendable {
  /// Between two runs of different voices, in ms: the breath that separates a name from its sentence.
  static let pauseBetweenVoicesMilliseconds = 90

  /// IMA ADPCM fills its last block with silence: up to 1,016 frames more than were written (measured, libsndfile 1.2).
  static let longestBlock = 1_024

  public let phraseBooks: PhraseBooks
  private let engine: SpeechEngine
  private let mastering = Mastering()
  private let publishing = DispatchQueue(label: "crier.publishing", attributes: .concurrent)

  public init(phraseBooks: PhraseBooks, engine: SpeechEngine) {
    self.phraseBooks = phraseBooks
    self.engine = engine
  }

  /// Makes a clip, or finds it made, and leaves it in the library.
  ///
  /// - Parameter library: where it is published; `nil` makes the bytes and writes nothing.
  /// - Throws: the error of the room that failed: `AnnouncementError` (the input), `AnnouncerError`, `SpeechEngineError`,
  ///   `MasteringError`, `SoundFileError`, `SoundLibraryError` (the output).
  public func render(
    _ announcement: Announcement, options: RenderOptions = RenderOptions(), into library: SoundLibrary?
  ) async throws -> RenderedClip {
    try options.check()
    let plan = try plan(announcement, options)
    let recipe = Recipe(
      scripts: plan.scripts, engine: try await engine.identity(), format: options.format.container.rawValue,
      encoding: options.format.encoding.rawValue
    ).digest
    let name = "\(recipe).\(options.format.fileExtension)"
    if let library, let bytes = try library.contents(of: name), let found = ClipRecord.read(bytes, recipe: recipe) {
      return try clip(
        announcement, plan, options, name: name, bytes: bytes, found.record, found.waveform, cached: true, in: library)
    }
    let (mastered, script, shortened) = try await speak(plan)
    let (bytes, record) = try ClipRecord.write(mastered.waveform, as: options.format) { frames, samplesSHA256 in
      ClipRecord(
        recipe: recipe, text: script.text, voice: script.mainVoice, loudnessLUFS: mastered.loudnessLUFS,
        shortened: shortened,
        marks: mastered.waveform.marks.map {
          ClipReport.Mark(
            text: $0.text, startMilliseconds: $0.startMilliseconds, endMilliseconds: $0.endMilliseconds)
        }, frames: frames, samplesSHA256: samplesSHA256)
    }
    if let library { try await publish(bytes, as: name, in: library) }
    return try clip(
      announcement, plan, options, name: name, bytes: bytes, record, mastered.waveform, cached: false, in: library)
  }

  /// The words of an announcement, whole; nothing is spoken.
  public func script(for announcement: Announcement, options: RenderOptions = RenderOptions()) throws -> Script {
    try options.check()
    return try plan(announcement, options).scripts[0]
  }

  /// What the engine will say, in its mnemonics, a line for each run.
  public func phonemes(of script: Script) async throws -> [String] {
    var lines: [String] = []
    for run in script.runs {
      lines.append(try await engine.phonemes(Utterance(voice: run.voice, rate: script.rate, text: run.text)))
    }
    return lines
  }

  // MARK: What to say

  /// Every way to say the announcement that may be needed, the whole one first, each with its amount read back.
  private struct Plan {
    var attempts: [Shortenings.Attempt]
    var scripts: [Script]
    var isText: Bool
  }

  private func plan(_ announcement: Announcement, _ options: RenderOptions) throws -> Plan {
    let writer = try phraseBooks.writer(for: announcement.locale ?? options.defaultLocale)
    let whole = try script(announcement, by: writer, without: [], options)
    let attempts = Shortenings.attempts(for: announcement, script: whole)
    let scripts = try attempts.map { attempt in
      let wordless = attempt.taken.filter { $0 != .rate }
      return wordless.isEmpty ? whole : try script(announcement, by: writer, without: Set(wordless), options)
    }
    if case .text = announcement { return Plan(attempts: attempts, scripts: scripts, isText: true) }
    return Plan(attempts: attempts, scripts: scripts, isText: false)
  }

  private func script(
    _ announcement: Announcement, by writer: ScriptWriter, without shortenings: Set<ScriptWriter.Shortening>,
    _ options: RenderOptions
  ) throws -> Script {
    var script = try writer.script(for: announcement, shortenings: shortenings)
    if case .payment(let payment) = announcement { try Self.readBack(payment.amount, in: script) }
    if let rate = options.rate { script.rate = rate }
    if let voice = options.voice {
      let ours = script.locale
      for index in script.runs.indices where script.runs[index].language == ours { script.runs[index].voice = voice }
    }
    return script
  }

  /// The product's first rule: the words of the amount, read by somebody who did not write them, are the amount paid.
  static func readBack(_ amount: Money, in script: Script) throws(AnnouncerError) {
    let read = try? AmountReader(locale: script.locale)
      .minorUnits(in: script.amountText, currency: amount.currency.code, minorDigits: amount.currency.minorDigits)
    guard read == amount.minorUnits else {
      throw AnnouncerError(
        .amountMismatch, "checking the words of the amount",
        read == nil ? "they could not be read back" : "they read back as another amount",
        remedy: "nothing was spoken; correct the phrase book \(script.locale).json")
    }
  }

  // MARK: Saying it

  private func speak(_ plan: Plan) async throws -> (MasteredWaveform, Script, [ScriptWriter.Shortening]) {
    var lengths: [Script: Int] = [:]
    var unspeakable: SpeechEngineError?
    for (attempt, script) in zip(plan.attempts, plan.scripts) {
      var script = script
      let words = script
      guard let rate = Shortenings.rate(for: attempt.pace, rate: script.rate, milliseconds: lengths[words]) else {
        continue
      }
      script.rate = rate
      let spoken: (waveforms: [Waveform]?, totalMilliseconds: Int)
      do throws(SpeechEngineError) {
        spoken = try await speak(script)
      } catch {
        // A payment is never dropped: a name that ends the engine is left out, as one that is too long would be.
        guard error.code == .textUnspeakable, !plan.isText else { throw error }
        unspeakable = error
        continue
      }
      if attempt.pace == .normal { lengths[words] = spoken.totalMilliseconds }
      guard let waveforms = spoken.waveforms else { continue }
      let mastered = try master(waveforms)
      let limit = Shortenings.limitMilliseconds / 1000 * mastered.waveform.sampleRate
      if mastered.waveform.samples.count + Self.longestBlock < limit { return (mastered, script, attempt.taken) }
    }
    if let unspeakable { throw unspeakable }
    let milliseconds = plan.scripts.first.flatMap { lengths[$0] } ?? 0
    throw AnnouncerError(
      .tooLong, "text", "takes \((milliseconds + 999) / 1000) s to say",
      remedy: "a notification's sound is shorter than \(Shortenings.limitMilliseconds / 1000) s, at most "
        + "\(Shortenings.fastestPercent - 100) % faster than normal; shorten the text")
  }

  /// - Returns: no waveforms when the whole is so long that trimming cannot bring it under the limit.
  private func speak(
    _ script: Script
  ) async throws(SpeechEngineError) -> (waveforms: [Waveform]?, totalMilliseconds: Int) {
    var waveforms: [Waveform] = []
    var total = 0
    for run in script.runs {
      let spoken = try await engine.waveform(of: run, rate: script.rate)
      total += spoken.totalMilliseconds + (waveforms.isEmpty ? 0 : Self.pauseBetweenVoicesMilliseconds)
      waveforms.append(spoken.waveform)
    }
    // The engine's silence at both ends, measured up to 50 ms, is all that trimming takes.
    return (total > Shortenings.limitMilliseconds + 200 ? nil : waveforms, total)
  }

  private func master(_ waveforms: [Waveform]) throws -> MasteredWaveform {
    guard waveforms.count > 1 else { return try mastering.master(waveforms[0]) }
    // Voices differ by up to 4 LU: each run is brought to one level before they are joined.
    let leveled = try waveforms.map { try mastering.leveled($0) }
    return try mastering.master(
      try Waveform.joined(leveled, pauseMilliseconds: Self.pauseBetweenVoicesMilliseconds))
  }

  // MARK: Leaving it

  private func publish(_ bytes: [UInt8], as name: String, in library: SoundLibrary) async throws {
    // Waiting for the disk belongs on a thread of its own, not on one of the few that run tasks.
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      publishing.async {
        continuation.resume(with: Result { _ = try library.publish(bytes, as: name) })
      }
    }
  }

  private func clip(
    _ announcement: Announcement, _ plan: Plan, _ options: RenderOptions, name: String, bytes: [UInt8],
    _ record: ClipRecord, _ waveform: Waveform, cached: Bool, in library: SoundLibrary?
  ) throws -> RenderedClip {
    var id: String?
    var amount: ClipReport.Amount?
    if case .payment(let payment) = announcement {
      id = payment.id
      amount = ClipReport.Amount(currency: payment.amount.currency.code, value: payment.amount.decimalText)
    }
    var waveform = waveform
    waveform.marks = record.marks.map {
      Waveform.Mark(text: $0.text, startMilliseconds: $0.startMilliseconds, endMilliseconds: $0.endMilliseconds)
    }
    let url = try library?.url(for: name)
    let report = ClipReport(
      id: id, text: record.text, locale: plan.scripts[0].locale, method: RenderOptions.Method.speech.rawValue,
      voice: record.voice, amount: amount,
      clip: ClipReport.Clip(
        name: name, path: url?.path(percentEncoded: false) ?? "", url: url?.absoluteString ?? "", bytes: bytes.count,
        sha256: SHA256.hash(data: bytes).hexadecimal,
        durationMilliseconds: (record.frames * 1000 + waveform.sampleRate - 1) / waveform.sampleRate,
        format: options.format.container.rawValue, encoding: options.format.encoding.rawValue,
        sampleRate: waveform.sampleRate, channels: 1),
      loudnessLUFS: record.loudnessLUFS, marks: record.marks, shortened: record.shortened.map(\.rawValue),
      cached: cached)
    return RenderedClip(report: report, bytes: bytes, waveform: waveform)
  }
}

extension Script {
  /// The voice of the sentence; the first one's where nothing of it is left.
  fileprivate var mainVoice: String {
    (runs.first { $0.language == locale } ?? runs.first)?.voice ?? ""
  }
}
