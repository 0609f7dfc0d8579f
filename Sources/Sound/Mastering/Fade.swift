// SPDX-License-Identifier: Apache-2.0

/// Raised-cosine fades at the ends of a recording, so that it neither begins nor ends with a step.
enum Fade {
  /// The lengths of the fades in samples: 2 ms in and 5 ms out at 22,050 Hz. They are short enough to preserve every
  /// consonant, and long enough to avoid a click.
  static let (inLength, outLength) = (44, 110)

  /// Fades the samples of `range`. If the sound is too short for both fades, both are shortened in proportion.
  static func apply(to samples: inout [Int16], in range: Range<Int>, start: Bool = true, end: Bool = true) {
    let both = inLength + outLength
    let inCount = range.count < both ? range.count * inLength / both : inLength
    let outCount = range.count < both ? range.count - inCount : outLength
    for index in 0..<(start ? inCount : 0) {
      scale(&samples[range.lowerBound + index], by: factor(index, of: inCount))
    }
    for index in 0..<(end ? outCount : 0) {
      scale(&samples[range.upperBound - 1 - index], by: factor(index, of: outCount))
    }
  }

  /// Returns sin²(π/2 × index / count), the raised cosine from 0 to 1.
  ///
  /// The sine is calculated by its Taylor polynomial up to the 11th power, whose error is at most 6 × 10⁻⁸ up to π/2.
  /// The polynomial gives the same bits on every machine, which `sin` does not guarantee.
  static func factor(_ index: Int, of count: Int) -> Double {
    let x = 1.570796326794896619 * Double(index) / Double(count)
    let square = x * x
    var term = x
    var sine = x
    for power in [3.0, 5, 7, 9, 11] {
      term = -term * square / (power * (power - 1))
      sine += term
    }
    return sine * sine
  }

  private static func scale(_ sample: inout Int16, by factor: Double) {
    sample = Int16((Double(sample) * factor).rounded(.toNearestOrEven))
  }
}
