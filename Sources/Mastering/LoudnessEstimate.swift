// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A fast measurement of integrated loudness (ITU-R BS.1770-4) at 22,050 Hz, which determines the gain. libebur128 then
/// measures the result.
///
/// The project has its own implementation for two reasons. First, it takes a fifth of libebur128's time. libebur128's
/// filter must process a sound from end to end, whereas here eight parts of the sound are processed in parallel in a
/// vector, each from a tenth of a second before its own beginning. Second, it uses only +, - and × until the last
/// logarithm, so that the resulting gain is the same on every machine.
enum LoudnessEstimate {
  /// The distance between the starts of gating blocks of 400 ms, which is 100 ms.
  private static let hop = Mastering.sampleRate / 10

  /// A constant that is added to each sample, in 16-bit steps, 150 dB below full scale. Without it the filters would
  /// decay in silence to numbers so small that processors take a hundred times as long for them.
  private static let offset: Float = 0.001

  private typealias Lanes = SIMD8<Float>

  /// Returns the loudness in hundredths of a LU; `nil` for a sound shorter than one gating block or below the gate of
  /// -70 LUFS.
  static func hundredths(of samples: [Int16]) -> Int? {
    let energies = hopEnergies(samples)
    guard energies.count >= 4 else { return nil }
    let blocks = (4...energies.count).map { end in mean(energies[end - 4..<end]) / Double(hop) }
    // The gates are loudness levels. As mean squares they need no logarithm: -70 LUFS, and 10 LU below the mean.
    let audible = blocks.filter { $0 > 1.1724653045822963e-07 }
    guard !audible.isEmpty else { return nil }
    let gate = mean(audible) / 10
    let loud = audible.filter { $0 > gate }
    guard !loud.isEmpty else { return nil }
    return Decibels.hundredths(-0.691 + 10 * log10(mean(loud)))
  }

  private static func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

  /// Returns the sum of the K-weighted squares for each complete 100 ms, where full scale is 1.
  private static func hopEnergies(_ samples: [Int16]) -> [Double] {
    let count = samples.count / hop
    guard count > 0 else { return [] }
    let perLane = (count + Lanes.scalarCount - 1) / Lanes.scalarCount
    // One hop of silence before the first sample and silence up to the end of the last lane let each lane start one hop
    // before the hops that it counts. That hop fills the filters' memory; after one more hop 10⁻¹⁰ of its effect
    // remains.
    var padded = [Int16](repeating: 0, count: (perLane * Lanes.scalarCount + 1) * hop)
    padded.replaceSubrange(hop..<hop + count * hop, with: samples.prefix(count * hop))
    var energies = [Double](repeating: 0, count: perLane * Lanes.scalarCount)
    unsafe padded.withUnsafeBufferPointer { padded in
      var filter = KWeighting()
      let lane = perLane * hop
      for step in 0...perLane {
        var sum = Lanes.zero
        for offset in step * hop..<(step + 1) * hop {
          // unsafe: the last hop of the last lane ends at the end of the padding. The elements are written out, because
          // a loop over a vector's elements is not unrolled and is ten times as slow.
          let eight = unsafe SIMD8<Int16>(
            padded[offset], padded[offset + lane], padded[offset + 2 * lane], padded[offset + 3 * lane],
            padded[offset + 4 * lane], padded[offset + 5 * lane], padded[offset + 6 * lane], padded[offset + 7 * lane])
          let weighted = filter.next(Lanes(eight) + Self.offset)
          sum += weighted * weighted
        }
        guard step > 0 else { continue }
        for index in 0..<Lanes.scalarCount {
          energies[index * perLane + step - 1] = Double(sum[index]) / (32_768 * 32_768)
        }
      }
    }
    return Array(energies.prefix(count))
  }

  /// The two filters of BS.1770-4 (a shelf for the head, a high-pass) for eight sounds at once, at 22,050 Hz. The
  /// standard prints the coefficients for 48 kHz. These come from the bilinear transform of the same analogue filters.
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
