// SPDX-License-Identifier: Apache-2.0

package import Announcements

/// The differences between a provider's minor units and ISO 4217's.
package struct MinorUnitDigits: Sendable, Hashable {
  /// The decimal digits of the provider's minor unit, by currency code.
  package var digits: [String: Int]
  /// The currencies whose minor units the provider does not define clearly.
  package var unclear: Set<String>
  /// Whether the provider's number ends with a zero for every currency with three digits. Another digit would mean that
  /// the provider does not follow its own rule.
  package var thirdDigitIsZero: Bool

  package init(_ digits: [String: Int] = [:], unclear: Set<String> = [], thirdDigitIsZero: Bool = false) {
    (self.digits, self.unclear, self.thirdDigitIsZero) = (digits, unclear, thirdDigitIsZero)
  }

  /// Returns the sum that a number of the provider's minor units stands for.
  ///
  /// - Throws: `AnnouncementError` for a currency that does not exist or is unclear, and for a sum of zero. It is also
  ///   thrown for a sum with a part smaller than the currency's own minor unit, and for a third digit that breaks the
  ///   rule of ``thirdDigitIsZero``.
  package func money(_ units: Int64, _ code: String) throws(AnnouncementError) -> Money {
    let currency = try Currency.named(code.uppercased(), field: "currency")
    guard !unclear.contains(currency.code) else {
      throw AnnouncementError(
        .fieldInvalid, "currency", "has a minor unit that the provider does not define",
        remedy: "send such payments with POST /v1/announcements")
    }
    guard !thirdDigitIsZero || currency.minorDigits < 3 || units.isMultiple(of: 10) else {
      throw AnnouncementError(
        .fieldInvalid, "amount", "does not end with the zero that the provider promises for this currency",
        remedy: "look at the payment in the provider's dashboard")
    }
    let difference = currency.minorDigits - (digits[currency.code] ?? currency.minorDigits)
    let scale = (0..<abs(difference)).reduce(into: Int64(1)) { scale, _ in scale *= 10 }
    if difference >= 0 {
      let (scaled, overflowed) = units.multipliedReportingOverflow(by: scale)
      return try Money(minorUnits: overflowed ? .max : scaled, currency: currency)
    }
    guard units.isMultiple(of: scale) else {
      throw AnnouncementError(
        .fieldInvalid, "amount", "has a part smaller than the currency's minor unit", remedy: "nothing is rounded")
    }
    return try Money(minorUnits: units / scale, currency: currency)
  }
}
