// SPDX-License-Identifier: Apache-2.0

/// The currencies for which at least one language has unit names of its own. If a language has no such names for one of
/// them, it uses the CLDR names of that currency, as it does for all other currencies.
struct CurrencySet: OptionSet, Sendable, Hashable {
  var rawValue: UInt16

  static let cny = CurrencySet(rawValue: 1 << 0)
  static let usd = CurrencySet(rawValue: 1 << 1)
  static let eur = CurrencySet(rawValue: 1 << 2)
  static let gbp = CurrencySet(rawValue: 1 << 3)
  static let jpy = CurrencySet(rawValue: 1 << 4)
  static let krw = CurrencySet(rawValue: 1 << 5)
  static let inr = CurrencySet(rawValue: 1 << 6)
  static let hkd = CurrencySet(rawValue: 1 << 7)
  static let twd = CurrencySet(rawValue: 1 << 8)
  static let sgd = CurrencySet(rawValue: 1 << 9)
  static let kwd = CurrencySet(rawValue: 1 << 10)
  static let bhd = CurrencySet(rawValue: 1 << 11)
  static let vnd = CurrencySet(rawValue: 1 << 12)
  static let thb = CurrencySet(rawValue: 1 << 13)
  static let mxn = CurrencySet(rawValue: 1 << 14)

  /// The dinars that are divided into a thousand fils.
  static let dinars: CurrencySet = [.kwd, .bhd]

  /// Creates a set with the currency of an ISO 4217 code, or an empty set.
  init(code: String) {
    switch code {
    case "CNY": self = .cny
    case "USD": self = .usd
    case "EUR": self = .eur
    case "GBP": self = .gbp
    case "JPY": self = .jpy
    case "KRW": self = .krw
    case "INR": self = .inr
    case "HKD": self = .hkd
    case "TWD": self = .twd
    case "SGD": self = .sgd
    case "KWD": self = .kwd
    case "BHD": self = .bhd
    case "VND": self = .vnd
    case "THB": self = .thb
    case "MXN": self = .mxn
    default: self = []
    }
  }

  init(rawValue: UInt16) {
    self.rawValue = rawValue
  }
}
