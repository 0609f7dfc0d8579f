// SPDX-License-Identifier: Apache-2.0

/// Decibels in whole hundredths, and what they are as factors.
///
/// Everything that decides a sample is worked out with +, -, ×, ÷ and square roots, whose every bit IEEE 754 fixes;
/// `pow`, `exp` and `sin` may differ in the last bit from one C library to another, and one flipped rounding is
/// another file.
enum Decibels {
  /// 10^(1/2000): the factor of an amplitude that is 0.01 dB higher.
  private static let hundredth = 1.001151955538168876984203236747

  /// The amplitude factor for so many hundredths of a decibel, by repeated squaring.
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

  /// Whole hundredths; a last bit that differs between two machines' logarithms is rounded away here.
  static func hundredths(_ decibels: Double) -> Int {
    Int((decibels * 100).rounded(.toNearestOrEven))
  }
}
