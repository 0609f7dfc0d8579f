// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// How loud a sound is played, in per cent of the way a hand turns a knob: 0 is silence, 100 the sound itself.
///
/// Amplitude goes with the cube, as in PulseAudio's volume sliders, for that is near to how loudness is felt:
/// 50 % is an eighth of the amplitude (−18 dB), 80 % about half of it (−6 dB), 10 % a thousandth (−60 dB).
public struct Volume: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// 0...100.
  public let percent: Int

  /// - Returns: nil if `percent` is not 0...100.
  public init?(percent: Int) {
    guard (0...100).contains(percent) else { return nil }
    self.percent = percent
  }

  private init(_ percent: Int) { self.percent = percent }

  /// The sound itself: no sample is changed.
  public static let full = Volume(100)
  public static let silent = Volume(0)

  /// The samples so loud, each rounded to the nearest integer, halves away from zero, so that no offset arises.
  public func applied(to samples: [Int16]) -> [Int16] {
    guard self != .full else { return samples }
    let gain = percent * percent * percent
    return samples.map { sample in
      let scaled = Int(sample) * gain
      return Int16((scaled + (scaled < 0 ? -500_000 : 500_000)) / 1_000_000)
    }
  }

  /// The same sound, so loud.
  public func applied(to sound: Waveform) -> Waveform {
    var sound = sound
    sound.samples = applied(to: sound.samples)
    return sound
  }

  public static func < (one: Volume, other: Volume) -> Bool { one.percent < other.percent }

  public var description: String { "\(percent) %" }
}
