// SPDX-License-Identifier: Apache-2.0

/// A playback volume in per cent, on a scale like a volume knob: 0 is silence, and 100 leaves the sound unchanged.
///
/// The amplitude is proportional to the cube of the volume, as in PulseAudio's volume sliders. This is close to
/// perceived loudness: 50 % is an eighth of the amplitude (−18 dB), 80 % is about half of it (−6 dB), and 10 % is a
/// thousandth (−60 dB).
public struct Volume: Sendable, Hashable, Comparable {
  /// The volume, 0 to 100.
  public let percent: Int

  /// Creates a volume.
  ///
  /// - Returns: `nil` if `percent` is not between 0 and 100.
  public init?(percent: Int) {
    guard (0...100).contains(percent) else { return nil }
    self.percent = percent
  }

  private init(_ percent: Int) { self.percent = percent }

  /// The volume that leaves every sample unchanged.
  public static let full = Volume(100)
  public static let silent = Volume(0)

  /// Returns the samples at this volume. Each sample is rounded to the nearest integer, with halves away from zero, so
  /// that rounding adds no constant offset.
  public func applied(to samples: [Int16]) -> [Int16] {
    guard self != .full else { return samples }
    let gain = percent * percent * percent
    return samples.map { sample in
      let scaled = Int(sample) * gain
      return Int16((scaled + (scaled < 0 ? -500_000 : 500_000)) / 1_000_000)
    }
  }

  public static func < (one: Volume, other: Volume) -> Bool { one.percent < other.percent }
}
