// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The integrated loudness (ITU-R BS.1770-4) that libebur128 reports for a sound at 22,050 Hz, to 0.01 LU. The
/// calculation takes a small part of libebur128's time.
///
/// libebur128 filters a sound from end to end. It adds each sample's square four times, once for each gating block that
/// contains the sample. Here, a vector filters four parts of the sound in parallel, and the squares are added once for
/// each 100 ms. Both calculate with 64 bits, so the two results differ by less than 10⁻⁶ LU.
///
/// A boundary is a gate, or the middle between two hundredths of a LU. If a result is so close to a boundary that the
/// difference could matter, this type returns no result, and libebur128 measures the sound.
///
/// `LoudnessEstimate` calculates with 32 bits and is faster than this type, but agrees with libebur128 only within 0.1
/// LU.
enum MeterReading {
  /// The smallest distance from the middle between two hundredths of a LU, in hundredths. It is ten times the largest
  /// difference from libebur128.
  static let roundingMargin = 0.001

  /// The smallest distance of a block's energy from a gate, relative to the gate. It is larger than ``roundingMargin``,
  /// because a quiet block after loud ones has the largest relative difference.
  static let gateMargin = 0.0001

  /// Returns the loudness in hundredths of a LU. The result is `nil` if libebur128 must measure the sound: if it is
  /// shorter than a gating block, if no block is above the gate of -70 LUFS, or if the result is too close to a
  /// boundary.
  static func hundredths(of samples: [Int16]) -> Int? {
    guard let loudness = loudness(of: samples) else { return nil }
    let hundredths = loudness * 100
    let fraction = hundredths - hundredths.rounded(.down)
    guard abs(fraction - 0.5) >= roundingMargin else { return nil }
    return Decibels.hundredths(loudness)
  }

  /// Returns the loudness in LUFS; `nil` if libebur128 must measure the sound, as for ``hundredths(of:)``. Here, the
  /// distance from the middle between two hundredths does not matter.
  static func loudness(of samples: [Int16]) -> Double? {
    let blocks = KWeighting<SIMD4<Double>>.blocks(of: samples)
    // Both gates are loudness levels: -70 LUFS, and 10 LU below the mean. Comparing mean squares instead needs no
    // logarithm.
    guard let audible = above(1.1724653045822963e-07, blocks), let loud = above(audible.mean / 10, audible) else {
      return nil
    }
    return -0.691 + 10 * log10(loud.mean)
  }

  /// Returns the energies above a gate; `nil` if no energy is above it, or if one is too close to the gate.
  private static func above(_ gate: Double, _ energies: [Double]) -> [Double]? {
    var above: [Double] = []
    for energy in energies {
      guard abs(energy - gate) > gate * gateMargin else { return nil }
      if energy > gate { above.append(energy) }
    }
    return above.isEmpty ? nil : above
  }
}
