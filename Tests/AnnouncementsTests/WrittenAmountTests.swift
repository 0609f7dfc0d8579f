// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

/// The sums of banners. The symbols and spaces are those of the CLDR data in Foundation for Linux.
@Suite("A sum is written as people write it")
struct WrittenAmountTests {
  @Test(
    "a sum is written with the locale's own symbol for each foreign and domestic currency",
    arguments: [
      ("en-US", ["$12.50", "CA$12.50", "MX$12.50", "CN¥12.50", "¥1,250", "₹123,456.78", "KWD 1.250", "€12.50"]),
      (
        "es-MX",
        ["USD 12.50", "CAD 12.50", "$12.50", "CNY 12.50", "JPY 1,250", "INR 123,456.78", "KWD 1.250", "EUR 12.50"]
      ),
      ("hi-IN", ["$12.50", "CA$12.50", "MX$12.50", "CN¥12.50", "JP¥1,250", "₹1,23,456.78", "KWD 1.250", "€12.50"]),
      ("ja-JP", ["$12.50", "CA$12.50", "MX$12.50", "元 12.50", "¥1,250", "₹123,456.78", "KWD 1.250", "€12.50"]),
      ("ko-KR", ["US$12.50", "CA$12.50", "MX$12.50", "CN¥12.50", "JP¥1,250", "₹123,456.78", "KWD 1.250", "€12.50"]),
      ("zh-CN", ["US$12.50", "CA$12.50", "MX$12.50", "¥12.50", "JP¥1,250", "₹123,456.78", "KWD 1.250", "€12.50"]),
    ])
  func currencies(locale: String, texts: [String]) throws {
    let sums = [
      ("12.50", "USD"), ("12.50", "CAD"), ("12.50", "MXN"), ("12.50", "CNY"), ("1250", "JPY"), ("123456.78", "INR"),
      ("1.250", "KWD"), ("12.50", "EUR"),
    ]
    for (sum, text) in zip(sums, texts) {
      #expect(try Books.money(sum.0, sum.1).written(in: locale) == text.replacing(" ", with: "\u{A0}"))
    }
  }

  @Test(
    "the smallest and the largest sums are written with all of their digits",
    arguments: [
      ("en-US", "$0.01", "$9,999,999,999,999.99", "¥1", "¥9,999,999,999,999", "KWD 9,999,999,999,999.999"),
      ("es-MX", "USD 0.01", "USD 9,999,999,999,999.99", "JPY 1", "JPY 9,999,999,999,999", "KWD 9,999,999,999,999.999"),
      (
        "hi-IN", "$0.01", "$99,99,99,99,99,999.99", "JP¥1", "JP¥99,99,99,99,99,999", "KWD 99,99,99,99,99,999.999"
      ),
      ("ja-JP", "$0.01", "$9,999,999,999,999.99", "¥1", "¥9,999,999,999,999", "KWD 9,999,999,999,999.999"),
      ("ko-KR", "US$0.01", "US$9,999,999,999,999.99", "JP¥1", "JP¥9,999,999,999,999", "KWD 9,999,999,999,999.999"),
      ("zh-CN", "US$0.01", "US$9,999,999,999,999.99", "JP¥1", "JP¥9,999,999,999,999", "KWD 9,999,999,999,999.999"),
    ])
  func extremes(
    locale: String, cent: String, mostDollars: String, yen: String, mostYen: String, mostDinars: String
  ) throws {
    let sums = [
      ("0.01", "USD"), ("9999999999999.99", "USD"), ("1", "JPY"), ("9999999999999", "JPY"),
      ("9999999999999.999", "KWD"),
    ]
    for (sum, text) in zip(sums, [cent, mostDollars, yen, mostYen, mostDinars]) {
      #expect(try Books.money(sum.0, sum.1).written(in: locale) == text.replacing(" ", with: "\u{A0}"))
    }
  }

  @Test(
    "a sum is written with the decimal places of ISO 4217, even if people usually write fewer",
    arguments: BannerTests.locales)
  func standardDigits(locale: String) throws {
    // CLDR writes these currencies without a fraction.
    for code in ["IRR", "LBP", "IDR", "COP", "TWD", "PKR"] {
      #expect(try Books.money("1234.05", code).written(in: locale).hasSuffix("1,234.05"), "\(code)")
    }
  }

  private static let codes = [
    "USD", "EUR", "GBP", "CNY", "JPY", "KRW", "INR", "MXN", "HKD", "TWD", "SGD", "KWD", "BHD", "CLP", "ARS", "CHF",
    "VND",
    "XOF", "IRR", "TRY", "AED", "UGX",
  ]

  /// The test's own reading of a formatted sum, without its symbol and its grouping.
  private static func decimalText(of text: String) -> String {
    text.filter { $0.isASCII && ($0.isNumber || $0 == ".") }
  }

  @Test("a random sum is written with the digits of its payment", arguments: BannerTests.locales)
  func roundTrip(locale: String) throws {
    var random = SplitMix64(seed: 17)
    for code in Self.codes {
      let currency = try Currency(code: code).orThrow(code)
      for _ in 0..<60 {
        // Each number of digits is equally likely, up to the largest sum.
        let most = Int64.random(in: 1...16, using: &random)
        let bound = (0..<most).reduce(into: Int64(1)) { power, _ in power *= 10 }
        let largest = Money.largestMajorUnits * currency.minorUnitsPerMajor
        let sum = try Money(minorUnits: Int64.random(in: 1...min(bound, largest), using: &random), currency: currency)
        let text = sum.written(in: locale)
        #expect(Self.decimalText(of: text) == sum.decimalText, "\(text)")
        #expect(!text.contains("-") && !text.contains("−") && !text.contains("("), "\(text)")
      }
    }
  }

  @Test("no two currencies look alike in a written sum", arguments: BannerTests.locales)
  func symbols(locale: String) throws {
    var owners: [String: String] = [:]
    for first in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
      for second in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
        for third in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
          guard let currency = Currency(code: String([first, second, third])) else { continue }
          let text = try Money(minorUnits: currency.minorUnitsPerMajor, currency: currency).written(in: locale)
          // The decimals are left out, because they differ between currencies.
          let symbol = text.filter { !$0.isNumber && $0 != "." }
          #expect(owners[symbol] == nil, "\(currency.code) and \(owners[symbol] ?? "")")
          owners[symbol] = currency.code
        }
      }
    }
    #expect(owners.count > 150)
  }

  @Test("a written sum is never broken between two lines", arguments: BannerTests.locales)
  func spaces(locale: String) throws {
    for code in Self.codes {
      #expect(try !Books.money("1234", code).written(in: locale).contains(" "), "\(code)")
    }
  }

  @Test(
    "in a locale with its own digits or direction marks, the digits of a written sum stay the same",
    arguments: ["ar-EG", "fa-IR", "mr-IN", "my-MM"])
  func otherDigits(locale: String) throws {
    let text = try Books.money("1234567.89", "USD").written(in: locale)
    let digits = text.compactMap(\.wholeNumberValue).map(String.init).joined()
    #expect(digits == "123456789", "\(text)")
  }
}
