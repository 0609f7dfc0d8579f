// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("NumberSounds: numbers that a voice says the same")
struct NumberSoundsTests {
  /// Sayings of a few words, three of each, each at another speed and height as a neural voice says them.
  private let words = SyllableVoice.words
  private let voices = [
    SyllableVoice(), SyllableVoice(height: 1.02, pace: 128), SyllableVoice(height: 0.98, pace: 113),
  ]

  /// Returns the ratio of two words; the words of the whole voice decide what counts as near.
  private func ratio(_ first: Int, _ second: Int, by voices: [SyllableVoice]) throws -> Float {
    let sounds = words.flatMap { word in voices.map { $0.word(word.syllables) } }
    let features = try NumberSounds.features(sounds)
    func sayings(_ word: Int) -> [NumberSounds.Frames] {
      Array(features[word * voices.count..<(word + 1) * voices.count])
    }
    return NumberSounds.ratio(sayings(first), sayings(second))
  }

  @Test("the sounds of different words differ more than two recordings of one word")
  func different() throws {
    for (first, second) in [(0, 1), (4, 7), (10, 11)] {
      #expect(try ratio(first, second, by: voices) > 2)
    }
  }

  @Test("two numbers whose recordings say one word count as sounding the same")
  func same() throws {
    let features = try NumberSounds.features(
      words.flatMap { word in (voices + voices.reversed()).map { $0.word(word.syllables) } })
    let ratio = NumberSounds.ratio(Array(features[0..<3]), Array(features[3..<6]))
    #expect(ratio < NumberSounds.leastRatio, "\(ratio)")
  }

  @Test("if a voice always repeats its samples, different words count as different, and equal words as the same")
  func unchanging() throws {
    let voice = SyllableVoice()
    #expect(try ratio(0, 1, by: [voice, voice]) == .infinity)
    #expect(try ratio(3, 3, by: [voice, voice]) == 0)
  }

  @Test("the number pairs with the most similar sounds come first, up to the requested count")
  func closest() throws {
    var sounds = words.map { voices[0].word($0.syllables) }
    sounds[7] = voices[1].word(words[2].syllables)
    let pairs = NumberSounds.closestPairs(try NumberSounds.features(sounds), count: 3)
    #expect(pairs.count == 3)
    #expect(pairs.first?.first == 2 && pairs.first?.second == 7)
  }
}
