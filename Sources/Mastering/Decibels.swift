// SPDX-License-Identifier: Apache-2.0

/// Decibels in whole hundredths, and their conversion to factors.
///
/// Every value that affects a sample is calculated with +, -, ×, ÷ and square roots, whose results IEEE 754 defines to
/// the last bit. `pow`, `exp` and `sin` may differ in the last bit between C libraries, and one different rounding
/// gives a different file.
enum Decibels {
  /// 10^(1/2000), the amplitude factor of 0.01 dB.
  private static let hundredth = 1.001151955538168876984203236747

  /// Returns the amplitude factor for a number of hundredths of a decibel, by repeated squaring.
  static func factor(hundredths: Int) -> Double {
    var result = 1.0
    var power = hundredth
    var rest = hundredths.magnitude
    while rest > 0 {
      if rest & 1 == 1 { result *= power }
      power *= power
      rest >>= 1
    }
    return hundredths < 0 ? 1 / result : result
  }

  /// Returns decibels in whole hundredths. The rounding removes differences in the last bit between machines'
  /// logarithms.
  static func hundredths(_ decibels: Double) -> Int {
    Int((decibels * 100).rounded(.toNearestOrEven))
  }
}
