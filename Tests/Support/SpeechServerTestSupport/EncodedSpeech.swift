// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Sounds that stand in for speech. The requested text can be read from them. Each half of a byte is a tone of 32 ms
/// that swells and fades, so the length and the changes of level are those of speech. Levelling and trimming keep the
/// text.
public enum EncodedSpeech {
  private static let toneSamples = 720
  private static let frequencies = (0..<16).map { 400.0 + 150 * Double($0) }
  /// The sample rate in Hz.
  public static let sampleRate = 22_050

  /// Returns the sound of a text, with silence at both ends.
  public static func samples(for text: String) -> [Int16] {
    let edge = [Int16](repeating: 0, count: 1_000)
    return edge + text.utf8.flatMap { tone(Int($0 >> 4)) + tone(Int($0 & 15)) } + edge
  }

  private static func tone(_ value: Int) -> [Int16] {
    let step = 2 * Double.pi * frequencies[value] / Double(sampleRate)
    return (0..<toneSamples).map { index in
      let swell = sin(Double.pi * (Double(index) + 0.5) / Double(toneSamples))
      return Int16(9_000 * swell * swell * sin(step * Double(index)))
    }
  }

  /// Returns the text of a sound; nil if it is not one of ``samples(for:)``.
  public static func text(in samples: [Int16]) -> String? {
    // The tones begin and end quietly, and the first louder samples come early in the first tone.
    guard let first = samples.firstIndex(where: { $0.magnitude > 250 }) else { return nil }
    let quiet = toneSamples / 16
    let start = max(0, first - quiet)
    let values = stride(from: start, to: samples.count, by: toneSamples).prefix { place in
      samples[place..<min(samples.count, place + toneSamples)].contains { $0.magnitude > 2_000 }
    }.map { place in
      let part = samples[place..<min(samples.count, place + toneSamples)]
      return frequencies.indices.max { power(of: frequencies[$0], in: part) < power(of: frequencies[$1], in: part) }
        ?? 0
    }
    guard values.count.isMultiple(of: 2) else { return nil }
    let bytes = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Returns the power of a frequency, by Goertzel's algorithm.
  private static func power(of frequency: Double, in samples: ArraySlice<Int16>) -> Double {
    let factor = 2 * cos(2 * Double.pi * frequency / Double(sampleRate))
    var (last, before) = (0.0, 0.0)
    for sample in samples { (last, before) = (Double(sample) + factor * last - before, last) }
    return last * last + before * before - factor * last * before
  }
}
