// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("RecordingCutting: one long recording is divided into its words")
struct RecordingCuttingTests {
  /// Returns words of 0.4 s with these pauses in s between them, over noise.
  private func recording(pauses: [Double], noise: Double = 0.001) throws -> Recording {
    let rate = 22_050
    var samples = Signals.silence(seconds: 0.8, rate: rate)
    for pause in pauses + [0.8] {
      samples += Signals.word(0.3, seconds: 0.4, rate: rate) + Signals.silence(seconds: pause, rate: rate)
    }
    let hiss = Signals.noise(noise, seconds: Double(samples.count + 1) / Double(rate), rate: rate)
    return try Recording(Signals.waveform(Signals.mixed(samples, hiss)))
  }

  /// Divides a recording into rows of one word each.
  private func cut(
    _ recording: Recording, into count: Int, by cutting: RecordingCutting = RecordingCutting()
  ) throws -> [Recording] {
    let rows = (0..<count).map { SheetRow(number: $0 + 1, file: "\($0 + 1)", token: "word", text: "word") }
    return try cutting.cut(recording, into: rows, orOnly: []).map(\.recording)
  }

  @Test("each word gets a piece of the long recording, without a part of the next word", arguments: [0, 0.001, 0.005])
  func cuts(noise: Double) throws {
    let recording = try recording(pauses: [0.6, 1.0, 0.7, 3.0], noise: noise)
    let pieces = try cut(recording, into: 5)
    #expect(pieces.count == 5)
    for piece in pieces {
      let milliseconds = piece.samples.count * 1000 / 22_050
      #expect((700...960).contains(milliseconds))
      let clip = try ClipPreparation().prepare(piece)
      #expect((330...440).contains(clip.waveform.durationMilliseconds))
    }
  }

  @Test("a pause divides the recording only if it is at least as long as the given minimum")
  func minimumPause() throws {
    let recording = try recording(pauses: [0.35, 1.0, 0.35])
    #expect(try cut(recording, into: 2).count == 2)
    let cutting = RecordingCutting(minimumPauseMilliseconds: 250)
    #expect(try cut(recording, into: 4, by: cutting).count == 4)
  }

  @Test("a click between words is not a word")
  func click() throws {
    var recording = try recording(pauses: [2.0])
    let middle = recording.samples.count / 2
    for index in middle..<middle + 40 { recording.samples[index] = index % 2 == 0 ? 0.5 : -0.5 }
    #expect(try cut(recording, into: 2).count == 2)
  }

  @Test("if a word was repeated, the error names the sound that is probably one too many, with its time")
  func tooMany() throws {
    let recording = try recording(pauses: [0.6, 1.0])
    let error = #expect(throws: PackMakingError.self) { try cut(recording, into: 2) }
    #expect(error?.code == .utteranceCountMismatch)
    #expect(error?.problem == "was split into 3 pieces at pauses of 500 ms, but the sheet has 2 rows")
    #expect(error?.details.count == 1)
    // The words begin after 0.8, 1.8 and 3.2 s, to within 50 ms.
    let detail = try #require(error?.details.first)
    #expect(["0:00.", "0:01.", "0:03."].contains { detail.hasPrefix($0) })
    #expect(error?.remedy.hasPrefix("cut 0:0") == true)
    let activity = VoiceActivity(HighPassFilter.apply(to: recording.samples))
    let utterances = activity.utterances(minimumPauseMilliseconds: 500)
    #expect(utterances.map { $0.lowerBound / 22_050 } == [0, 1, 3])
    let mismatch = RecordingCutting().mismatch(activity, utterances, wanted: 2)
    #expect(mismatch.remedy.contains("longer minimum pause"))
  }

  @Test("the error for a wrong number of pieces suggests a minimum pause that gives as many pieces as rows")
  func hint() throws {
    let recording = try recording(pauses: [0.35, 1.0, 0.35])
    let error = #expect(throws: PackMakingError.self) { try cut(recording, into: 4) }
    let pause = error?.remedy.split(separator: " ").compactMap { Int($0) }.first
    #expect(error?.remedy.contains("shorter minimum pause") == true)
    let cutting = RecordingCutting(minimumPauseMilliseconds: try #require(pause))
    #expect(try cut(recording, into: 4, by: cutting).count == 4)
  }

  @Test("if no minimum pause gives as many pieces as rows, the error suggests none")
  func noHint() throws {
    let recording = try recording(pauses: [0.6, 0.6])
    for wanted in [9, 0] {
      let error = #expect(throws: PackMakingError.self) { try cut(recording, into: wanted) }
      #expect(error?.code == .utteranceCountMismatch)
      #expect(error?.remedy.contains("gives") == false)
    }
  }

  @Test("a long recording without a voice is reported as silent")
  func silent() throws {
    let quiet = try Recording(Signals.waveform(Signals.noise(0.002, seconds: 2, rate: 22_050)))
    let error = #expect(throws: PackMakingError.self) { try cut(quiet, into: 1) }
    #expect(error?.code == .silent)
  }
}
