// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
import VoicePacks
import Waveforms

/// The measurements of a pack's clip, and the faults that a listener would hear.
struct ClipSound {
  /// The target level of a pack's clips, in LUFS.
  static let targetLUFS = ClipPreparation.loudnessLUFS
  /// The largest permitted difference from the target level, in LU.
  static let tolerance = 1.0
  /// The highest true peak, in dBTP. It is 0.5 dB above the limit of -1 dBTP for making clips.
  static let highestTruePeakDBTP = -0.5
  /// The smallest number of consecutive samples at full scale that shows clipping. No voice produces as many.
  static let clippedRun = 3
  /// The highest permitted noise floor in dBFS. It is judged over a whole pack.
  static let highestNoiseDBFS = -50.0
  /// The largest permitted offset, as a share of full scale.
  static let greatestOffset = 0.002
  /// The longest permitted silence at each end, in ms.
  static let longestSilenceMilliseconds = 40
  static let longestMilliseconds = 5_000

  /// The level in LUFS; `nil` for a silent clip.
  private(set) var loudnessLUFS: Double?
  /// The level of the quietest 5 ms in dBFS; `nil` for a clip that is silent or too short to measure.
  private(set) var quietestDBFS: Double?
  private(set) var findings: [PackFinding] = []

  /// Measures a clip.
  ///
  /// - Parameters:
  ///   - file: the clip's name, for findings.
  ///   - waveform: the sound, at `Mastering.sampleRate`.
  init(file: String, _ waveform: Waveform) {
    let samples = waveform.samples
    let threshold = UInt16(32_768 * pow(10, Mastering.silenceThresholdDBFS / 20))
    guard
      let first = samples.firstIndex(where: { $0.magnitude > threshold }),
      let last = samples.lastIndex(where: { $0.magnitude > threshold }),
      let measures = try? Mastering.measure(waveform)
    else {
      findings = [
        PackFinding(.error, .silentClip, file, "contains nothing above -50 dBFS", "record the word again")
      ]
      return
    }
    loudnessLUFS = measures.loudnessLUFS

    func warn(_ code: PackFinding.Code, _ problem: String, _ remedy: String) {
      findings.append(PackFinding(.warning, code, file, problem, remedy))
    }
    let clipped = Self.clippedRuns(samples)
    if clipped > 0 {
      warn(
        .clipping, "stays at full scale for \(Self.clippedRun) or more samples, \(clipped) times",
        "record the word again with less gain")
    } else if measures.truePeakDBTP > Self.highestTruePeakDBTP {
      warn(
        .clipping, "has a true peak of \(PackCheckReport.tenths(measures.truePeakDBTP)) dBTP, but should stay below -1",
        "import the recording again to level it")
    }
    if abs(measures.loudnessLUFS - Self.targetLUFS) > Self.tolerance {
      warn(
        .loudnessOff,
        "has \(PackCheckReport.tenths(measures.loudnessLUFS)) LUFS, more than 1 LU from \(Self.targetLUFS)",
        "import the recording again to level it")
    }
    quietestDBFS = Self.quietestDBFS(samples)
    if abs(measures.constantOffset) > Self.greatestOffset {
      warn(
        .offset, "has an offset of \(PackCheckReport.tenths(abs(measures.constantOffset) * 100)) % of full scale",
        "import the recording again to remove it")
    }
    let ends = [("before", first), ("after", samples.count - 1 - last)].compactMap { place, count -> String? in
      let milliseconds = count * 1000 / waveform.sampleRate
      return milliseconds > Self.longestSilenceMilliseconds ? "\(milliseconds) ms \(place) the voice" : nil
    }
    if !ends.isEmpty {
      warn(
        .silenceAtEnds, "has a silence of \(ends.joined(separator: " and ")), which sounds like a pause",
        "trim it to \(Self.longestSilenceMilliseconds) ms or less")
    }
    if samples.first != 0 || samples.last != 0 {
      warn(.openEdges, "does not begin and end at zero, so it clicks", "fade it over 3 ms at both ends")
    }
    if waveform.durationMilliseconds > Self.longestMilliseconds {
      let isRefused = waveform.samples.count > VoicePack.maximumClipSeconds * waveform.sampleRate
      findings.append(
        PackFinding(
          isRefused ? .error : .warning, .tooLong, file,
          "lasts \(PackCheckReport.tenths(Double(waveform.durationMilliseconds) / 1000)) s", "keep one word in a clip"))
    }
  }

  /// Returns how many times the sound stays at full scale for ``clippedRun`` samples or more.
  private static func clippedRuns(_ samples: [Int16]) -> Int {
    var (runs, length) = (0, 0)
    for sample in samples {
      length = sample.magnitude >= 32_767 ? length + 1 : 0
      if length == clippedRun { runs += 1 }
    }
    return runs
  }

  /// Returns the level of the quietest 5 ms.
  ///
  /// In a trimmed clip a percentile would measure the voice itself. The noise of a room is present in the whole clip,
  /// so the quietest moment shows the noise. This moment is before the voice, after it, or in the closure of a
  /// consonant. A frame of 5 ms is shorter than any of these, and shorter than the margin that is kept around a voice.
  /// Zeros added at the ends and the fades of 3 ms are not part of the room and are excluded.
  private static func quietestDBFS(_ samples: [Int16]) -> Double? {
    let (frame, hop, fade) = (110, 22, 66)
    guard let first = samples.firstIndex(where: { $0 != 0 }), let last = samples.lastIndex(where: { $0 != 0 }) else {
      return nil
    }
    let start = first + fade
    let end = last + 1 - fade - frame
    guard start <= end else { return nil }
    let quietest = stride(from: start, through: end, by: hop).map { position in
      // The level is measured relative to the frame's mean, because an offset is not noise.
      var (sum, squares) = (0, 0)
      for sample in samples[position..<position + frame] {
        sum += Int(sample)
        squares += Int(sample) * Int(sample)
      }
      let mean = Double(sum) / Double(frame)
      return Double(squares) / Double(frame) - mean * mean
    }.min()
    guard let quietest else { return nil }
    return 10 * log10(max(quietest, 0.01) / (32_768 * 32_768))
  }
}
