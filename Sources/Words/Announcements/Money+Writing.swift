// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Money {
  /// Returns the sum as people write it in a locale: `$12.50`, `₹1,23,456.78`.
  ///
  /// The text has all decimal digits of the currency, in the order and with the grouping of Unicode's CLDR. The text
  /// always has the digits and the currency of the sum. The digits are read back, and if they are wrong, the text is
  /// the code and ``decimalText``. The sum never passes through binary floating point.
  ///
  /// The currency has CLDR's standard symbol, which no other currency has in the same locale. It never has the narrow
  /// symbol: `$` would be the sign of twenty currencies, and US dollars in Mexico would look like pesos. In Mexico,
  /// CLDR writes US dollars as `USD 12.50`.
  ///
  /// The exact symbol and the spaces may differ between systems, because CLDR changes them and each system has its own
  /// version of CLDR. The space is a no-break space, so that a line never ends within the sum.
  ///
  /// - Parameter locale: a BCP 47 tag.
  public func written(in locale: String) -> String {
    // Both initializers are exact: a Decimal holds 38 digits, and a sum has at most 16.
    let value = Decimal(sign: .plus, exponent: -currency.minorDigits, significand: Decimal(minorUnits))
    let text = value.formatted(
      Decimal.FormatStyle.Currency(code: currency.code, locale: Locale(identifier: locale))
        .presentation(.standard).precision(.fractionLength(currency.minorDigits)))
    return isShown(in: text) ? text : "\(currency.code)\u{A0}\(decimalText)"
  }

  /// Returns whether a text has exactly the digits of the sum, with a separator before the minor part.
  private func isShown(in text: String) -> Bool {
    let digits = text.unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .decimalNumber ? Character(scalar).wholeNumberValue : nil
    }
    let shown = digits.compactMap(\.self)
    let expected = decimalText.compactMap(\.wholeNumberValue)
    guard shown == expected else { return false }
    guard currency.minorDigits > 0, let last = digits.lastIndex(where: { $0 != nil }) else { return true }
    let separator = last - currency.minorDigits
    return separator > 0 && digits[separator] == nil && digits[(separator + 1)...last].allSatisfy { $0 != nil }
  }
}

extension Int {
  /// Returns the number with the digits and the grouping of a locale (BCP 47).
  func written(in locale: String) -> String { formatted(.number.locale(Locale(identifier: locale))) }
}
