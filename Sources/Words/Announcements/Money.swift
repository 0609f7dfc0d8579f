// SPDX-License-Identifier: Apache-2.0

public import struct Foundation.Decimal

/// An exact sum of money: a whole number of minor units of one currency. It is always above zero.
///
/// A sum is created from decimal text or from integer minor units and never passes through binary floating point.
public struct Money: Sendable, Hashable {
  public let currency: Currency

  /// The sum in minor units (cents, fen, paise), at least 1. For yen, which has no minor unit, it is in whole yen.
  public let minorUnits: Int64

  /// The largest sum in major units: ten trillion minus one. For larger sums the number words of the locales differ too
  /// much, and no real payment comes near this limit.
  public static let largestMajorUnits: Int64 = 9_999_999_999_999

  /// Creates a sum from minor units.
  ///
  /// - Parameter field: the field's name for the error, such as `payment.minor`.
  /// - Throws: `.fieldInvalid` for zero, for a negative number, or for more than ``largestMajorUnits``.
  public init(minorUnits: Int64, currency: Currency, field: String = "minor") throws(AnnouncementError) {
    guard minorUnits > 0 else {
      throw Self.notPositive(field, minorUnits == 0 ? "is zero" : "is negative")
    }
    guard minorUnits / currency.minorUnitsPerMajor <= Self.largestMajorUnits else {
      throw Self.tooLarge(field)
    }
    self.minorUnits = minorUnits
    self.currency = currency
  }

  /// Creates a sum from decimal text: digits, and optionally a point with at most as many decimals as the currency has.
  ///
  /// Signs, grouping, exponents and non-ASCII digits are refused, because two readers could take such text for two
  /// different sums.
  ///
  /// - Throws: `.fieldInvalid`, with the name of the field and the correct form.
  public init(decimalText text: String, currency: Currency, field: String = "amount") throws(AnnouncementError) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let digitsOnly = parts.allSatisfy { part in
      !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    guard (1...2).contains(parts.count), digitsOnly else {
      if let sign = text.unicodeScalars.first, sign == "-" || sign == "\u{2212}",
        text.contains(where: \.isNumber), !text.contains(where: \.isLetter)
      {
        throw Self.notPositive(field, "is negative")
      }
      if text.utf8.contains(UInt8(ascii: ",")) {
        throw AnnouncementError(
          .fieldInvalid, field, "has a comma",
          remedy: "write a point before the decimals, such as 12.50, and no separators between thousands")
      }
      throw AnnouncementError(
        .fieldInvalid, field, text.isEmpty ? "is empty" : "is not a plain decimal number",
        remedy: "write digits, optionally followed by a point and more digits, such as 12.50; "
          + "do not add a sign, spaces, grouping, an exponent or a currency sign")
    }
    let fraction = parts.count == 2 ? parts[1] : Substring("").utf8[...]
    guard fraction.count <= currency.minorDigits else {
      throw Self.tooPrecise(field, currency)
    }
    guard parts[0].count <= 30 else { throw Self.tooLarge(field) }
    var minorUnits: Int64 = 0
    let padding = repeatElement(UInt8(ascii: "0"), count: currency.minorDigits - fraction.count)
    for digit in Array(parts[0]) + Array(fraction) + Array(padding) {
      let (shifted, overflowed) = minorUnits.multipliedReportingOverflow(by: 10)
      let (sum, overflowedAgain) = shifted.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
      guard !overflowed, !overflowedAgain else { throw Self.tooLarge(field) }
      minorUnits = sum
    }
    try self.init(minorUnits: minorUnits, currency: currency, field: field)
  }

  /// Creates a sum from a JSON number. The number must have been decoded from its digits.
  ///
  /// - Throws: `.fieldInvalid`, as for decimal text. The error says whether the number is negative or has too many
  ///   digits.
  public init(decimal: Decimal, currency: Currency, field: String = "amount") throws(AnnouncementError) {
    guard decimal.sign == .plus else {
      throw Self.notPositive(field, "is negative")
    }
    // `description` returns all digits of a Decimal, without grouping, an exponent or trailing zeros.
    try self.init(decimalText: decimal.description, currency: currency, field: field)
  }

  private static func notPositive(_ field: String, _ problem: String) -> AnnouncementError {
    AnnouncementError(
      .fieldInvalid, field, problem,
      remedy: "give the sum paid as a number above zero; set kind to the direction of the payment")
  }

  /// The whole major units: 12 in 12.50.
  public var majorPart: Int64 { minorUnits / currency.minorUnitsPerMajor }

  /// The minor units beyond the whole major units: 50 in 12.50.
  public var minorPart: Int64 { minorUnits % currency.minorUnitsPerMajor }

  /// The digits of the minor part, as many as the currency has: `[5, 0]` in 12.50, none for yen.
  public var minorPartDigits: [Int] {
    var rest = minorPart
    var digits: [Int] = []
    for _ in 0..<currency.minorDigits {
      digits.insert(Int(rest % 10), at: 0)
      rest /= 10
    }
    return digits
  }

  /// Whether the sum is exactly one major unit, or exactly one minor unit.
  public var isOneUnit: Bool { minorUnits == 1 || (majorPart == 1 && minorPart == 0) }

  /// The sum as decimal text with all of the currency's digits: `12.50`, or `1250` for yen.
  public var decimalText: String {
    currency.minorDigits == 0 ? "\(majorPart)" : "\(majorPart)." + minorPartDigits.map(String.init).joined()
  }

  private static func tooLarge(_ field: String) -> AnnouncementError {
    AnnouncementError(
      .fieldInvalid, field, "is larger than the largest sum that can be spoken",
      remedy: "give at most \(largestMajorUnits) major units")
  }

  private static func tooPrecise(_ field: String, _ currency: Currency) -> AnnouncementError {
    AnnouncementError(
      .fieldInvalid, field, "has more decimal digits than \(currency.code) has",
      remedy: currency.minorDigits == 0
        ? "\(currency.code) has no decimal digits"
        : "\(currency.code) has \(currency.minorDigits), and nothing is rounded")
  }
}
