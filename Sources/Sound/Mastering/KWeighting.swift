// SPDX-License-Identifier: Apache-2.0

/// The two filters of ITU-R BS.1770-4 at 22,050 Hz: a shelf filter that models the head, and a high-pass filter. Each
/// element of a vector belongs to another part of the sound, and the filters process all these parts at once.
///
/// The standard prints the coefficients for 48 kHz. The coefficients here come from the bilinear transform of the same
/// analogue filters.
struct KWeighting<Lanes: LoudnessLanes> {
  private var (shelf1, shelf2, high1, high2) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)

  @inline(__always)
  private mutating func next(_ input: Lanes) -> Lanes {
    let shelved = input * 1.4798253509777464 + shelf1
    shelf1 = input * -2.1707286128568293 - shelved * -1.3383053360661337 + shelf2
    shelf2 = input * 0.8608424847265516 - shelved * 0.5082445589136019
    let high = shelved + high1
    high1 = shelved * -2 - high * -1.9783976025901193 + high2
    high2 = shelved - high * 0.9785144195032509
    return high
  }

  /// Returns the mean K-weighted squares of the gating blocks, which begin every 100 ms and last 400 ms. The squares
  /// are relative to full scale. The array is empty if the sound is shorter than a block.
  static func blocks(of samples: [Int16]) -> [Double] {
    // 100 ms, in samples.
    let hop = Mastering.sampleRate / 10
    let energies = energies(of: samples, hop)
    guard energies.count >= 4 else { return [] }
    return (4...energies.count).map { end in energies[end - 4..<end].mean / Double(hop) }
  }

  /// Returns the sum of the K-weighted squares for each complete hop.
  private static func energies(of samples: [Int16], _ hop: Int) -> [Double] {
    let count = samples.count / hop
    guard count > 0 else { return [] }
    let perLane = (count + Lanes.scalarCount - 1) / Lanes.scalarCount
    // Each lane starts one hop before the hops that it counts, so that the filters have processed earlier samples by
    // then. For this, one hop of silence precedes the first sample, and silence fills the last lane. After one hop,
    // only 10⁻⁹ of an earlier sample's effect remains.
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
          let weighted = filter.next(unsafe Lanes(padded, index, lane) + Lanes.offset)
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
}

/// A vector whose elements belong to parts of a sound.
///
/// Each initializer lists the elements one by one. The compiler does not unroll a loop over a vector's elements, and
/// such a loop takes ten times as long as the list.
protocol LoudnessLanes: SIMD where Scalar: BinaryFloatingPoint {
  /// A constant that is added to each sample, in 16-bit steps. Without it, the filters would decay in silence to
  /// numbers so small that processors take a hundred times as long to calculate with them.
  static var offset: Scalar { get }

  /// Creates a vector of the sample at an index in the first part of the sound, and of the samples at the same place in
  /// each further part. The parts are `lane` samples long.
  init(_ samples: UnsafeBufferPointer<Int16>, _ index: Int, _ lane: Int)
}

extension SIMD8<Float>: LoudnessLanes {
  /// The value is 150 dB below full scale.
  static var offset: Float { 0.001 }

  @inline(__always)
  init(_ samples: UnsafeBufferPointer<Int16>, _ index: Int, _ lane: Int) {
    self.init(
      unsafe SIMD8<Int16>(
        samples[index], samples[index + lane], samples[index + 2 * lane], samples[index + 3 * lane],
        samples[index + 4 * lane], samples[index + 5 * lane], samples[index + 6 * lane], samples[index + 7 * lane]))
  }
}

extension SIMD4<Double>: LoudnessLanes {
  /// The high-pass filter removes this constant again.
  static var offset: Double { 1e-9 }

  @inline(__always)
  init(_ samples: UnsafeBufferPointer<Int16>, _ index: Int, _ lane: Int) {
    unsafe self.init(
      Double(samples[index]), Double(samples[index + lane]), Double(samples[index + 2 * lane]),
      Double(samples[index + 3 * lane]))
  }
}

extension Collection<Double> {
  var mean: Double { reduce(0, +) / Double(count) }
}
