// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
import SoundMeasurement
import Testing
import Waveforms

@Suite("Mastering: every announcement equally loud, without silence or clicks at its ends")
struct MasteringTests {
  private let mastering = Mastering()

  @Test(
    "libebur128 and libsndfile measure the promised loudness, true peak, silence and format in mastered files",
    arguments: TestSounds.all.keys.sorted())
  func measured(name: String) throws {
    let mastered = try mastering.master(#require(TestSounds.all[name]))
    let report = try TestSounds.measure(mastered.waveform)
    #expect(abs(report.loudnessLUFS + 16) <= 1)
    #expect(abs(report.loudnessLUFS - mastered.loudnessLUFS) <= 0.006)
    #expect(report.truePeakDBTP <= -1)
    #expect(mastered.truePeakDBTP <= -1)
    // The two filters evaluate different points between the samples, which matters for noise up to half the sample
    // rate.
    #expect(abs(report.truePeakDBTP - mastered.truePeakDBTP) <= (name == "white noise" ? 0.5 : 0.2))
    #expect(abs(report.leadingSilenceMilliseconds - 30) <= 1)
    #expect(abs(report.trailingSilenceMilliseconds - 30) <= 1)
    #expect(report.sampleRate == 22_050 && report.channels == 1 && report.encoding == "Signed 16 bit PCM")
    #expect(abs(report.dcOffset) < 0.005)
    #expect(mastered.waveform.samples.first == 0 && mastered.waveform.samples.last == 0)
  }

  @Test("mastered speech is within 0.3 LU of the target loudness, whatever its original level")
  func levels() throws {
    for amplitude in [0.003, 0.02, 0.1, 0.5, 1.5] {
      let speech = TestSounds.waveform(TestSounds.speech(seconds: 1.5, amplitude: amplitude))
      #expect(abs(try mastering.master(speech).loudnessLUFS + 16) <= 0.3)
    }
  }

  @Test("mastering also reaches other loudness targets and other ceilings")
  func settings() throws {
    let speech = TestSounds.waveform(TestSounds.speech(seconds: 1.5))
    let mastered = try Mastering(targetLUFS: -23, maximumTruePeakDBTP: -6).master(speech)
    let report = try TestSounds.measure(mastered.waveform)
    #expect(abs(report.loudnessLUFS + 23) <= 0.3)
    #expect(report.truePeakDBTP <= -6)
    #expect(abs(report.leadingSilenceMilliseconds - 30) <= 1)
  }

  @Test("mastering the same sound always gives the same samples")
  func deterministic() throws {
    let speech = TestSounds.waveform(TestSounds.speech(seconds: 1))
    #expect(try mastering.master(speech) == mastering.master(speech))
  }

  @Test("if a change of the code makes mastering give other samples, the version of mastering must change too")
  func pinned() throws {
    // The sound consists of integers, so that it is the same everywhere, and has peaks, so that it is limited.
    let samples = (0..<22_050).map { index -> Int16 in
      let triangle = abs(index * 37 % 4096 - 2048) - 1024
      let peaks = (0..<6).reduce(triangle) { value, _ in value * triangle / 1024 }
      return Int16(peaks * abs(index % 5000 - 2500) / 250)
    }
    let mastered = try mastering.master(Waveform(samples: samples, sampleRate: 22_050))
    #expect((-1.3...(-1)).contains(mastered.truePeakDBTP))
    let digest = mastered.waveform.samples.reduce(UInt64(14_695_981_039_346_656_037)) {
      ($0 ^ UInt64(UInt16(bitPattern: $1))) &* 1_099_511_628_211
    }
    #expect(Mastering.version == 2)
    #expect(digest == 11_142_507_690_875_605_523)
  }

  @Test("mastering a mastered sound changes almost nothing")
  func again() throws {
    let once = try mastering.master(TestSounds.waveform(TestSounds.speech(seconds: 1.5)))
    let twice = try mastering.master(once.waveform)
    #expect(abs(once.waveform.samples.count - twice.waveform.samples.count) < 110)  // 5 ms.
    #expect(abs(once.loudnessLUFS - twice.loudnessLUFS) <= 0.3)
  }

  @Test("a mastered sound of less than 400 ms is, for its duration, as loud as a long sound")
  func short() throws {
    for seconds in [0.05, 0.12, 0.3] {
      let mastered = try mastering.master(TestSounds.waveform(TestSounds.tone(1000, amplitude: 0.1, seconds: seconds)))
      #expect(mastered.waveform.durationMilliseconds < 400)
      #expect(abs(mastered.loudnessLUFS + 16) <= 1)
      let repeated = try Waveform.joined(
        Array(repeating: mastered.waveform, count: 40), pausesMilliseconds: Array(repeating: 0, count: 39))
      #expect(abs(try TestSounds.measure(repeated).loudnessLUFS + 16) <= 1)
    }
  }

  @Test("mastering a sound that is too short for its fades does not crash the program")
  func tiny() {
    for count in 1...200 {
      let square = TestSounds.square(period: 20, amplitude: 0.5, seconds: 1).prefix(count)
      do {
        let mastered = try mastering.master(TestSounds.waveform(Array(square)))
        #expect(mastered.waveform.samples.count > 1000)
      } catch {
        #expect(error.code == .loudnessUnreachable || error.code == .silent)
      }
    }
  }

  @Test("a recording whose ends are not zero is faded, so that there is no step")
  func fades() throws {
    let cosine = (0..<22_050).map { 0.4 * cos(Double($0) * 0.05) }
    let report = try TestSounds.measure(mastering.master(TestSounds.waveform(cosine)).waveform)
    // The steepest step of a tone with amplitude A is A × 0.05 per sample.
    #expect(report.largestStep < report.samplePeak * 0.06)
  }

  @Test("mastering shifts marks by the trimming, and limits them to the remaining sound")
  func marks() throws {
    let sound = TestSounds.waveform(
      TestSounds.silence(seconds: 0.5) + TestSounds.tone(1000, amplitude: 0.5, seconds: 1),
      marks: [
        .init(text: "before", startMilliseconds: 0, endMilliseconds: 480),
        .init(text: "within", startMilliseconds: 600, endMilliseconds: 900),
        .init(text: "after", startMilliseconds: 1400, endMilliseconds: 9000),
      ])
    let marks = try mastering.master(sound).waveform.marks
    #expect(marks.map(\.text) == ["before", "within", "after"])
    for (mark, expected) in zip(marks, [(0, 10), (130, 430), (930, 1060)]) {
      #expect(abs(mark.startMilliseconds - expected.0) <= 1 && abs(mark.endMilliseconds - expected.1) <= 1)
    }
  }

  @Test("mastering shifts the marks of a recording without a lead-in by the added silence")
  func addedSilence() throws {
    let sound = TestSounds.waveform(
      TestSounds.tone(1000, amplitude: 0.5, seconds: 1),
      marks: [.init(text: "a", startMilliseconds: 0, endMilliseconds: 1000)])
    let mark = try #require(try mastering.master(sound).waveform.marks.first)
    #expect(mark.startMilliseconds == 30 && mark.endMilliseconds == 1030)
  }

  @Test(
    "a silent sound is an error, in any form",
    arguments: [
      [], [0], Array(repeating: 0, count: 22_050), Array(repeating: 20, count: 22_050),
      (0..<22_050).map { Int16($0 % 2 * 2) }, Array(repeating: 12_000, count: 22_050),
    ] as [[Int16]])
  func silent(samples: [Int16]) {
    #expect(code(Waveform(samples: samples, sampleRate: 22_050)) == .silent)
  }

  @Test("a sound at a rate other than 22,050 Hz is refused and not converted")
  func otherRate() {
    let sound = Waveform(samples: TestSounds.waveform(TestSounds.speech(seconds: 1)).samples, sampleRate: 16_000)
    #expect(code(sound) == .unsupportedSampleRate)
  }

  @Test("an isolated click cannot be made as loud as a voice, and the error says so")
  func click() {
    var samples = [Int16](repeating: 0, count: 22_050)
    samples[11_000] = 20_000
    let sound = Waveform(samples: samples, sampleRate: 22_050)
    #expect(code(sound) == .loudnessUnreachable)
    #expect(throws: Never.self) { try mastering.leveled(sound) }
  }

  @Test("the description of a mastering error says what to do next, and contains nothing of the sound")
  func description() {
    do {
      _ = try mastering.master(Waveform(samples: [], sampleRate: 22_050))
      Issue.record("no error")
    } catch {
      #expect(
        error.description
          == "The sound cannot be mastered: no part of it is loud enough to be heard; check that the engine spoke the text."
      )
    }
  }

  @Test("the parts of two voices are levelled to the same loudness, and each keeps 5 ms of silence at its ends")
  func leveled() throws {
    let loud = try mastering.leveled(TestSounds.waveform(TestSounds.speech(seconds: 1, pitch: 120, amplitude: 0.9)))
    let quiet = try mastering.leveled(TestSounds.waveform(TestSounds.speech(seconds: 1, pitch: 230, amplitude: 0.05)))
    let reports = try [loud, quiet].map(TestSounds.measure)
    for report in reports {
      #expect(abs(report.loudnessLUFS + 16) <= 1)
      #expect(abs(report.leadingSilenceMilliseconds - 5) <= 0.5)
      #expect(abs(report.trailingSilenceMilliseconds - 5) <= 0.5)
      #expect(report.truePeakDBTP <= -1)
    }
    let joined = try mastering.master(Waveform.joined([loud, quiet, loud], pausesMilliseconds: [60, 60]))
    #expect(abs(joined.loudnessLUFS + 16) <= 0.3)
  }

  private func code(_ waveform: Waveform) -> MasteringError.Code? {
    do {
      _ = try mastering.master(waveform)
      return nil
    } catch {
      return error.code
    }
  }
}
