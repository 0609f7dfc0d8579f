// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A fast reading of integrated loudness (ITU-R BS.1770-4) at 22,050 Hz, from which the gain is set; libebur128 then
/// measures what came of it.
///
/// Written by hand for two reasons. It takes a fifth of libebur128's time, whose one filter must run through a sound
/// from end to end: here eight parts of the sound run side by side in a vector, each from a tenth of a second before
/// its own beginning. And it is made of +, - and × alone until the last logarithm, so that a gain derived from it is
/// the same on every machine.
enum LoudnessEstimate {
  /// 100 ms: gating blocks of 400 ms begin that far apart.
  private static let hop = Mastering.sampleRate / 10

  /// Added to each sample, in 16-bit steps, 150 dB below full scale: without it the filters fade in silence to numbers
  /// so small that processors take a hundred times as long over them.
  private static let offset: Float = 0.001

  private typealias Lanes = SIMD8<Float>

  /// The loudness in hundredths of a LU; `nil` for a sound shorter than one gating block or below the gate of -70 LUFS.
  static func hundredths(of samples: [Int16]) -> Int? {
    let energies = hopEnergies(samples)
    guard energies.count >= 4 else { return nil }
    let blocks = (4...energies.count).map { end in mean(energies[end - 4..<end]) / Double(hop) }
    // The gates are loudnesses; compared as mean squares they need no logarithm: -70 LUFS, and 10 LU below the mean.
    let audible = blocks.filter { $0 > 1.1724653045822963e-07 }
    guard !audible.isEmpty else { return nil }
    let gate = mean(audible) / 10
    let loud = audible.filter { $0 > gate }
    guard !loud.isEmpty else { return nil }
    return Decibels.hundredths(-0.691 + 10 * log10(mean(loud)))
  }

  private static func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

  /// For each whole 100 ms the sum of the K-weighted squares, full scale being 1.
  private static func hopEnergies(_ samples: [Int16]) -> [Double] {
    let count = samples.count / hop
    guard count > 0 else { return [] }
    let perLane = (count + Lanes.scalarCount - 1) / Lanes.scalarCount
    // A hop of silence before the first sample and silence to the end of the last lane, so that each lane finds one
    // hop more than it counts: that one fills its filters' memory, of which 10⁻¹⁰ is left a hop later.
    var padded = [Int16](repeating: 0, count: (perLane * Lanes.scalarCount + 1) * hop)
    padded.replaceSubrange(hop..<hop + count * hop, with: samples.prefix(count * hop))
    var energies = [Double](repeating: 0, count: perLane * Lanes.scalarCount)
    unsafe padded.withUnsafeBufferPointer { padded in
      var filter = KWeighting()
      let lane = perLane * hop
      for step in 0...perLane {
        var sum = Lanes.zero
        for offset in step * hop..<(step + 1) * hop {
          // The last lane's last hop ends where the padding does. Written out: a loop over a vector's elements is not
          // unrolled, and is ten times as slow.
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

  /// The two filters of BS.1770-4 (a shelf for the head, a high-pass) for eight sounds at once, at 22,050 Hz: the
  /// standard's coefficients, which are printed for 48 kHz, by the bilinear transform of their analogue originals.
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
