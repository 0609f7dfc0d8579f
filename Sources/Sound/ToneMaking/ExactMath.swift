// SPDX-License-Identifier: Apache-2.0

/// Functions that give the same bits on every machine.
///
/// The functions use only +, -, × and ÷, whose results IEEE 754 defines to the last bit. In contrast, `sin` and `exp`
/// of different C libraries may differ in the last bit, and a single different rounding gives a different file.
enum ExactMath {
  /// Returns the sine and the cosine of an angle in radians, by their Taylor series up to the 32nd power. The series
  /// are exact to 10⁻¹⁴ for angles from 0 to π.
  static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
    let square = angle * angle
    var (sine, cosine) = (angle, 1.0)
    var (sineTerm, cosineTerm) = (angle, 1.0)
    var power = 2.0
    while power <= 32 {
      cosineTerm = -cosineTerm * square / (power * (power - 1))
      sineTerm = -sineTerm * square / (power * (power + 1))
      cosine += cosineTerm
      sine += sineTerm
      power += 2
    }
    return (sine, cosine)
  }

  /// Returns the factor by which an amplitude falls with each sample, if it falls by 60 dB in the given number of
  /// samples. The factor is 10^(-3 / samples), calculated with the Taylor series of the exponential function. The
  /// number of samples must be at least 100.
  static func decayFactor(samplesTo60Decibels samples: Double) -> Double {
    let exponent = -6.907755278982137 / samples  // -3 × ln 10
    var (sum, term) = (1.0, 1.0)
    for index in 1...12 {
      term = term * exponent / Double(index)
      sum += term
    }
    return sum
  }
}
