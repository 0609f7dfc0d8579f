// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
public import Waveforms

/// The measurements of a recording, from which its warnings are made.
public struct RecordingReport: Sendable, Hashable {
  /// The number of clipped samples in the source.
  public var clippedSamples: Int

  /// The sample rate of the source in Hz.
  public var sampleRate: Int

  /// How far the loudest 5 ms of the voice are above the noise, in dB; infinity if the noise is digital silence.
  public var voiceToNoiseDB: Double

  /// The longest silence between two sounds of the recording, in ms; 0 if there is only one sound.
  public var longestPauseMilliseconds = 0
}

/// A recording that was converted into a clip of a pack.
public struct PreparedClip: Sendable, Hashable {
  /// The clip: mono 16-bit at 22,050 Hz, trimmed to the voice, levelled, with both ends at exactly zero.
  public var waveform: Waveform
  public var report: RecordingReport
}

/// Converts a recording into a clip. It removes DC and rumble, trims the recording to the voice, levels it like every
/// other clip, and fades its ends.
///
/// At most 13 ms remain before the voice and at most 17 ms after it. After levelling, at most 5 ms of the remainder on
/// each side are louder than -50 dBFS. The level is ``loudnessLUFS`` with a true peak of at most -1 dBTP, and the fades
/// are 3 ms long. The same recording always gives the same clip.
public struct ClipPreparation: Sendable, Hashable {
  /// The longest duration of a clip, in seconds.
  public static let maximumSeconds = 20

  /// The times in ms that are kept before the first and after the last frame (5 ms) that contains voice.
  private static let (before, after) = (8, 12)

  /// The length of a fade in samples, which is 3 ms.
  private static let fadeLength = 66

  /// The level of each clip in LUFS. It is half a LU above the level of an announcement (-16 LUFS), because the pauses
  /// between clips lower the level of the whole. When clips had -16 LUFS, 500 announcements from each of three packs
  /// had medians of -16.3, -16.6 and -16.7 LUFS.
  public static let loudnessLUFS = -15.5

  /// The level in LUFS of clips that are cut out of running speech. An announcement needs fewer clips of this kind, and
  /// so has fewer pauses. At ``loudnessLUFS``, the loudest of 500 announcements in Hindi had -14.95 LUFS.
  static let runningSpeechLUFS = -15.7

  private let mastering: Mastering

  /// Creates a preparation.
  ///
  /// - Parameter loudnessLUFS: the level of each clip in LUFS.
  public init(loudnessLUFS: Double = Self.loudnessLUFS) { mastering = Mastering(targetLUFS: loudnessLUFS) }

  /// Converts a recording into a clip.
  ///
  /// - Throws: `PackMakingError`: `silent`, `tooShort`, `tooLong`, `levelUnreachable`, `conversionFailed`.
  public func prepare(_ recording: Recording) throws(PackMakingError) -> PreparedClip {
    let samples = HighPassFilter.apply(to: recording.samples)
    let activity = VoiceActivity(samples)
    let voice = try trimmed(samples, activity)
    let waveform = try leveled(voice)
    let report = RecordingReport(
      clippedSamples: recording.clippedSampleCount, sampleRate: recording.sourceSampleRate,
      voiceToNoiseDB: activity.noiseFloor > 0 ? 20 * log10(Double(activity.loudest / activity.noiseFloor)) : .infinity,
      longestPauseMilliseconds: activity.longestPauseMilliseconds)
    return PreparedClip(waveform: waveform, report: report)
  }

  private func trimmed(_ samples: [Float], _ activity: VoiceActivity) throws(PackMakingError) -> ArraySlice<Float> {
    guard let voice = activity.extent else {
      throw activity.isEmpty
        ? Self.fault(.silent, "contains no voice", "check the microphone, and record again")
        : Self.fault(.tooShort, "contains less than 50 ms of voice", "record it again with the whole word")
    }
    guard voice.count <= Self.maximumSeconds * Recording.sampleRate else {
      throw Self.fault(
        .tooLong, "contains more than \(Self.maximumSeconds) s of voice",
        "divide it; to import one file with several recordings, give the rows of its sheet")
    }
    let start = max(0, voice.lowerBound - VoiceActivity.samples(Self.before))
    let end = min(samples.count, voice.upperBound + VoiceActivity.samples(Self.after))
    return samples[start..<end]
  }

  private func leveled(_ voice: ArraySlice<Float>) throws(PackMakingError) -> Waveform {
    // The sound is first amplified to half of full scale, so that a quiet 24-bit recording loses no detail when it is
    // rounded to 16 bits.
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
      case .silent: throw Self.fault(.silent, "contains no voice", "check the microphone, and record it again")
      case .loudnessUnreachable:
        throw Self.fault(.levelUnreachable, "has peaks far above its voice", "record it again without clicks")
      case .unsupportedSampleRate, .meterFailed:
        throw Self.fault(.conversionFailed, "could not be levelled (\(error.reason))", "free memory, and try again")
      }
    }
  }

  /// Fades both ends to exactly zero. The fades follow 3t² - 2t³, a curve without corners.
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

  private static func fault(_ code: PackMakingError.Code, _ problem: String, _ remedy: String) -> PackMakingError {
    PackMakingError(code, "The recording", problem, remedy: remedy)
  }
}
