// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
import VoicePacks
import Waveforms

/// What a clip of a voice pack measures, and what of it a listener would hear.
struct ClipSound {
  /// What a pack's clips are levelled to, in LUFS.
  static let targetLUFS = ClipPreparation.loudnessLUFS
  /// How far a clip may lie from it, in LU.
  static let tolerance = 1.0
  /// The highest true peak, in dBTP: 0.5 dB above the -1 dBTP that clips are made with.
  static let highestTruePeakDBTP = -0.5
  /// Samples at full scale on end that no voice makes.
  static let clippedRun = 3
  /// The highest noise floor, in dBFS; judged over a whole pack.
  static let highestNoiseDBFS = -50.0
  /// As a share of full scale.
  static let greatestOffset = 0.002
  /// In ms.
  static let longestSilenceMilliseconds = 40
  static let longestMilliseconds = 5_000

  /// In LUFS; `nil` for a silent clip.
  private(set) var loudnessLUFS: Double?
  /// The level of the quietest 5 ms, in dBFS; `nil` for a clip that is silent or too short to tell.
  private(set) var quietestDBFS: Double?
  private(set) var findings: [PackFinding] = []

  /// - Parameters:
  ///   - file: the clip's name, for findings.
  ///   - waveform: at `Mastering.sampleRate`.
  init(file: String, _ waveform: Waveform) {
    let samples = waveform.samples
    let threshold = UInt16(32_768 * pow(10, Mastering.silenceThresholdDBFS / 20))
    guard
      let first = samples.firstIndex(where: { $0.magnitude > threshold }),
      let last = samples.lastIndex(where: { $0.magnitude > threshold }),
      let measures = try? Mastering.measure(waveform)
    else {
      findings = [
        PackFinding(.error, .silentClip, file, "has nothing in it that is above -50 dBFS", "record the word again")
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
        .clipping, "is at full scale for \(Self.clippedRun) samples or more on end, \(clipped) times",
        "record the word again with less gain")
    } else if measures.truePeakDBTP > Self.highestTruePeakDBTP {
      warn(
        .clipping, "has a true peak of \(PackCheckReport.tenths(measures.truePeakDBTP)) dBTP and should stay below -1",
        "import the recording again, which levels it")
    }
    if abs(measures.loudnessLUFS - Self.targetLUFS) > Self.tolerance {
      warn(
        .loudnessOff,
        "has \(PackCheckReport.tenths(measures.loudnessLUFS)) LUFS and should have \(Self.targetLUFS) within 1 LU",
        "import the recording again, which levels it")
    }
    quietestDBFS = Self.quietestDBFS(samples)
    if abs(measures.constantOffset) > Self.greatestOffset {
      warn(
        .offset, "lies \(PackCheckReport.tenths(abs(measures.constantOffset) * 100)) % of full scale off zero",
        "import the recording again, which takes that off")
    }
    let ends = [("before", first), ("after", samples.count - 1 - last)].compactMap { place, count -> String? in
      let milliseconds = count * 1000 / waveform.sampleRate
      return milliseconds > Self.longestSilenceMilliseconds ? "\(milliseconds) ms \(place) the voice" : nil
    }
    if !ends.isEmpty {
      warn(
        .silenceAtEnds, "has a silence of \(ends.joined(separator: " and ")), which would be heard as a pause",
        "trim it to \(Self.longestSilenceMilliseconds) ms or less")
    }
    if samples.first != 0 || samples.last != 0 {
      warn(.openEdges, "does not begin and end at zero, which clicks", "fade it over 3 ms at both ends")
    }
    if waveform.durationMilliseconds > Self.longestMilliseconds {
      let isRefused = waveform.samples.count > VoicePack.maximumClipSeconds * waveform.sampleRate
      findings.append(
        PackFinding(
          isRefused ? .error : .warning, .tooLong, file,
          "lasts \(PackCheckReport.tenths(Double(waveform.durationMilliseconds) / 1000)) s", "keep one word in a clip"))
    }
  }

  /// How often the sound stays at full scale.
  private static func clippedRuns(_ samples: [Int16]) -> Int {
    var (runs, length) = (0, 0)
    for sample in samples {
      length = sample.magnitude >= 32_767 ? length + 1 : 0
      if length == clippedRun { runs += 1 }
    }
    return runs
  }

  /// A percentile would read the voice itself in a clip that is trimmed to it. The noise of a room is in all of a clip,
  /// so its quietest moment shows it: before the voice, behind it, or in the closure of a consonant. 5 ms are less than
  /// the shortest of these and than what making a clip leaves around a voice. Zeros added at the ends and the fades
  /// of 3 ms are no part of the room, and are left out.
  private static func quietestDBFS(_ samples: [Int16]) -> Double? {
    let (frame, hop, fade) = (110, 22, 66)
    guard let first = samples.firstIndex(where: { $0 != 0 }), let last = samples.lastIndex(where: { $0 != 0 }) else {
      return nil
    }
    let start = first + fade
    let end = last + 1 - fade - frame
    guard start <= end else { return nil }
    let quietest = stride(from: start, through: end, by: hop).map { position in
      // Around its own mean: an offset is not noise.
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
