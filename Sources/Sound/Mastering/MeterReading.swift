// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The integrated loudness (ITU-R BS.1770-4) that libebur128 reports for a sound at 22,050 Hz, to 0.01 LU, in a small
/// part of libebur128's time.
///
/// libebur128 filters a sound from end to end, and adds up each sample's square four times, once for each gating block
/// that contains the sample. Here, a vector filters four parts of the sound in parallel, and the squares are added up
/// once for each 100 ms. Both calculate with 64 bits, so the two results differ by less than 10⁻⁶ LU. A result that is
/// so close to a boundary that this difference could matter is not returned; libebur128 then measures the sound. A
/// boundary is a gate, or the middle between two hundredths of a LU.
///
/// `LoudnessEstimate` calculates with 32 bits and is faster still, but agrees with libebur128 only within 0.1 LU.
enum MeterReading {
  /// The distance in samples between the starts of two gating blocks of 400 ms. It corresponds to 100 ms.
  private static let hop = Mastering.sampleRate / 10

  /// The smallest distance from the middle between two hundredths of a LU, in hundredths. It is ten times the largest
  /// difference from libebur128.
  static let roundingMargin = 0.001

  /// The smallest distance of a block's energy from a gate, relative to the gate. It is larger than the other margin,
  /// because a quiet block after loud ones has the largest relative difference.
  static let gateMargin = 0.0001

  /// A constant that is added to each sample, in 16-bit steps. The high-pass removes it. Without it, the filters would
  /// decay in silence to numbers so small that processors take a hundred times as long to calculate with them.
  private static let offset = 1e-9

  private typealias Lanes = SIMD4<Double>

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

  /// Returns the loudness in LUFS; `nil` as for ``hundredths(of:)``, whatever its distance from a hundredth.
  static func loudness(of samples: [Int16]) -> Double? {
    let energies = hopEnergies(samples)
    guard energies.count >= 4 else { return nil }
    let blocks = (4...energies.count).map { end in mean(energies[end - 4..<end]) / Double(hop) }
    // Both gates are loudness levels: -70 LUFS, and 10 LU below the mean. Comparing mean squares instead needs no
    // logarithm.
    guard let audible = above(1.1724653045822963e-07, blocks), let loud = above(mean(audible) / 10, audible) else {
      return nil
    }
    return -0.691 + 10 * log10(mean(loud))
  }

  /// Returns the energies above a gate; `nil` if there is none, or if one is too close to the gate.
  private static func above(_ gate: Double, _ energies: [Double]) -> [Double]? {
    var above: [Double] = []
    for energy in energies {
      guard abs(energy - gate) > gate * gateMargin else { return nil }
      if energy > gate { above.append(energy) }
    }
    return above.isEmpty ? nil : above
  }

  private static func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

  /// Returns the sum of the K-weighted squares for each complete 100 ms. The squares are relative to full scale.
  private static func hopEnergies(_ samples: [Int16]) -> [Double] {
    let count = samples.count / hop
    guard count > 0 else { return [] }
    let perLane = (count + Lanes.scalarCount - 1) / Lanes.scalarCount
    // Each lane starts one hop before the hops that it counts, which fills the filters' memory: after one hop, 10⁻⁹ of
    // an earlier sample's effect remains. For this, one hop of silence precedes the first sample, and silence fills the
    // last lane.
    var padded = [Int16](repeating: 0, count: (perLane * Lanes.scalarCount + 1) * hop)
    padded.replaceSubrange(hop..<hop + count * hop, with: samples.prefix(count * hop))
    var energies = [Double](repeating: 0, count: perLane * Lanes.scalarCount)
    unsafe padded.withUnsafeBufferPointer { padded in
      var filter = KWeighting()
      let lane = perLane * hop
      for step in 0...perLane {
        var sum = Lanes.zero
        for index in step * hop..<(step + 1) * hop {
          // unsafe: the last hop of the last lane ends where the padding ends.
          let four = unsafe Lanes(
            Double(padded[index]), Double(padded[index + lane]), Double(padded[index + 2 * lane]),
            Double(padded[index + 3 * lane]))
          let weighted = filter.next(four + Self.offset)
          sum += weighted * weighted
        }
        guard step > 0 else { continue }
        for index in 0..<Lanes.scalarCount { energies[index * perLane + step - 1] = sum[index] / (32_768 * 32_768) }
      }
    }
    return Array(energies.prefix(count))
  }

  /// The two filters of BS.1770-4 at 22,050 Hz, for four sounds at once, with the coefficients of `LoudnessEstimate`.
  private struct KWeighting {
    private var (shelf1, shelf2, high1, high2) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)

    @inline(__always)
    mutating func next(_ input: Lanes) -> Lanes {
      let shelved = input * 1.4798253509777464 + shelf1
      shelf1 = input * -2.1707286128568293 - shelved * -1.3383053360661337 + shelf2
      shelf2 = input * 0.8608424847265516 - shelved * 0.5082445589136019
      let high = shelved + high1
      high1 = shelved * -2 - high * -1.9783976025901193 + high2
      high2 = shelved - high * 0.9785144195032509
      return high
    }
  }
}
