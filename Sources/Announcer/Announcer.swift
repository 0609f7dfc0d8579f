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
  private let engine: any Speaking
  private let disk = DispatchQueue(label: "crier.disk", attributes: .concurrent)

  public init(phraseBooks: PhraseBooks, engine: any Speaking) {
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
    let ways = try ways(announcement, options)
    let engine = try await engine.identity()
    func recipe(_ ways: [Way]) -> String {
      Recipe(
        ways: ways, engine: engine, format: options.format.container.rawValue,
        encoding: options.format.encoding.rawValue
      ).digest
    }
    let whole = recipe(ways)
    if let library, let found = try await onDisk({ try Self.find(whole, options, in: library) }) {
      return try clip(announcement, ways, options, found, cached: true, in: library)
    }
    let spoken = try await speak(ways, isText: announcement.isText, mastering: Self.mastering(for: options.format))
    // Ways that the engine could not speak are none of this clip's recipe: should the fault have been a passing one,
    // the whole clip's name is still free for the whole clip.
    let recipe = spoken.ways.count == ways.count ? whole : recipe(spoken.ways)
    let waveform = spoken.mastered.waveform
    let (bytes, record) = try ClipRecord.write(waveform, as: options.format) { frames in
      ClipRecord(
        recipe: recipe, text: spoken.script.text, voice: spoken.script.mainVoice,
        loudnessLUFS: spoken.mastered.loudnessLUFS, shortened: spoken.shortened,
        marks: waveform.marks.map(ClipRecord.Mark.init), frames: frames)
    }
    let made = StoredClip(
      name: "\(recipe).\(options.format.fileExtension)", bytes: bytes, record: record, waveform: waveform)
    if let library { try await onDisk { _ = try library.publish(bytes, as: made.name) } }
    return try clip(announcement, ways, options, made, cached: false, in: library)
  }

  /// The words of an announcement, whole; nothing is spoken.
  public func script(for announcement: Announcement, options: RenderOptions = RenderOptions()) throws -> Script {
    try options.check()
    return try ways(announcement, options)[0].script
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
  private func ways(_ announcement: Announcement, _ options: RenderOptions) throws -> [Way] {
    let writer = try phraseBooks.writer(for: announcement.locale ?? options.defaultLocale)
    let whole = try script(announcement, by: writer, without: [], options)
    return try Shortenings.attempts(for: announcement, script: whole).map { attempt in
      let leftOut = Set(attempt.taken.filter { $0 != .rate })
      return Way(
        attempt: attempt,
        script: leftOut.isEmpty ? whole : try script(announcement, by: writer, without: leftOut, options))
    }
  }

  private func script(
    _ announcement: Announcement, by writer: ScriptWriter, without shortenings: Set<ScriptWriter.Shortening>,
    _ options: RenderOptions
  ) throws -> Script {
    var script = try writer.script(for: announcement, shortenings: shortenings)
    if case .payment(let payment) = announcement { try Self.readBack(payment.amount, in: script) }
    if let rate = options.rate { script.rate = rate }
    if let voice = options.voice {
      // The words were read back as words; a voice of another language would say something else of them.
      guard writer.book.isReadable(by: voice) else {
        throw AnnouncerError(
          .optionInvalid, "voice", "does not read the words of \(script.locale)",
          remedy: "choose one of \(writer.book.voices.joined(separator: ", ")), with any variant, such as +f2")
      }
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

  /// What was said in the end, and the ways that were open: all but those that the engine failed at.
  private struct Spoken {
    var mastered: MasteredWaveform
    var script: Script
    var shortened: [ScriptWriter.Shortening]
    var ways: [Way]
  }

  private func speak(_ ways: [Way], isText: Bool, mastering: Mastering) async throws -> Spoken {
    var lengths: [Script: Int] = [:]
    var failed: Set<Script> = []
    var lastFailure: (any Error)?
    for way in ways where !failed.contains(way.script) {
      var script = way.script
      guard
        let rate = Shortenings.rate(for: way.attempt.pace, rate: script.rate, milliseconds: lengths[way.script])
      else { continue }
      script.rate = rate
      let spoken: (runs: [SpokenRun]?, totalMilliseconds: Int)
      do throws(SpeechEngineError) {
        spoken = try await speak(script)
      } catch {
        // A payment is never dropped: a name that ends the engine is left out, as one that is too long would be.
        guard [.textUnspeakable, .voiceUnknown].contains(error.code), !isText else { throw error }
        failed.insert(way.script)
        lastFailure = error
        continue
      }
      if way.attempt.pace == .normal { lengths[way.script] = spoken.totalMilliseconds }
      guard let runs = spoken.runs else { continue }
      let mastered: MasteredWaveform
      do {
        mastered = try master(runs, by: mastering)
      } catch let error as MasteringError where !isText {
        failed.insert(way.script)
        lastFailure = error
        continue
      }
      let limit = Shortenings.limitMilliseconds / 1000 * mastered.waveform.sampleRate
      if mastered.waveform.samples.count + Self.longestBlock < limit {
        return Spoken(
          mastered: mastered, script: script, shortened: way.attempt.taken,
          ways: ways.filter { !failed.contains($0.script) })
      }
    }
    if let lastFailure { throw lastFailure }
    let milliseconds = ways.first.flatMap { lengths[$0.script] } ?? 0
    throw AnnouncerError(
      .tooLong, "text", "takes \((milliseconds + 999) / 1000) s to say",
      remedy: "a notification's sound is shorter than \(Shortenings.limitMilliseconds / 1000) s, at most "
        + "\(Shortenings.fastestPercent - 100) % faster than normal; shorten the text")
  }

  /// - Returns: no runs when the whole is so long that trimming cannot bring it under the limit.
  private func speak(
    _ script: Script
  ) async throws(SpeechEngineError) -> (runs: [SpokenRun]?, totalMilliseconds: Int) {
    var runs: [SpokenRun] = []
    var total = 0
    for run in script.runs {
      let spoken = try await engine.waveform(of: run, rate: script.rate)
      total += spoken.totalMilliseconds + (runs.isEmpty ? 0 : Self.pauseBetweenVoicesMilliseconds)
      runs.append(
        SpokenRun(waveform: spoken.waveform, isAmount: run.segments.contains { $0.role == .amount }))
    }
    // The engine's silence at both ends, measured up to 50 ms, is all that trimming takes.
    return (total > Shortenings.limitMilliseconds + 200 ? nil : runs, total)
  }

  /// A run of a script as it sounds.
  private struct SpokenRun {
    var waveform: Waveform
    var isAmount: Bool
  }

  /// Voices differ by up to 4 LU: each run is brought to one level before they are joined. A run that its voice passes
  /// over in silence (a lone small kana, a modifier letter) is left out, unless the amount is in it.
  private func master(_ runs: [SpokenRun], by mastering: Mastering) throws -> MasteredWaveform {
    guard runs.count > 1 else { return try mastering.master(runs[0].waveform) }
    var leveled: [Waveform] = []
    for run in runs {
      do throws(MasteringError) {
        leveled.append(try mastering.leveled(run.waveform))
      } catch {
        guard error.code == .silent, !run.isAmount else { throw error }
      }
    }
    guard !leveled.isEmpty else {
      throw AnnouncementError(
        .nothingToSay, "text", "has no word that a voice can say", remedy: "give at least one word")
    }
    return try mastering.master(
      try Waveform.joined(leveled, pauseMilliseconds: Self.pauseBetweenVoicesMilliseconds))
  }

  /// Encodings of fewer bits put peaks back, up to 0.1 dB above what was limited (measured on IMA ADPCM).
  private static func mastering(for format: SoundFormat) -> Mastering {
    format.encoding == .pcm16 ? Mastering() : Mastering(maximumTruePeakDBTP: -1.5)
  }

  // MARK: Leaving it

  /// Waiting for the disk belongs on a thread of its own, not on one of the few that run tasks.
  private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      disk.async { continuation.resume(with: Result { try work() }) }
    }
  }

  /// A clip's file, and what it says about itself.
  private struct StoredClip {
    var name: String
    var bytes: [UInt8]
    var record: ClipRecord
    var waveform: Waveform
  }

  private static func find(_ recipe: String, _ options: RenderOptions, in library: SoundLibrary) throws -> StoredClip? {
    let name = "\(recipe).\(options.format.fileExtension)"
    guard let bytes = try library.contents(of: name), let (waveform, record) = ClipRecord.read(bytes, recipe: recipe)
    else { return nil }
    return StoredClip(name: name, bytes: bytes, record: record, waveform: waveform)
  }

  private func clip(
    _ announcement: Announcement, _ ways: [Way], _ options: RenderOptions, _ stored: StoredClip, cached: Bool,
    in library: SoundLibrary?
  ) throws -> RenderedClip {
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
      id: id, text: record.text, locale: ways[0].script.locale, method: RenderOptions.Method.speech.rawValue,
      voice: record.voice, amount: amount,
      clip: ClipReport.Clip(
        name: stored.name, path: url?.path(percentEncoded: false) ?? "", url: url?.absoluteString ?? "",
        bytes: stored.bytes.count,
        sha256: SHA256.hash(data: stored.bytes).hexadecimal,
        durationMilliseconds: (record.frames * 1000 + waveform.sampleRate - 1) / waveform.sampleRate,
        format: options.format.container.rawValue, encoding: options.format.encoding.rawValue,
        sampleRate: waveform.sampleRate, channels: 1),
      loudnessLUFS: record.loudnessLUFS,
      marks: waveform.marks.map(ClipReport.Mark.init), shortened: record.shortened.map(\.rawValue),
      cached: cached)
    return RenderedClip(report: report, bytes: stored.bytes, waveform: waveform)
  }
}

extension Announcement {
  fileprivate var isText: Bool {
    if case .text = self { true } else { false }
  }
}

extension Script {
  /// The voice of the sentence; the first one's where nothing of it is left.
  fileprivate var mainVoice: String {
    (runs.first { $0.language == locale } ?? runs.first)?.voice ?? ""
  }
}
