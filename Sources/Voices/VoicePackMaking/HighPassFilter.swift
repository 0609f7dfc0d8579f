// SPDX-License-Identifier: Apache-2.0

/// Two second-order Butterworth high-pass filters at 45 Hz in series, for a sample rate of 22,050 Hz. Together they
/// attenuate 56 Hz by 3 dB, and lower frequencies by 24 dB per octave. DC is removed completely. Rumble and wind at 10
/// Hz, which no shop's loudspeaker can play, are reduced to 0.2 %. The lowest voices (85 Hz) are attenuated by 0.7 dB.
///
/// The coefficients follow the "Audio EQ Cookbook" (R. Bristow-Johnson; W3C Note, 2021) for a Q of 1/√2. They are
/// literal numbers, because `sin` and `cos` may differ in their last bit between machines.
enum HighPassFilter {
  private static let b0 = 0.9909738733987312
  private static let b1 = -1.9819477467974624
  private static let a1 = -1.9818662741765933
  private static let a2 = 0.9820292194183313

  /// Returns the filtered samples.
  ///
  /// - Parameter samples: samples without DC. DC would cause a step at the start.
  static func apply(to samples: [Float]) -> [Float] {
    var (first, second) = (Section(), Section())
    return samples.map { Float(second.next(first.next(Double($0)))) }
  }

  /// A second-order section in transposed direct form II, with b2 = b0.
  private struct Section {
    var (first, second) = (0.0, 0.0)

    mutating func next(_ input: Double) -> Double {
      let output = b0 * input + first
      first = b1 * input - a1 * output + second
      second = b0 * input - a2 * output
      return output
    }
  }
}
