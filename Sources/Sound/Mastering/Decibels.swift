// SPDX-License-Identifier: Apache-2.0

/// Decibels as a whole number of hundredths, and their conversion to factors.
///
/// Every value that affects a sample is calculated with +, -, ×, ÷ and square roots. IEEE 754 defines the results of
/// these to the last bit. In contrast, `pow`, `exp` and `sin` may differ in the last bit between C libraries, and a
/// single different rounding gives a different file.
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

  /// Returns decibels as a whole number of hundredths. Different machines may calculate logarithms that differ in the
  /// last bit. The rounding removes this difference.
  static func hundredths(_ decibels: Double) -> Int {
    Int((decibels * 100).rounded(.toNearestOrEven))
  }
}
