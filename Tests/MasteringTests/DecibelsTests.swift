// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Waveforms

@testable import Mastering

@Suite("The arithmetic gives the same bits on every machine")
struct DecibelsTests {
  @Test("the factors for decibels agree with the power function to 12 digits")
  func factors() {
    for hundredths in -7000...7000 {
      let expected = pow(10, Double(hundredths) / 2000)
      #expect(abs(Decibels.factor(hundredths: hundredths) / expected - 1) < 1e-12)
    }
  }

  @Test("decibels are rounded to whole hundredths")
  func hundredths() {
    #expect(Decibels.hundredths(-16.004) == -1600)
    #expect(Decibels.hundredths(-15.996) == -1600)
    #expect(Decibels.hundredths(0.126) == 13)
  }

  @Test("a fade is a raised cosine from 0 to 1, with an error of at most 10⁻⁷")
  func fade() {
    for count in [1, 2, 44, 110] {
      for index in 0...count {
        let expected = (1 - cos(.pi * Double(index) / Double(count))) / 2
        #expect(abs(Fade.factor(index, of: count) - expected) < 2e-7)
      }
    }
  }

  @Test("samples are rounded to the nearest integer, with halves to even, and never wrap around")
  func rounding() {
    let samples: [Int16] = [1, 3, 5, -1, -3, -5, 32_767, -32_768, 0, 2]
    let signal = SampleBlocks(samples)
    let flat = [Float](repeating: 1, count: signal.blocks.count + 1)
    #expect(signal.rendered(gain: 0.5, curve: flat) == [0, 2, 2, 0, -2, -2, 16_384, -16_384, 0, 1])
    #expect(signal.rendered(gain: 1, curve: flat) == [1, 3, 5, -1, -3, -5, 32_767, -32_767, 0, 2])
    #expect(signal.rendered(gain: 100, curve: flat).map { abs(Int($0)) }.max() == 32_767)
  }

  @Test("a constant offset of a sound is found, and speech that is asymmetric for a moment has no offset")
  func offset() {
    let speech = TestSounds.silence(seconds: 0.1) + TestSounds.speech(seconds: 1)
    #expect(ConstantOffset.find(in: TestSounds.waveform(speech).samples) == 0)
    let lifted = ConstantOffset.find(in: TestSounds.waveform(speech.map { $0 * 0.5 + 0.05 }).samples)
    #expect(abs(lifted - 1638) < 40)
    let leaning = TestSounds.silence(seconds: 0.1) + TestSounds.noise(amplitude: 0.2, seconds: 0.3).map { $0 + 0.05 }
    #expect(ConstantOffset.find(in: TestSounds.waveform(leaning).samples) == 0)
  }
}
