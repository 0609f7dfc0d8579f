// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundMeasurement
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("ClipPreparation: recordings become consistent clips")
struct ClipPreparationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func prepared(_ samples: [Double], rate: Int = 48_000) throws -> PreparedClip {
    try ClipPreparation().prepare(Recording.read(folder.wav("\(UUID().uuidString).wav", samples, rate: rate)))
  }

  private func code(_ samples: [Double]) -> PackMakingError.Code? {
    #expect(throws: PackMakingError.self) { try prepared(samples) }?.code
  }

  @Test(
    "recordings whose levels differ by 40 dB become clips within 1 LU of -16 LUFS and below -1 dBTP",
    arguments: [0.9, 0.3, 0.03, 0.009])
  func levels(amplitude: Double) throws {
    let clip = try prepared(Signals.take(amplitude, noise: amplitude / 1000))
    let report = try folder.measure(clip.waveform)
    #expect(abs(report.loudnessLUFS + 16) < 1)
    #expect(report.truePeakDBTP <= -0.99)
    #expect(report.sampleRate == 22_050)
    #expect(report.channels == 1)
  }

  @Test("both ends of a prepared clip are exactly zero, without a step before them")
  func ends() throws {
    let samples = try prepared(Signals.take(noise: 0.003)).waveform.samples
    #expect(samples.first == 0)
    #expect(samples.last == 0)
    // A fade has 3 ms, 66 samples, along 3t² - 2t³. After a sixth of that it is at 7 %.
    let noise = samples.dropFirst(100).prefix(100).map { abs(Int($0)) }.max() ?? 0
    for end in [samples.prefix(11), samples.suffix(11)] {
      #expect(end.allSatisfy { abs(Int($0)) <= max(1, noise * 15 / 100) })
    }
  }

  @Test("a DC offset of a tenth of full scale, and rumble, are removed from a recording", arguments: [0.1, -0.1])
  func directCurrent(offset: Double) throws {
    let rumble = Signals.tone(10, 0.05, seconds: 2)
    let clip = try prepared(Signals.mixed(Signals.take(), rumble).map { $0 + offset })
    let mean = clip.waveform.samples.reduce(0.0) { $0 + Double($1) } / Double(clip.waveform.samples.count)
    #expect(abs(mean) < 2)
    let clean = try prepared(Signals.take())
    #expect(abs(clip.waveform.durationMilliseconds - clean.waveform.durationMilliseconds) <= 40)
  }

  @Test("noise around a recorded word is trimmed, whatever its level", arguments: [0, 0.0005, 0.003, 0.01])
  func noiseTrimmed(level: Double) throws {
    let clip = try prepared(Signals.take(noise: level))
    // The word lasts 500 ms, and the last part of its vowel disappears in the noise.
    #expect((420...540).contains(clip.waveform.durationMilliseconds))
  }

  @Test("the beginning of a word, if it is 26 dB quieter than the vowel, is kept to within 10 ms")
  func softOnset() throws {
    let quiet = Signals.silence(seconds: 0.5)
    func length(hiss: Double) throws -> Int {
      let sound = quiet + Signals.word(0.3, hiss: hiss) + quiet
      return try prepared(Signals.mixed(sound, Signals.noise(0.001, seconds: 2))).waveform.durationMilliseconds
    }
    // The hiss lasts 80 ms.
    let kept = try length(hiss: 0.05) - length(hiss: 0)
    #expect(kept >= 65)
  }

  @Test("a recorded word that was cut without any noise around it keeps its quiet beginning")
  func cutClose() throws {
    let word = Signals.word(0.3, seconds: 0.4)
    #expect(try prepared(word).waveform.durationMilliseconds >= 375)
    let edges = Signals.silence(seconds: 0.3)
    #expect(try prepared(edges + word + edges).waveform.durationMilliseconds >= 375)
  }

  @Test("a click beside a recorded word is removed")
  func click() throws {
    var take = Signals.take()
    for index in 4800..<4900 { take[index] += index % 2 == 0 ? 0.3 : -0.3 }
    let clip = try prepared(take)
    #expect(clip.waveform.durationMilliseconds <= 540)
  }

  @Test("a pause inside a recorded phrase is kept")
  func phrase() throws {
    let clip = try prepared(Signals.take() + Signals.take())
    #expect((1900...2050).contains(clip.waveform.durationMilliseconds))
  }

  @Test("a steady tone in a recording counts as voice from end to end")
  func steadyTone() throws {
    let clip = try prepared(Signals.tone(440, 0.3, seconds: 1))
    #expect(abs(clip.waveform.durationMilliseconds - 1000) <= 15)
  }

  @Test("the report on a recording has the clipped samples and the distance of voice and noise")
  func report() throws {
    let take = Signals.take(0.5, noise: 0.003)
    // 0.003/√3 is -55.2 dBFS over 24 kHz. 11 kHz of that remain, and the quietest frames are 1 dB lower.
    let recording = try Recording.read(folder.wav("noise.wav", take, rate: 48_000))
    let noise = VoiceActivity(HighPassFilter.apply(to: recording.samples)).noiseFloor
    #expect(abs(20 * log10(Double(noise)) - -59.5) < 1)
    let report = try prepared(take).report
    #expect(report.clippedSamples == 0)
    #expect((30...50).contains(report.voiceToNoiseDB))
    #expect(try prepared(Signals.take(4)).report.clippedSamples > 100)
  }

  @Test("the same recording always gives the same clip")
  func repeatable() throws {
    #expect(try prepared(Signals.take()) == prepared(Signals.take()))
  }

  @Test("a silent recording, and a recording of noise alone, contain no voice")
  func silent() {
    #expect(code(Signals.silence(seconds: 1)) == .silent)
    #expect(code(Signals.noise(0.005, seconds: 1)) == .silent)
    #expect(code(Signals.silence(seconds: 1).map { $0 + 0.2 }) == .silent)
    #expect(code([]) == .silent)
  }

  @Test("a recording of a click alone is too short")
  func tooShort() {
    let quiet = Signals.silence(seconds: 0.5)
    #expect(code(quiet + Signals.tone(1000, 0.5, seconds: 0.02) + quiet) == .tooShort)
  }

  @Test("a recording with more than 20 s between its first and its last sound is too long")
  func tooLong() {
    #expect(code(Signals.take() + Signals.silence(seconds: 20) + Signals.take()) == .tooLong)
  }
}
