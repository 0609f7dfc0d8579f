// SPDX-License-Identifier: Apache-2.0

/// Samples as floats in blocks of eight. Levels are measured and gains are set for each block.
///
/// Eight samples are 0.36 ms at 22,050 Hz, which is short compared with the limiter's look-ahead. They fill one or two
/// vector registers. A value of 1 is one 16-bit step, and a Float represents every such value exactly.
struct SampleBlocks {
  static let length = 8

  /// The number of blocks of silence before the first sample, for filters that read earlier samples.
  static let margin = 2

  /// The blocks: `margin` blocks of zeros, then the samples, then zeros to the end of the last block.
  private(set) var blocks: [SIMD8<Float>]

  /// The number of samples.
  let count: Int

  /// Creates blocks from samples.
  ///
  /// - Parameter offset: the constant to subtract from each sample.
  init(_ samples: [Int16], offset: Int = 0) {
    count = samples.count
    let whole = count / Self.length
    let total = Self.margin + (count + Self.length - 1) / Self.length
    let offset = Float(offset)
    blocks = Array(repeating: .zero, count: total)
    unsafe samples.withUnsafeBytes { bytes in
      for index in 0..<whole {
        // unsafe: `whole` blocks of eight 16-bit samples lie inside the array.
        let eight = unsafe bytes.loadUnaligned(fromByteOffset: index * 16, as: SIMD8<Int16>.self)
        blocks[Self.margin + index] = SIMD8<Float>(eight) - offset
      }
    }
    for position in whole * Self.length..<count {
      blocks[total - 1][position % Self.length] = Float(samples[position]) - offset
    }
  }

  /// Returns the sum of squares and the greatest magnitude of each block, including the margin.
  func levels() -> (energies: [Float], magnitudes: [Float]) {
    var energies = [Float](repeating: 0, count: blocks.count)
    var magnitudes = energies
    for index in blocks.indices {
      let squares = blocks[index] * blocks[index]
      let four = squares.lowHalf + squares.highHalf
      let two = four.lowHalf + four.highHalf
      energies[index] = two.x + two.y
      magnitudes[index] = Self.greatest(squares).squareRoot()
    }
    return (energies, magnitudes)
  }

  /// Returns the greatest of eight values.
  @inline(__always)
  static func greatest(_ values: SIMD8<Float>) -> Float {
    let four = greater(values.lowHalf, values.highHalf)
    let two = SIMD2(greater(four.x, four.z), greater(four.y, four.w))
    return greater(two.x, two.y)
  }

  /// Returns the greater value of each pair. The lanes are written out, because the compiler turns this form into one
  /// instruction. It does not do so for the standard library's comparison and selection of vectors.
  @inline(__always)
  static func greater(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> SIMD4<Float> {
    SIMD4(
      greater(first.x, second.x), greater(first.y, second.y), greater(first.z, second.z), greater(first.w, second.w))
  }

  @inline(__always)
  private static func greater(_ first: Float, _ second: Float) -> Float { first > second ? first : second }

  /// Returns the samples as 16-bit integers, multiplied by `gain` and by a curve that is linear from knot to knot.
  ///
  /// - Parameter curve: one factor for the beginning of each block, and one for the end of the last block, including
  ///   the margin.
  func rendered(gain: Float, curve: [Float]) -> [Int16] {
    let ramp = SIMD8<Float>(0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)
    // After adding 1.5 × 2²³ a Float has no bits left for a fraction. IEEE 754 rounds it to the nearest integer, with
    // halves to even, and the integer can be read from the low bits. The result is the same on every machine. Unlike
    // `rounded()`, the addition is vectorised.
    let shifter = SIMD8<Float>(repeating: 12_582_912)
    let limit = SIMD4<Float>(repeating: 32_767)
    @inline(__always) func clamped(_ four: SIMD4<Float>) -> SIMD4<Float> {
      -Self.greater(-Self.greater(four, -limit), -limit)
    }
    let integers = (Self.margin..<blocks.count).map { index in
      let step = curve[index + 1] - curve[index]
      let value = blocks[index] * (gain * (curve[index] + step * ramp))
      let safe = SIMD8(lowHalf: clamped(value.lowHalf), highHalf: clamped(value.highHalf))
      let bits = unsafe unsafeBitCast(safe + shifter, to: SIMD8<Int32>.self)  // Same size; any bits are valid.
      return SIMD8<Int16>(truncatingIfNeeded: bits &- 0x4B40_0000)
    }
    return unsafe integers.withUnsafeBytes { bytes in
      // unsafe: a SIMD8<Int16> consists of eight adjacent Int16, and `count` is at most the blocks' capacity.
      unsafe Array(bytes.bindMemory(to: Int16.self).prefix(count))
    }
  }
}
