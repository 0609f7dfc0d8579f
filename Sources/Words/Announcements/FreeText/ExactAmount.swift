// SPDX-License-Identifier: Apache-2.0

/// An exact decimal number: its digits, and the number of digits after the point.
struct ExactAmount {
  private let digits: Int64
  private let decimals: Int

  /// Creates a number from its digits.
  ///
  /// - Returns: `nil` if there are more digits than the largest amount can have.
  init?(whole: [Int], fraction: [Int]) {
    let all = (whole + fraction).drop { $0 == 0 }
    guard all.count <= 17 else { return nil }
    digits = all.reduce(0) { $0 * 10 + Int64($1) }
    decimals = fraction.count
  }

  /// Creates a number from a whole number and a fraction: 3½.
  ///
  /// - Returns: `nil` for a fraction with more than three decimals.
  init?(whole: [Int], over numerator: Int64, under denominator: Int64) {
    guard whole.count <= 12, denominator > 0, (numerator * 1000) % denominator == 0 else { return nil }
    var digits = whole.reduce(Int64(0)) { $0 * 10 + Int64($1) } * 1000 + numerator * 1000 / denominator
    var decimals = 3
    while decimals > 0, digits % 10 == 0 {
      digits /= 10
      decimals -= 1
    }
    self.init(digits: digits, decimals: decimals)
  }

  private init(digits: Int64, decimals: Int) {
    (self.digits, self.decimals) = (digits, decimals)
  }

  func multiplied(byPowerOfTen power: Int) -> ExactAmount? {
    let moved = min(power, decimals)
    guard let more = Self.multiplied(digits, byPowerOfTen: power - moved) else { return nil }
    return ExactAmount(digits: more, decimals: decimals - moved)
  }

  func adding(_ other: ExactAmount) -> ExactAmount? {
    let decimals = max(decimals, other.decimals)
    guard let left = Self.multiplied(digits, byPowerOfTen: decimals - self.decimals),
      let right = Self.multiplied(other.digits, byPowerOfTen: decimals - other.decimals)
    else { return nil }
    let (sum, overflows) = left.addingReportingOverflow(right)
    return overflows ? nil : ExactAmount(digits: sum, decimals: decimals)
  }

  /// Returns a sum with this number of major units. The result is `nil` for zero, and for a number with more decimals
  /// than the currency has.
  func money(in currency: Currency) -> Money? {
    guard decimals <= currency.minorDigits,
      let minorUnits = Self.multiplied(digits, byPowerOfTen: currency.minorDigits - decimals)
    else { return nil }
    return try? Money(minorUnits: minorUnits, currency: currency)
  }

  /// Returns a sum with this number of minor units.
  func minorUnits(of currency: Currency) -> Money? {
    decimals == 0 ? try? Money(minorUnits: digits, currency: currency) : nil
  }

  private static func multiplied(_ number: Int64, byPowerOfTen power: Int) -> Int64? {
    var result = number
    for _ in 0..<power {
      let (product, overflows) = result.multipliedReportingOverflow(by: 10)
      guard !overflows else { return nil }
      result = product
    }
    return result
  }
}
