// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@testable import Mastering

@Suite("TruePeak: the levels between the samples")
struct TruePeakTests {
  /// Sounds from the smoothest to the roughest that 16 bits can hold.
  private static let sounds: [String: [Int16]] = {
    var sounds = TestSounds.all.mapValues(\.samples)
    for hertz in [40, 440, 3_000, 5_512.5, 8_000, 10_900] {
      sounds["tone of \(hertz) Hz"] =
        TestSounds.waveform(TestSounds.tone(hertz, amplitude: 0.99, seconds: 0.3)).samples
    }
    sounds["noise"] = TestSounds.waveform(TestSounds.noise(amplitude: 1, seconds: 0.5)).samples
    sounds["the highest frequency"] = (0..<2_000).map { $0 % 2 == 0 ? .max : .min }
    sounds["pairs of extremes"] = (0..<2_000).map { $0 % 4 < 2 ? .max : .min }
    sounds["a click"] = (0..<2_000).map { $0 == 1_003 ? .min : 0 }
    // The levels of these two are just below their bounds.
    sounds["a constant"] = Array(repeating: 32_759, count: 100)
    sounds["a curve like the filter"] =
      Array(repeating: 0, count: 4) + Array(repeating: .min, count: 6) + [
        -32_500, -25_000, -17_500, -10_000, -2_500, 5_000, 11_000, 15_500, 18_500, 20_000, 20_000, 18_500, 18_500,
        17_000, 14_000, 9_500, 5_000, 500, -4_000, -8_500, -13_000, -17_500,
      ]
    sounds["silence"] = Array(repeating: 0, count: 100)
    sounds["five samples"] = [0, 9_000, -32_768, 32_767, 5]
    return sounds
  }()

  private static func truePeak(_ samples: [Int16]) -> TruePeak {
    let signal = SampleBlocks(samples)
    return TruePeak(signal, magnitudes: signal.levels().magnitudes)
  }

  @Test(
    "an exact level between samples is never above the upper bound that was estimated for it",
    arguments: sounds.keys.sorted())
  func boundsHold(name: String) throws {
    var truePeak = Self.truePeak(try #require(Self.sounds[name]))
    let bounds = truePeak.levels
    truePeak.refine(above: -1)  // Computes all levels.
    for index in SampleBlocks.margin..<bounds.count {
      #expect(truePeak.levels[index] <= bounds[index], "block \(index)")
      #expect(truePeak.levels[index] <= truePeak.bound(at: index), "block \(index)")
    }
  }

  @Test("the blocks that the search skips do not change the highest level", arguments: sounds.keys.sorted())
  func highest(name: String) throws {
    var truePeak = Self.truePeak(try #require(Self.sounds[name]))
    let highest = truePeak.highest()
    truePeak.refine(above: -1)
    #expect(highest == truePeak.levels.max())
  }

  @Test(
    "every level above the threshold is computed exactly, and only a level up to the threshold is an estimate",
    arguments: sounds.keys.sorted())
  func thresholds(name: String) throws {
    let samples = try #require(Self.sounds[name])
    var all = Self.truePeak(samples)
    all.refine(above: -1)
    var some = Self.truePeak(samples)
    for threshold in [40_000, 32_000, 20_000, 10_000, 1_000, 0] as [Float] {
      some.refine(above: threshold)
      for index in SampleBlocks.margin..<all.levels.count where all.levels[index] > threshold {
        #expect(some.levels[index] == all.levels[index], "block \(index) above \(threshold)")
      }
      #expect(some.levels.indices.allSatisfy { some.isExact[$0] || some.levels[$0] <= threshold })
    }
  }

  @Test("to find the highest level of speech, fewer than one block in twenty is computed exactly")
  func fewAreComputed() {
    var truePeak = Self.truePeak(TestSounds.waveform(TestSounds.speech(seconds: 3, amplitude: 0.8)).samples)
    _ = truePeak.highest()
    #expect(truePeak.isExact.count { $0 } * 20 < truePeak.isExact.count)
  }
}
