// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundFiles
import VoicePackMaking
import Waveforms

/// Checks that a sound file of any format that libsndfile reads is refused, or is read within its limits.
enum SoundReading {
  /// The longest sound that is read, in seconds.
  private static let longest = 2

  /// Reads an upload in each of the ways in which the service reads one.
  @Sendable static func check(_ bytes: [UInt8]) {
    if let sound = try? SoundFiles.decode(bytes) {
      require(sound.waveform.sampleRate > 0, "a decoded sound has a sample rate")
    }
    if let mix = try? SoundFiles.mix(bytes, longestSeconds: longest) {
      require(mix.samples.count <= longest * mix.sampleRate, "a mix is no longer than its limit")
    }
    if let survey = try? SoundFiles.survey(bytes, first: longest, clippedRun: 3) {
      require(survey.mix.samples.count <= longest * survey.sampleRate, "a survey is no longer than its limit")
      require(survey.peak >= 0 && survey.clippedSamples >= 0, "levels and counts are not negative")
    }
  }

  /// Reads a recording for a voice pack, which is a file.
  @Sendable static func checkRecording(_ bytes: [UInt8]) {
    let file = URL.temporaryDirectory.appending(path: "crier-fuzz-\(ProcessInfo.processInfo.processIdentifier).wav")
    defer { try? FileManager.default.removeItem(at: file) }
    require((try? Data(bytes).write(to: file)) != nil, "the file for the input is written")
    guard let recording = try? Recording.read(file) else { return }
    require((4_000...192_000).contains(recording.sourceSampleRate), "a recording has a usable sample rate")
    require(recording.samples.allSatisfy { $0.isFinite }, "a recording's samples are numbers")
  }
}
