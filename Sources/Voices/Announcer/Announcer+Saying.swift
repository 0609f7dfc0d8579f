// SPDX-License-Identifier: Apache-2.0

import Announcements
import Mastering
import SoundFiles
import SpeakingPlans
import SpeechEngine
import VoicePacks
import Waveforms

extension Announcer {
  /// The near silence that mastering leaves at each end of a clip, in ms.
  static let edgeMilliseconds = 30

  /// The announcement as it was finally spoken, and the possible ways to speak it. A way is left out if the engine
  /// failed to speak it.
  struct Spoken {
    var mastered: MasteredWaveform
    var script: Script
    var plan: SpeakingPlan
    var shortened: [ScriptWriter.Shortening]
    var ways: [Way]
  }

  func speak(_ ways: [Way], isText: Bool, _ options: RenderOptions) async throws -> Spoken {
    let mastering = Self.mastering(for: options)
    var lengths: [Script: Int] = [:]
    var failed: Set<Script> = []
    var lastFailure: (any Error)?
    for way in ways where !failed.contains(way.script) {
      var script = way.script
      guard
        let rate = Shortenings.rate(for: way.attempt.pace, rate: script.rate, milliseconds: lengths[way.script])
      else { continue }
      script.rate = rate
      let spoken: (parts: [SpokenPart]?, totalMilliseconds: Int)
      do throws(SpeechEngineError) {
        spoken = try await speak(way.plan, rate: rate)
      } catch {
        // A payment is never dropped. If the engine fails because of a name, the name is left out, as is done with a
        // name that is too long.
        guard [.textUnspeakable, .speechMismatch, .voiceUnknown].contains(error.code), !isText else { throw error }
        failed.insert(way.script)
        lastFailure = error
        continue
      }
      if way.attempt.pace == .normal { lengths[way.script] = spoken.totalMilliseconds }
      guard let parts = spoken.parts else { continue }
      let mastered: MasteredWaveform
      do {
        mastered = try master(parts, by: mastering)
      } catch let error as MasteringError where !isText {
        failed.insert(way.script)
        lastFailure = error
        continue
      }
      if Self.isShortEnough(mastered.waveform, options) {
        return Spoken(
          mastered: mastered, script: script, plan: way.plan, shortened: way.attempt.taken,
          ways: ways.filter { !failed.contains($0.script) })
      }
    }
    if let lastFailure { throw lastFailure }
    let milliseconds = ways.first.flatMap { lengths[$0.script] } ?? 0
    throw AnnouncerError(
      .tooLong, "text", "takes \((milliseconds + 999) / 1000) s to say",
      remedy: "shorten the text: a notification's sound must be shorter than \(Shortenings.limitMilliseconds / 1000) s "
        + "when spoken up to \(Shortenings.fastestPercent - 100) % faster than normal")
  }

  /// Returns whether the file of a finished sound is shorter than 30 s, even if the encoding fills up its last block.
  static func isShortEnough(_ waveform: Waveform, _ options: RenderOptions) -> Bool {
    // A block has a fixed number of samples, so it lasts longer at a lower rate.
    let standard = RenderOptions.standardSampleRate
    let margin = longestBlock * max(1, (standard + options.sampleRate - 1) / options.sampleRate)
    return waveform.samples.count + margin < Shortenings.limitMilliseconds / 1000 * waveform.sampleRate
  }

  /// - Returns: The parts, and the total length in ms. The parts are `nil` if the announcement is so long that trimming
  ///   cannot bring it under the limit.
  private func speak(
    _ plan: SpeakingPlan, rate: Int
  ) async throws(SpeechEngineError) -> (parts: [SpokenPart]?, totalMilliseconds: Int) {
    var parts: [SpokenPart] = []
    var total = 0
    for part in plan.parts {
      let waveform: Waveform
      var milliseconds: Int
      switch part.source {
      case .spoken(let run):
        let spoken = try await engine.waveform(of: run, rate: rate)
        (waveform, milliseconds) = (spoken.waveform, spoken.totalMilliseconds)
      case .recorded(let clips):
        guard let recording = plan.recording else { continue }
        waveform = recording.pack.stitched(
          clips, pauses: recording.pauses, edgeMilliseconds: plan.isRecorded ? Self.edgeMilliseconds : 0)
        milliseconds = waveform.durationMilliseconds
      }
      if let last = parts.last { milliseconds += last.pauseMilliseconds }
      total += milliseconds
      parts.append(
        SpokenPart(
          waveform: waveform, isAmount: part.saysAmount, isRecorded: plan.isRecorded,
          pauseMilliseconds: part.pauseMilliseconds))
    }
    // Trimming removes only the engine's silence at both ends, which lasts up to 50 ms (measured).
    return (total > Shortenings.limitMilliseconds + 200 ? nil : parts, total)
  }

  /// The sound of one part of a plan.
  struct SpokenPart {
    var waveform: Waveform
    var isAmount: Bool
    /// Whether the part is a whole announcement made only from a pack's clips. Such a part has already been mastered.
    var isRecorded: Bool
    /// The pause before the next part, in ms.
    var pauseMilliseconds: Int
  }

  /// Masters the parts and joins them. Voices differ in loudness by up to 4 LU, so each part is first brought to the
  /// same level. If a voice does not pronounce a part (a single small kana, a modifier letter), the part is left out,
  /// unless it contains the amount.
  func master(_ parts: [SpokenPart], by mastering: Mastering) throws -> MasteredWaveform {
    guard parts.count > 1 else {
      return parts[0].isRecorded
        ? try mastering.verified(parts[0].waveform) : try mastering.master(parts[0].waveform)
    }
    var leveled: [Waveform] = []
    var pauses: [Int] = []
    for part in parts {
      do throws(MasteringError) {
        leveled.append(try mastering.leveled(part.waveform))
        pauses.append(part.pauseMilliseconds)
      } catch {
        guard error.code == .silent, !part.isAmount else { throw error }
      }
    }
    guard !leveled.isEmpty else {
      throw AnnouncementError(
        .nothingToSay, "text", "has no word that a voice can say", remedy: "give at least one word")
    }
    return try mastering.master(try Waveform.joined(leveled, pausesMilliseconds: pauses.dropLast()))
  }

  /// Encodings with fewer bits can raise peaks by up to 0.1 dB above the limit (measured on IMA ADPCM). A conversion to
  /// another sample rate can raise peaks too, and both together can raise them more; see ``SampleRateConversion``.
  static func mastering(for options: RenderOptions) -> Mastering {
    if options.sampleRate != RenderOptions.standardSampleRate { return Mastering(maximumTruePeakDBTP: -3) }
    return options.format.encoding == .pcm16 ? Mastering() : Mastering(maximumTruePeakDBTP: -1.5)
  }
}
