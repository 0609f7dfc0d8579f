// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A fast measurement of integrated loudness (ITU-R BS.1770-4) at 22,050 Hz. It determines the gain. The result is then
/// measured with libebur128.
///
/// The project has its own implementation for two reasons. First, it takes a fifth of libebur128's time. libebur128's
/// filter must process a sound from end to end. Here, a vector processes eight parts of the sound in parallel, and the
/// filter of each part starts a tenth of a second before the part begins. Second, it uses only +, - and × until the
/// final logarithm, so that the resulting gain is the same on every machine.
enum LoudnessEstimate {
  /// The distance in samples between the starts of two gating blocks of 400 ms. It corresponds to 100 ms.
  private static let hop = Mastering.sampleRate / 10

  /// A constant that is added to each sample, in 16-bit steps. It is 150 dB below full scale. Without it, the filters
  /// would decay in silence to numbers so small that processors take a hundred times as long to calculate with them.
  private static let offset: Float = 0.001

  private typealias Lanes = SIMD8<Float>

  /// Returns the loudness in hundredths of a LU. The result is `nil` for a sound that is shorter than one gating block
  /// or below the gate of -70 LUFS.
  static func hundredths(of samples: [Int16]) -> Int? {
    let energies = hopEnergies(samples)
    guard energies.count >= 4 else { return nil }
    let blocks = (4...energies.count).map { end in mean(energies[end - 4..<end]) / Double(hop) }
    // Both gates are loudness levels: -70 LUFS, and 10 LU below the mean. Comparing mean squares instead needs no
    // logarithm.
    let audible = blocks.filter { $0 > 1.1724653045822963e-07 }
    guard !audible.isEmpty else { return nil }
    let gate = mean(audible) / 10
    let loud = audible.filter { $0 > gate }
    guard !loud.isEmpty else { return nil }
    return Decibels.hundredths(-0.691 + 10 * log10(mean(loud)))
  }

  private static func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

  /// Returns the sum of the K-weighted squares for each complete 100 ms. The squares are relative to full scale.
  private static func hopEnergies(_ samples: [Int16]) -> [Double] {
    let count = samples.count / hop
    guard count > 0 else { return [] }
    let perLane = (count + Lanes.scalarCount - 1) / Lanes.scalarCount
    // Each lane starts one hop before the hops that it counts. For this, one hop of silence precedes the first sample,
    // and silence fills the last lane. The additional hop fills the filters' memory. After one more hop only 10⁻¹⁰ of
    // its effect remains.
    var padded = [Int16](repeating: 0, count: (perLane * Lanes.scalarCount + 1) * hop)
    padded.replaceSubrange(hop..<hop + count * hop, with: samples.prefix(count * hop))
    var energies = [Double](repeating: 0, count: perLane * Lanes.scalarCount)
    unsafe padded.withUnsafeBufferPointer { padded in
      var filter = KWeighting()
      let lane = perLane * hop
      for step in 0...perLane {
        var sum = Lanes.zero
        for offset in step * hop..<(step + 1) * hop {
          // unsafe: the last hop of the last lane ends where the padding ends. The elements are written out, because
          // the compiler does not unroll a loop over a vector's elements, and the loop is ten times as slow.
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

  /// The two filters of BS.1770-4 at 22,050 Hz, for eight sounds at once: a shelf that models the head, and a
  /// high-pass. The standard prints the coefficients for 48 kHz. The coefficients here come from the bilinear transform
  /// of the same analogue filters.
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
