// SPDX-License-Identifier: Apache-2.0

/// Samples as floats in blocks of eight, the unit in which levels are found and gains are set.
///
/// Eight samples are 0.36 ms at 22,050 Hz: short beside the limiter's look-ahead, and one or two vector registers.
/// Values stay in units of one 16-bit step, which a Float holds exactly.
struct SampleBlocks {
  static let length = 8

  /// Blocks of silence before the first sample, so that a filter's taps find something there.
  static let margin = 2

  /// `margin` blocks of zeros, then the samples, then zeros to the end of the last block.
  private(set) var blocks: [SIMD8<Float>]

  /// How many samples there are.
  let count: Int

  /// - Parameter offset: the constant to take off each sample.
  init(_ samples: [Int16], offset: Int = 0) {
    count = samples.count
    let whole = count / Self.length
    let total = Self.margin + (count + Self.length - 1) / Self.length
    let offset = Float(offset)
    blocks = Array(repeating: .zero, count: total)
    unsafe samples.withUnsafeBytes { bytes in
      for index in 0..<whole {
        // `whole` blocks of eight 16-bit samples lie inside the array.
        let eight = unsafe bytes.loadUnaligned(fromByteOffset: index * 16, as: SIMD8<Int16>.self)
        blocks[Self.margin + index] = SIMD8<Float>(eight) - offset
      }
    }
    for position in whole * Self.length..<count {
      blocks[total - 1][position % Self.length] = Float(samples[position]) - offset
    }
  }

  /// For each block the sum of its squares and its greatest magnitude, margin included.
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

  /// The greatest of eight.
  @inline(__always)
  static func greatest(_ values: SIMD8<Float>) -> Float {
    let four = greater(values.lowHalf, values.highHalf)
    let two = SIMD2(greater(four.x, four.z), greater(four.y, four.w))
    return greater(two.x, two.y)
  }

  /// The greater of each pair, written lane by lane because that becomes one instruction, which the comparing and
  /// choosing of the standard library's vectors do not.
  @inline(__always)
  static func greater(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> SIMD4<Float> {
    SIMD4(
      greater(first.x, second.x), greater(first.y, second.y), greater(first.z, second.z), greater(first.w, second.w))
  }

  @inline(__always)
  private static func greater(_ first: Float, _ second: Float) -> Float { first > second ? first : second }

  /// The samples times `gain` and a curve that runs straight from knot to knot, as 16-bit integers.
  ///
  /// - Parameter curve: one factor for the beginning of each block and one for the end of the last, margin included.
  func rendered(gain: Float, curve: [Float]) -> [Int16] {
    let ramp = SIMD8<Float>(0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)
    // Adding 1.5 × 2²³ leaves no bit for fractions: IEEE 754 rounds to the nearest integer, halves to even, and the
    // integer can be read from the low bits. The same on every machine, and vectorised, which `rounded()` is not.
    let shifter = SIMD8<Float>(repeating: 12_582_912)
    let limit = SIMD4<Float>(repeating: 32_767)
    @inline(__always) func clamped(_ four: SIMD4<Float>) -> SIMD4<Float> {
      -Self.greater(-Self.greater(four, -limit), -limit)
    }
    let integers = (Self.margin..<blocks.count).map { index in
      let step = curve[index + 1] - curve[index]
      let value = blocks[index] * (gain * (curve[index] + step * ramp))
      let safe = SIMD8(lowHalf: clamped(value.lowHalf), highHalf: clamped(value.highHalf))
      let bits = unsafe unsafeBitCast(safe + shifter, to: SIMD8<Int32>.self)  // same size, any bits are valid
      return SIMD8<Int16>(truncatingIfNeeded: bits &- 0x4B40_0000)
    }
    return unsafe integers.withUnsafeBytes { bytes in
      // A SIMD8<Int16> is eight Int16 side by side; `count` is at most the blocks' capacity.
      unsafe Array(bytes.bindMemory(to: Int16.self).prefix(count))
    }
  }
}
