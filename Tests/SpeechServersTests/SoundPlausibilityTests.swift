// SPDX-License-Identifier: Apache-2.0

import Foundation
import SpeechServerTestSupport
import TestSupport
import Testing
import Waveforms

@testable import SpeechServers

@Suite("The judgement of a server's sound")
struct SoundPlausibilityTests {
  private static let text = "Received twelve dollars and fifty cents"
  private static let speech = EncodedSpeech.samples(for: text)

  private static func judge(_ samples: [Int16], _ text: String = text, speedPercent: Int = 100)
    -> SoundPlausibility.Refusal?
  {
    SoundPlausibility(pace: .english).refusal(
      of: Waveform(samples: samples, sampleRate: 22_050), saying: text, speedPercent: speedPercent)
  }

  /// Returns a sound of a number of samples.
  private static func sound(_ count: Int, _ sample: (Int) -> Double) -> [Int16] {
    (0..<count).map { Int16(max(-32_768, min(32_767, sample($0)))) }
  }

  @Test("a sound is accepted if its length and its changes of level fit its words")
  func accepted() {
    #expect(Self.judge(Self.speech) == nil)
    #expect(Self.judge([Int16](repeating: 0, count: 40_000) + Self.speech) == nil, "silence at the ends does not count")
  }

  @Test("a sound that is much too short or too long for its words is refused")
  func lengths() {
    let letters = SoundPlausibility.letters(in: Self.text)
    #expect(Self.judge(Array(Self.speech.prefix(Self.speech.count / 3))) == .tooShort)
    #expect(Self.judge(Self.speech, String(repeating: "a", count: letters * 3)) == .tooShort)
    #expect(Self.judge(Self.speech, "one cent") == .tooLong)
    // A text that was asked for at a third of the rate may take three times as long.
    #expect(Self.judge(Self.speech, "twelve dollars", speedPercent: 33) == nil)
  }

  @Test("the sound of another sum is refused if its length does not fit the words")
  func anotherSum() {
    let other = EncodedSpeech.samples(for: "three thousand four hundred ninety-seven dollars and five cents")
    #expect(Self.judge(other, "five dollars") == .tooLong)
  }

  @Test("a sound that is silent, very quiet, noise, a tone, clipped, or interrupted by a long silence is refused")
  func faults() {
    let count = Self.speech.count
    #expect(Self.judge([]) == .silent)
    #expect(Self.judge([Int16](repeating: 0, count: count)) == .silent)
    #expect(Self.judge([Int16](repeating: 1, count: count)) == .silent)
    #expect(Self.judge(Self.speech.map { $0 / 100 }) == .tooQuiet)
    #expect(Self.judge(Self.sound(count) { 9_000 * sin(Double($0) * 0.1) }) == .steady)
    var random = SplitMix64(seed: 1)
    #expect(Self.judge(Self.sound(count) { _ in Double(Int16.random(in: -8_000...8_000, using: &random)) }) == .steady)
    #expect(Self.judge(Self.speech.map { $0 > 2_000 ? 32_767 : $0 < -2_000 ? -32_768 : $0 }) == .clipped)
    let half = count / 2
    let hole = [Int16](repeating: 0, count: 30_000)
    #expect(Self.judge(Array(Self.speech[..<half]) + hole + Self.speech[half...]) == .hole)
  }

  @Test("sounds of random samples and lengths are refused, and never cause a trap")
  func random() {
    var random = SplitMix64(seed: 2)
    for _ in 0..<200 {
      let count = Int.random(in: 0...3_000, using: &random)
      let samples = (0..<count).map { _ in Int16.random(in: .min ... .max, using: &random) }
      let sound = Waveform(samples: samples, sampleRate: Int.random(in: 1...200_000, using: &random))
      #expect(SoundPlausibility(pace: .unmeasured).refusal(of: sound, saying: "twelve") != nil)
    }
  }

  @Test("to estimate a length, a Chinese or Korean character counts as three letters, and a kana as two")
  func letters() {
    #expect(SoundPlausibility.letters(in: "Anne-Marie, fifty!") == 14)
    #expect(SoundPlausibility.letters(in: "十二元") == 9 && SoundPlausibility.letters(in: "열두") == 6)
    #expect(SoundPlausibility.letters(in: "じゅう") == 6 && SoundPlausibility.letters(in: "") == 0)
  }

  @Test("the expected length of a sound is measured for English, and other languages have a wider accepted range")
  func paces() {
    #expect(SoundPlausibility.Pace.of("en-IN") == .english && SoundPlausibility.Pace.of("de-DE") == .unmeasured)
  }
}
