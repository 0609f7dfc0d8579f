// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Waveforms

@testable import Mastering

@Suite("LookAheadLimiter: peaks are reduced inaudibly")
struct LookAheadLimiterTests {
  private let ceiling: Float = 20_000
  private let blockMilliseconds = 8 * 1000 / 22_050.0

  /// Returns the gain in dB at each knot.
  private func gains(_ sound: Waveform, gain: Float = 1) -> [Double] {
    var limiter = LookAheadLimiter(SampleBlocks(sound.samples))
    return limiter.curve(gain: gain, ceiling: ceiling).map { 20 * log10(Double($0)) }
  }

  @Test("the limiter leaves a sound below the ceiling unchanged, bit for bit")
  func untouched() {
    let sound = TestSounds.waveform(TestSounds.speech(seconds: 1, amplitude: 0.3))
    let signal = SampleBlocks(sound.samples)
    var limiter = LookAheadLimiter(signal)
    let curve = limiter.curve(gain: 1, ceiling: 32_768)
    #expect(curve.allSatisfy { $0 == 1 })
    #expect(signal.rendered(gain: 1, curve: curve) == sound.samples)
  }

  @Test("the limiter keeps the true peak of every sound under the ceiling", arguments: TestSounds.all.keys.sorted())
  func ceilingHolds(name: String) throws {
    let sound = try #require(TestSounds.all[name])
    let signal = SampleBlocks(sound.samples)
    var limiter = LookAheadLimiter(signal)
    for gain in [1, 2, 4] as [Float] {
      let samples = signal.rendered(gain: gain, curve: limiter.curve(gain: gain, ceiling: ceiling))
      let peak = pow(10, Double(TruePeak.hundredthsDBTP(of: samples)) / 2000) * 32_768
      #expect(peak <= Double(ceiling) * 1.012)  // 0.1 dB is the headroom that Mastering keeps.
    }
  }

  @Test("the limiter's gain begins to fall 2 to 5 ms before a peak")
  func lookAhead() throws {
    var samples = [Int16](repeating: 0, count: 22_050)
    samples[11_025] = 32_000
    let curve = gains(Waveform(samples: samples, sampleRate: 22_050))
    let start = try #require(curve.firstIndex { $0 < -0.01 })
    let bottom = try #require(curve.indices.min { curve[$0] < curve[$1] })
    let ahead = (Double(11_025 / 8 + SampleBlocks.margin) - Double(start)) * blockMilliseconds
    #expect((2...5).contains(ahead))
    #expect(Double(bottom - SampleBlocks.margin) * 8 <= 11_025)
  }

  @Test("after a peak, the limiter's gain recovers with a time constant of 80 ms")
  func release() throws {
    var samples = [Int16](repeating: 0, count: 22_050)
    samples[4000] = 32_000
    let curve = gains(Waveform(samples: samples, sampleRate: 22_050)).map { 1 - pow(10, $0 / 20) }
    let bottom = try #require(curve.indices.max { curve[$0] < curve[$1] })
    let later = bottom + 40
    let left = curve[later + 220] / curve[later]  // 220 blocks are 79.8 ms.
    #expect(abs(left - exp(-79.8 / 80)) < 0.01)
  }

  @Test("during a vowel, the limiter's gain changes by less than 0.6 dB within a period")
  func noDistortion() {
    // The sound has pulses at 120 Hz, limited by 6 dB.
    let vowel = TestSounds.waveform(
      (0..<11_025).map { index in
        (1...20).reduce(0.0) { $0 + cos(2 * .pi * 120 * Double($1) * Double(index) / 22_050) } / 20 * 0.95
      })
    let curve = gains(vowel, gain: 1.3)
    let middle = curve[300..<1000]
    #expect((middle.min() ?? 0) < -5)
    #expect((middle.max() ?? 0) - (middle.min() ?? 0) < 0.6)
  }

  @Test("in limited speech, the gain falls by at most 2 dB per ms and rises by at most 0.2 dB per ms")
  func slopes() {
    let curve = gains(TestSounds.waveform(TestSounds.speech(seconds: 2, pitch: 110, amplitude: 0.9)), gain: 1.6)
    let slopes = zip(curve, curve.dropFirst()).map { ($1 - $0) / blockMilliseconds }
    #expect((slopes.min() ?? 0) < 0, "the test requires that the sound is limited")
    #expect((slopes.min() ?? 0) >= -2)
    #expect((slopes.max() ?? 0) <= 0.2)
  }
}
