// SPDX-License-Identifier: Apache-2.0

import Waveforms

/// Compares one voice's sounds of different numbers with each other.
///
/// A neural voice never says a text twice in the same way. Two numbers therefore count as the same sound if they differ
/// no more than two renditions of the same number. This comparison needs no limit that was measured on other voices.
enum NumberSounds {
  typealias Frames = [SpeechFeatures.Frame]

  /// The smallest ratio of the distance between two numbers to the distance between renditions of one number. With the
  /// voice en_US-joe-medium of piper-tts 1.8.0, the closest two of 31 English number words, “sixteen” and “sixty”, have
  /// a ratio of 1.31. Renditions of one number have a ratio of 1.00 on average.
  static let leastRatio: Float = 1.15

  /// The difference that rounding can cause even between two sounds with the same samples.
  private static let rounding: Float = 0.01

  /// Returns the features of all sounds of a voice. Only features that were made together can be compared.
  static func features(_ sounds: [Waveform]) throws(PackMakingError) -> [Frames] {
    SpeechFeatures.normalized(try RecordingComparison.features(sounds)).map(\.frames)
  }

  /// Returns the pairs of sounds that differ least, the closest first.
  static func closestPairs(_ sounds: [Frames], count: Int) -> [(first: Int, second: Int)] {
    var pairs: [(first: Int, second: Int, distance: Float)] = []
    for first in sounds.indices {
      for second in sounds.indices where first < second {
        pairs.append((first, second, TimeWarping.distance(sounds[first], sounds[second])))
      }
    }
    return pairs.sorted { $0.distance < $1.distance }.prefix(count).map { ($0.first, $0.second) }
  }

  /// Returns the ratio of the distance between two numbers to the distance between renditions of one number. The ratio
  /// is infinite if all renditions of each number are the same, but the two numbers differ.
  ///
  /// - Parameters:
  ///   - first: renditions of one number, at least two.
  ///   - second: renditions of another number, at least two.
  static func ratio(_ first: [Frames], _ second: [Frames]) -> Float {
    let within = mean(
      [first, second].flatMap { sayings in
        sayings.indices.flatMap { one in
          sayings.indices.filter { one < $0 }.map { TimeWarping.distance(sayings[one], sayings[$0]) }
        }
      })
    let between = mean(first.flatMap { one in second.map { TimeWarping.distance(one, $0) } })
    guard between > rounding else { return 0 }
    return within > rounding ? between / within : .infinity
  }

  private static func mean(_ values: [Float]) -> Float { values.reduce(0, +) / Float(max(1, values.count)) }
}
