// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The true peak, which is the greatest level between the samples, found by fourfold oversampling.
///
/// The filter is the order-48, 4-phase interpolator of Recommendation ITU-R BS.1770-4, Annex 2, with the coefficients
/// printed there. libebur128's true peak gives the same results, but takes several times as long as the rest of this
/// module, because libebur128 cannot skip parts of the sound.
struct TruePeak {
  /// The taps of phase 0 of the filter. Phase 3 is its mirror image.
  private static let outerPhase: [Float] = [
    0.0017089843750, 0.0109863281250, -0.0196533203125, 0.0332031250000, -0.0594482421875, 0.1373291015625,
    0.9721679687500, -0.1022949218750, 0.0476074218750, -0.0266113281250, 0.0148925781250, -0.0083007812500,
  ]

  /// The taps of phase 1. Phase 2 is its mirror image.
  private static let innerPhase: [Float] = [
    -0.0291748046875, 0.0292968750000, -0.0517578125000, 0.0891113281250, -0.1665039062500, 0.4650878906250,
    0.7797851562500, -0.2003173828125, 0.1015625000000, -0.0582275390625, 0.0330810546875, -0.0189208984375,
  ]

  /// Half the sum and half the difference of mirrored taps: x and y for the outer phase, z and w for the inner phase.
  /// They are multiplied by the sums and differences of mirrored samples. The results are a phase and its mirror image,
  /// calculated together with half the multiplications.
  private static let taps: [SIMD4<Float>] = (0..<6).map { tap in
    let (outer, inner) = (outerPhase[tap], innerPhase[tap])
    let (mirroredOuter, mirroredInner) = (outerPhase[11 - tap], innerPhase[11 - tap])
    return SIMD4(outer + mirroredOuter, outer - mirroredOuter, inner + mirroredInner, inner - mirroredInner) * 0.5
  }

  /// The sum of the magnitudes of the taps of phase 1, which is the greatest sum of the four phases. The highest sample
  /// under the filter, multiplied by this number, is an upper bound for the values between the samples.
  private static let greatestGain: Float = 2.0228271484375

  /// The closer upper bounds. Each bound holds for a phase and its mirror image. Where a voice is smooth, its bound is
  /// a few percent above its samples, so few blocks have to be computed.
  private static let bounds = (outer: Bound(outerPhase), inner: Bound(innerPhase))

  /// An upper bound for the values of a phase. A phase is a linear interpolation between two neighbouring samples plus
  /// a weighted sum of second differences of samples.
  private struct Bound {
    /// The sum of the taps, which is the factor of the linear interpolation.
    private var gain: Float = 0

    /// The sum of the magnitudes of the weights of the second differences.
    private var curvatureGain: Float = 0

    init(_ taps: [Float]) {
      let sum = taps.reduce(0, +)
      let delay = taps.indices.reduce(0) { $0 + Float($1) * taps[$1] } / sum
      let sample = Int(delay)
      var rest = taps
      rest[sample] -= sum * (1 - (delay - Float(sample)))
      rest[sample + 1] -= sum * (delay - Float(sample))
      // The sum and the first moment of the remaining taps are 0. They are therefore a weighted sum of second
      // differences. The weights are the running sums of the running sums of the remaining taps.
      var (running, weight): (Float, Float) = (0, 0)
      for tap in rest {
        running += tap
        weight += running
        curvatureGain += abs(weight)
      }
      gain = sum
    }

    /// - Parameters:
    ///   - magnitude: The greatest magnitude of the samples next to the values.
    ///   - curvature: The greatest magnitude of the second differences under the filter.
    func value(magnitude: Float, curvature: Float) -> Float { gain * magnitude + curvatureGain * curvature }
  }

  private let signal: SampleBlocks

  /// For each block, the level if it has been computed, or else an upper bound of the level. Because of the filter's
  /// delay, a level found in one block may belong to a point up to six samples earlier, and so to the previous block.
  private(set) var levels: [Float]

  /// For each block, whether its level has been computed.
  private(set) var isExact: [Bool]
  private let magnitudes: [Float]

  /// Computes upper bounds of the levels.
  ///
  /// - Parameter magnitudes: the magnitudes of the signal's blocks (see `SampleBlocks.levels`).
  init(_ signal: SampleBlocks, magnitudes: [Float]) {
    self.signal = signal
    self.magnitudes = magnitudes
    isExact = Array(repeating: false, count: magnitudes.count)
    levels = Array(repeating: 0, count: magnitudes.count)
    for index in SampleBlocks.margin..<magnitudes.count {
      let highest = max(magnitudes[index], magnitudes[index - 1], magnitudes[index - 2])
      levels[index] = highest * Self.greatestGain
    }
  }

  /// Computes the level of every block that may be above `threshold`.
  mutating func refine(above threshold: Float) {
    for index in SampleBlocks.margin..<levels.count where levels[index] > threshold { refine(index, above: threshold) }
  }

  /// Returns the highest level. It has the unit of the samples.
  mutating func highest() -> Float {
    var highest = magnitudes.max() ?? 0
    for index in SampleBlocks.margin..<levels.count where levels[index] > highest {
      refine(index, above: highest)
      highest = max(highest, isExact[index] ? levels[index] : 0)
    }
    return highest
  }

  /// Computes a block's level if it may be above `threshold`.
  private mutating func refine(_ index: Int, above threshold: Float) {
    guard !isExact[index] else { return }
    levels[index] = min(levels[index], bound(at: index))
    guard levels[index] > threshold else { return }
    levels[index] = max(Self.level(signal.blocks, at: index), magnitudes[index])
    isExact[index] = true
  }

  /// Returns an upper bound of a block's level. This takes far less time than computing the level.
  func bound(at index: Int) -> Float {
    // The values lie between samples of this block and of the previous block.
    let magnitude = max(magnitudes[index], magnitudes[index - 1])
    let curvature = Self.greatestCurvature(signal.blocks, at: index)
    let bound = max(
      Self.bounds.outer.value(magnitude: magnitude, curvature: curvature),
      Self.bounds.inner.value(magnitude: magnitude, curvature: curvature))
    return bound * 1.00001  // Covers the rounding in both calculations.
  }

  /// Returns the greatest magnitude of a second difference under the filter, which covers a block and the eleven
  /// samples before it.
  private static func greatestCurvature(_ blocks: [SIMD8<Float>], at index: Int) -> Float {
    unsafe blocks.withUnsafeBytes { bytes in
      let start = index * MemoryLayout<SIMD8<Float>>.stride
      @inline(__always) func squares(at sample: Int) -> SIMD8<Float> {
        @inline(__always) func eight(_ sample: Int) -> SIMD8<Float> {
          // unsafe: the loads begin eleven samples before the block, which is inside the array (see `level`). They end
          // with the block's own last sample.
          unsafe bytes.loadUnaligned(fromByteOffset: start + sample * 4, as: SIMD8<Float>.self)
        }
        let difference = eight(sample) - 2 * eight(sample - 1) + eight(sample - 2)
        return difference * difference
      }
      // Seventeen differences, in three overlapping vectors.
      let (first, second, third) = (squares(at: -9), squares(at: -1), squares(at: 0))
      let low = SampleBlocks.greater(SampleBlocks.greater(first.lowHalf, second.lowHalf), third.lowHalf)
      let high = SampleBlocks.greater(SampleBlocks.greater(first.highHalf, second.highHalf), third.highHalf)
      return SampleBlocks.greatest(SIMD8(lowHalf: low, highHalf: high)).squareRoot()
    }
  }

  /// Returns the true peak of a whole sound in hundredths of a dBTP, at least -10,000.
  static func hundredthsDBTP(of samples: [Int16]) -> Int {
    let signal = SampleBlocks(samples)
    var truePeak = TruePeak(signal, magnitudes: signal.levels().magnitudes)
    let peak = truePeak.highest()
    return max(-10_000, Decibels.hundredths(20 * log10(max(1, Double(peak)) / 32_768)))
  }

  private static func level(_ blocks: [SIMD8<Float>], at index: Int) -> Float {
    unsafe blocks.withUnsafeBytes { bytes in
      let start = index * MemoryLayout<SIMD8<Float>>.stride
      var (outerEven, outerOdd) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
      var (innerEven, innerOdd) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
      for tap in 0..<6 {
        // unsafe: `index` is at least `margin`, which is two blocks. The eleven samples before the block are therefore
        // inside the array.
        let near = unsafe bytes.loadUnaligned(fromByteOffset: start - tap * 4, as: SIMD8<Float>.self)
        let far = unsafe bytes.loadUnaligned(fromByteOffset: start - (11 - tap) * 4, as: SIMD8<Float>.self)
        let (sum, difference, weights) = (near + far, near - far, taps[tap])
        outerEven += sum * weights.x
        outerOdd += difference * weights.y
        innerEven += sum * weights.z
        innerOdd += difference * weights.w
      }
      @inline(__always) func greatestSquares(_ values: SIMD8<Float>) -> SIMD4<Float> {
        let squares = values * values
        return SampleBlocks.greater(squares.lowHalf, squares.highHalf)
      }
      let outer = SampleBlocks.greater(greatestSquares(outerEven + outerOdd), greatestSquares(outerEven - outerOdd))
      let inner = SampleBlocks.greater(greatestSquares(innerEven + innerOdd), greatestSquares(innerEven - innerOdd))
      return SampleBlocks.greatest(SIMD8(lowHalf: outer, highHalf: inner)).squareRoot()
    }
  }
}
