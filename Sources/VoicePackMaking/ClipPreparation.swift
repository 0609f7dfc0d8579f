// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
public import Waveforms

/// What was found in a recording, for messages to whoever made it.
public struct RecordingReport: Sendable, Hashable {
  /// The noise between words, in dBFS (RMS, above 60 Hz); minus infinity for digital silence.
  public var noiseFloorDBFS: Double

  /// The highest sample of the source, in dBFS.
  public var peakDBFS: Double

  /// How many of the source's samples are clipped.
  public var clippedSamples: Int

  /// The mean of all samples, 1 being full scale; it is taken off.
  public var dcOffset: Double

  /// How far the loudest 5 ms of the voice stand above the noise, in dB; infinity for digital silence.
  public var voiceToNoiseDB: Double
}

/// A recording made into a pack's clip.
public struct PreparedClip: Sendable, Hashable {
  /// Mono 16-bit at 22,050 Hz, trimmed to the voice, levelled, both ends exactly zero.
  public var waveform: Waveform
  public var report: RecordingReport
}

/// Makes a clip of a recording: DC and rumble off, trimmed to the voice, as loud as every other clip, ends faded.
///
/// At most 13 ms are left before the voice and 17 ms after it, of what is louder than -50 dBFS when levelled at most
/// 5 ms on both sides. The level is ``loudnessLUFS``, with at most -1 dBTP, and the fades are 3 ms
/// long. The same recording gives the same clip.
public struct ClipPreparation: Sendable, Hashable {
  /// The longest clip, in seconds.
  public static let maximumSeconds = 20

  /// Left before and after the frames (5 ms) in which voice was found, in ms.
  private static let (before, after) = (8, 12)

  /// 3 ms, in samples.
  private static let fadeLength = 66

  /// What each clip is levelled to, in LUFS: half a LU above the -16 of an announcement, because the pauses between clips
  /// lower the whole. Of 500 announcements in each of three packs of clips at -16, the medians were -16.3, -16.6 and
  /// -16.7 LUFS.
  public static let loudnessLUFS = -15.5

  /// The level of clips that are cut out of running speech, in LUFS. An announcement has fewer of them, and so fewer
  /// pauses: with ``loudnessLUFS`` the loudest of 500 in Hindi was at -14.95 LUFS.
  static let runningSpeechLUFS = -15.7

  private let mastering: Mastering

  /// - Parameter loudnessLUFS: what each clip is levelled to.
  public init(loudnessLUFS: Double = Self.loudnessLUFS) { mastering = Mastering(targetLUFS: loudnessLUFS) }

  /// - Throws: `PackMakingError`: `silent`, `tooShort`, `tooLong`, `levelUnreachable`, `conversionFailed`.
  public func prepare(_ recording: Recording) throws(PackMakingError) -> PreparedClip {
    let samples = HighPassFilter.apply(to: recording.samples)
    let activity = VoiceActivity(samples)
    let voice = try trimmed(samples, activity)
    let waveform = try leveled(voice)
    let report = RecordingReport(
      noiseFloorDBFS: Self.decibels(activity.noiseFloor), peakDBFS: Self.decibels(recording.sourcePeak),
      clippedSamples: recording.clippedSampleCount, dcOffset: recording.sourceOffset,
      voiceToNoiseDB: activity.noiseFloor > 0 ? Self.decibels(activity.loudest / activity.noiseFloor) : .infinity)
    return PreparedClip(waveform: waveform, report: report)
  }

  private func trimmed(_ samples: [Float], _ activity: VoiceActivity) throws(PackMakingError) -> ArraySlice<Float> {
    guard let voice = activity.extent else {
      throw activity.isEmpty
        ? Self.fault(.silent, "has no voice in it", "check the microphone, and record it again")
        : Self.fault(.tooShort, "has less than 50 ms of voice in it", "record it again, and let the word end")
    }
    guard voice.count <= Self.maximumSeconds * Recording.sampleRate else {
      throw Self.fault(
        .tooLong, "has more than \(Self.maximumSeconds) s of voice in it",
        "cut it; several recordings in one file are imported with the rows of their sheet")
    }
    let start = max(0, voice.lowerBound - VoiceActivity.samples(Self.before))
    let end = min(samples.count, voice.upperBound + VoiceActivity.samples(Self.after))
    return samples[start..<end]
  }

  private func leveled(_ voice: ArraySlice<Float>) throws(PackMakingError) -> Waveform {
    // Half of full scale in 16 bits first, so that a recording made softly in 24 bits loses nothing to rounding.
    let peak = voice.reduce(Float(0)) { max($0, $1.magnitude) }
    let gain = 16_384 / peak
    let loud = Waveform(
      samples: voice.map { Int16(($0 * gain).rounded(.toNearestOrEven)) }, sampleRate: Recording.sampleRate)
    do {
      var waveform = try mastering.leveled(loud)
      Self.fade(&waveform.samples)
      return waveform
    } catch {
      switch error.code {
      case .silent: throw Self.fault(.silent, "has no voice in it", "check the microphone, and record it again")
      case .loudnessUnreachable:
        throw Self.fault(.levelUnreachable, "has peaks far above its voice", "record it again without clicks")
      case .unsupportedSampleRate, .meterFailed:
        throw Self.fault(.conversionFailed, "could not be levelled (\(error.reason))", "free memory, and try again")
      }
    }
  }

  /// Fades both ends to exact zero along 3t² - 2t³, which has no corners.
  private static func fade(_ samples: inout [Int16]) {
    let length = min(fadeLength, samples.count / 2)
    for index in 0..<length {
      let t = Double(index) / Double(length)
      let factor = t * t * (3 - 2 * t)
      for place in [index, samples.count - 1 - index] {
        samples[place] = Int16((Double(samples[place]) * factor).rounded(.toNearestOrEven))
      }
    }
  }

  private static func decibels(_ amplitude: Float) -> Double { 20 * log10(Double(amplitude)) }

  private static func fault(_ code: PackMakingError.Code, _ problem: String, _ remedy: String) -> PackMakingError {
    PackMakingError(code, "The recording", problem, remedy: remedy)
  }
}
