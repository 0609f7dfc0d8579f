// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("Money is exact")
struct MoneyTests {
  @Test(
    "an amount in decimal text becomes minor units by the currency's number of digits",
    arguments: [
      ("12.50", "CNY", 1250), ("12.5", "CNY", 1250), ("12", "CNY", 1200), ("0.01", "USD", 1), ("2.05", "USD", 205),
      ("0012.50", "USD", 1250), ("1250", "JPY", 1250), ("12.345", "KWD", 12345), ("0.001", "BHD", 1),
      ("9999999999999.99", "INR", 999_999_999_999_999),
    ] as [(String, String, Int64)])
  func decimalText(text: String, code: String, minorUnits: Int64) throws {
    #expect(try Books.money(text, code).minorUnits == minorUnits)
  }

  @Test(
    "an amount that is not a plain decimal number is refused, and the error shows an example",
    arguments: [
      "", " ", ".", "12.", ".5", "1,250.00", "1 250", "+1", "-", "1e3", "0x10", "１２", "१२", "12.5.0", "NaN", "inf",
      "¥12", "12.50 ", "12\n", "０",
    ])
  func refusedText(text: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try Books.money(text, "CNY") }
    #expect(error?.code == .fieldInvalid)
    #expect(error?.remedy.contains("such as 12.50") == true)
  }

  @Test(
    "an amount with a minus sign is refused as negative",
    arguments: ["-1", "-12.50", "\u{2212}5", "-.5", "-1,250.00", "-$5"])
  func negativeText(text: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try Books.money(text, "CNY") }
    #expect(error?.code == .fieldInvalid && error?.problem == "is negative")
  }

  @Test(
    "an amount with more digits than its currency has is refused and never rounded",
    arguments: [("12.505", "CNY"), ("12.500", "USD"), ("1.0", "JPY"), ("1.2345", "KWD")])
  func tooPrecise(text: String, code: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try Books.money(text, code) }
    #expect(error?.problem == "has more decimal digits than \(code) has")
  }

  @Test(
    "zero and sums too large to be spoken are refused",
    arguments: ["0", "0.00", "10000000000000", "9" + String(repeating: "9", count: 40)])
  func outOfRange(text: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try Books.money(text, "CNY") }
    #expect(error?.code == .fieldInvalid)
  }

  @Test("the error for an amount does not contain the amount")
  func errorIsPrivate() throws {
    let error = #expect(throws: AnnouncementError.self) { try Books.money("73519.4242", "CNY") }
    #expect(error?.description == "amount: has more decimal digits than CNY has; CNY has 2, and nothing is rounded.")
  }

  @Test("the JSON number 2.05 keeps its digits, although binary floating point would give 2.04")
  func jsonNumber() throws {
    let decimal = try JSONDecoder().decode(Decimal.self, from: Data("2.05".utf8))
    let currency = try Currency(code: "USD").orThrow("USD")
    #expect(try Money(decimal: decimal, currency: currency).minorUnits == 205)
    #expect(throws: AnnouncementError.self) { try Money(decimal: -decimal, currency: currency) }
  }

  @Test(
    "a sum is written as text with all of its currency's digits",
    arguments: [("12.5", "CNY", "12.50"), ("7", "JPY", "7"), ("0.05", "KWD", "0.050")])
  func decimalTextBack(text: String, code: String, written: String) throws {
    #expect(try Books.money(text, code).decimalText == written)
  }

  @Test("a currency has the number of digits of ISO 4217, and a code outside ISO 4217 is not a currency")
  func currencies() {
    for (code, digits) in [
      ("CNY", 2), ("JPY", 0), ("KRW", 0), ("VND", 0), ("KWD", 3), ("TND", 3), ("IRR", 2), ("XCG", 2),
    ] {
      #expect(Currency(code: code)?.minorDigits == digits)
    }
    for code in ["", "cny", "XXX", "XAU", "USDT", "CLF", "人民币", "US"] { #expect(Currency(code: code) == nil) }
  }
}
