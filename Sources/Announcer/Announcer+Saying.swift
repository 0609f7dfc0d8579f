// SPDX-License-Identifier: Apache-2.0

import Announcements
import Mastering
import SoundFiles
import SpeechEngine
import VoicePacks
import Waveforms

extension Announcer {
  /// Near silence at both ends of a clip, in ms, as mastering leaves it.
  private static let edgeMilliseconds = 30

  /// What was said in the end, and the ways that were open: all but those that the engine failed at.
  struct Spoken {
    var mastered: MasteredWaveform
    var script: Script
    var plan: SpeakingPlan
    var shortened: [ScriptWriter.Shortening]
    var ways: [Way]
  }

  func speak(_ ways: [Way], isText: Bool, mastering: Mastering) async throws -> Spoken {
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
        // A payment is never dropped: a name that ends the engine is left out, as one that is too long would be.
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
      let limit = Shortenings.limitMilliseconds / 1000 * mastered.waveform.sampleRate
      if mastered.waveform.samples.count + Self.longestBlock < limit {
        return Spoken(
          mastered: mastered, script: script, plan: way.plan, shortened: way.attempt.taken,
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

  /// - Returns: no parts when the whole is so long that trimming cannot bring it under the limit.
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
    // The engine's silence at both ends, measured up to 50 ms, is all that trimming takes.
    return (total > Shortenings.limitMilliseconds + 200 ? nil : parts, total)
  }

  /// A part of a plan as it sounds.
  private struct SpokenPart {
    var waveform: Waveform
    var isAmount: Bool
    /// Whether it is all of an announcement and a pack's clips only: then it is mastered already.
    var isRecorded: Bool
    /// Before the next part.
    var pauseMilliseconds: Int
  }

  /// Voices differ by up to 4 LU: each part is brought to one level before they are joined. A part that its voice passes
  /// over in silence (a lone small kana, a modifier letter) is left out, unless the amount is in it.
  private func master(_ parts: [SpokenPart], by mastering: Mastering) throws -> MasteredWaveform {
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

  /// Encodings of fewer bits put peaks back, up to 0.1 dB above what was limited (measured on IMA ADPCM).
  static func mastering(for format: SoundFormat) -> Mastering {
    format.encoding == .pcm16 ? Mastering() : Mastering(maximumTruePeakDBTP: -1.5)
  }
}
