// SPDX-License-Identifier: Apache-2.0

public import Waveforms
private import Foundation

/// Sounds that can be recognised in a recording.
public enum Tone {
  /// Returns a sine at half of full scale, which begins and ends at zero.
  ///
  /// - Parameters:
  ///   - frequency: the frequency in Hz.
  ///   - milliseconds: the length in ms.
  ///   - rate: the sample rate in Hz.
  public static func sine(_ frequency: Double, milliseconds: Int, rate: Int) -> Waveform {
    let samples = (0..<milliseconds * rate / 1000).map {
      Int16((16_384 * sin(2 * .pi * frequency * Double($0) / Double(rate))).rounded())
    }
    return Waveform(samples: samples, sampleRate: rate)
  }

  /// Returns a sound whose samples identify their position: it rises from 1000 by one for each `step` frames.
  public static func ramp(milliseconds: Int, rate: Int) -> Waveform {
    let count = milliseconds * rate / 1000
    let samples = (0..<count).map { Int16(1000 + $0 * 30_000 / count) }
    return Waveform(samples: samples, sampleRate: rate)
  }

  /// Returns the ranges that are not silent: from the first sample above the threshold to the last, divided where more
  /// than `gap` samples are below it.
  public static func sounds(
    in samples: [Int16], threshold: Int16 = 200, gap: Int
  ) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for (index, sample) in samples.enumerated() where sample > threshold || sample < -threshold {
      if let last = found.last, index - last.upperBound <= gap {
        found[found.count - 1] = last.lowerBound..<index + 1
      } else {
        found.append(index..<index + 1)
      }
    }
    return found
  }

  /// Returns the frequency in Hz, measured from the upward zero crossings.
  public static func frequency(of samples: ArraySlice<Int16>, rate: Int) -> Double {
    var crossings: [Double] = []
    for index in samples.indices.dropLast() where samples[index] < 0 && samples[index + 1] >= 0 {
      let (before, after) = (Double(samples[index]), Double(samples[index + 1]))
      crossings.append(Double(index) + before / (before - after))
    }
    guard let first = crossings.first, let last = crossings.last, last > first else { return 0 }
    return Double(crossings.count - 1) * Double(rate) / (last - first)
  }
}
