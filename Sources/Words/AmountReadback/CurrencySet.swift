// SPDX-License-Identifier: Apache-2.0

/// A set of the currencies for which at least one language has names of units. All other currencies are one element,
/// ``other``.
struct CurrencySet: OptionSet, Sendable, Hashable, ExpressibleByStringLiteral {
  var rawValue: UInt64

  /// A currency without names here. Its major unit has CLDR's names, and its minor units have none.
  static let other = CurrencySet(rawValue: 1 << 63)

  /// The dinars that are divided into a thousand fils.
  static let dinars: CurrencySet = ["KWD", "BHD"]

  private static let codes = [
    "AED", "ARS", "AUD", "BAM", "BHD", "BOB", "BRL", "CAD", "CHF", "CNY", "COP", "CRC", "CUP", "DOP", "EUR", "FKP",
    "GBP", "GTQ", "HKD", "HNL", "IDR", "ILS", "INR", "JPY", "KES", "KPW", "KRW", "KWD", "KYD", "LKR", "MXN", "MYR",
    "NGN", "NIO", "NPR", "NZD", "PAB", "PEN", "PHP", "PKR", "SAR", "SBD", "SGD", "SSP", "SVC", "THB", "TOP", "TWD",
    "USD", "UYU", "VED", "VES", "VND", "XAF", "XCD", "XCG", "XOF", "XPF", "ZAR", "ZWG",
  ]

  private static let sets = Dictionary(
    uniqueKeysWithValues: codes.enumerated().map { ($1, CurrencySet(rawValue: 1 << $0)) })

  /// Creates a set with the currency of an ISO 4217 code.
  init(code: String) {
    self = Self.sets[code] ?? .other
  }

  /// Creates a set with the currency of an ISO 4217 code that is listed here.
  init(stringLiteral code: String) {
    // Not from outside: the codes are those in the tables of this module.
    guard let set = Self.sets[code] else { preconditionFailure("\(code) is not in the list of currencies.") }
    self = set
  }

  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}
