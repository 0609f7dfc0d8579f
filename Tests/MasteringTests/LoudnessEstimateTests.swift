// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@testable import Mastering

@Suite("The fast measurement of loudness")
struct LoudnessEstimateTests {
  @Test(
    "the fast measurement of loudness agrees with libebur128 within 0.1 LU",
    arguments: [0.4, 0.5, 0.99, 1.0, 2.3, 3.71, 12.0, 29.9])
  func agrees(seconds: Double) throws {
    let sounds = [
      TestSounds.speech(seconds: seconds), TestSounds.tone(440, amplitude: 0.3, seconds: seconds),
      TestSounds.speech(seconds: seconds / 2) + TestSounds.silence(seconds: seconds / 2),
      TestSounds.noise(amplitude: 0.2, seconds: seconds),
    ]
    for sound in sounds.map({ TestSounds.waveform($0).samples }) {
      let meter = try #require(try LoudnessMeter.hundredths(of: sound, sampleRate: Mastering.sampleRate))
      let estimate = try #require(LoudnessEstimate.hundredths(of: sound))
      #expect(abs(meter - estimate) <= 10)
    }
  }

  @Test(
    "the loudness of a sound without a gating block above the gate is not measured", arguments: [0, 1, 2_204, 8_819])
  func none(count: Int) {
    #expect(LoudnessEstimate.hundredths(of: [Int16](repeating: 9_000, count: count)) == nil)
    #expect(LoudnessEstimate.hundredths(of: [Int16](repeating: 0, count: 44_100)) == nil)
  }
}
