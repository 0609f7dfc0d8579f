// SPDX-License-Identifier: Apache-2.0

import Foundation
import Waveforms

@testable import VoicePackMaking

/// A simple voice. Its words are series of syllables, and each syllable is a pair of tones, like a vowel's formants.
struct SyllableVoice {
  /// The factor of all frequencies, which is larger for a shorter vocal tract.
  var height = 1.0
  /// The length of a syllable in ms.
  var pace = 120
  private static let formants: [(Double, Double)] = [
    (300, 2200), (500, 1800), (700, 1200), (400, 800), (600, 2500), (350, 1400),
  ]

  /// Returns a word, with the samples at 22,050 Hz.
  func word(_ syllables: [Int]) -> Waveform {
    let count = pace * 22_050 / 1_000
    var samples: [Int16] = []
    for syllable in syllables {
      let (low, high) = Self.formants[syllable]
      for index in 0..<count {
        let time = Double(index) / 22_050
        let swell = 0.3 + sin(.pi * Double(index) / Double(count))
        let tones = sin(2 * .pi * low * height * time) + 0.5 * sin(2 * .pi * high * height * time)
        samples.append(Int16((6_000 * swell * tones).rounded()))
      }
    }
    return Waveform(samples: samples, sampleRate: 22_050)
  }

  func clip(_ text: String, _ syllables: [Int]) -> PackClip {
    PackClip(tokens: [text], text: text, waveform: word(syllables))
  }

  /// Words of three different syllables, 120 at most. Their letters are their syllables.
  static func words(_ count: Int) -> [(text: String, syllables: [Int])] {
    var words: [(text: String, syllables: [Int])] = []
    for first in formants.indices {
      for second in formants.indices where second != first {
        for third in formants.indices where third != first && third != second {
          let syllables = [first, second, third]
          words.append((String(syllables.map { Array("abcdef")[$0] }), syllables))
        }
      }
    }
    return Array(words.prefix(count))
  }

  /// Twelve words, each with other syllables.
  static let words: [(text: String, syllables: [Int])] = [
    ("ada", [0, 1]), ("bela", [2, 3]), ("cilo", [4, 5]), ("dumi", [1, 0, 2]), ("efo", [3, 5]), ("fani", [5, 2, 4]),
    ("gori", [2, 0]), ("hulu", [4, 1, 3]), ("ibo", [0, 5, 1]), ("jano", [3, 2]), ("keli", [1, 4]), ("lomi", [5, 0, 3]),
  ]
}
