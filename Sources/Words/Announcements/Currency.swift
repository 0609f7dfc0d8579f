// SPDX-License-Identifier: Apache-2.0

/// An ISO 4217 currency: its code, and the number of decimal digits that its minor unit takes.
///
/// The numbers of digits come from ISO 4217, list one (2026), and not from CLDR. CLDR states how many digits people
/// write (none for the Iranian rial), but a payment has as many digits as the standard defines.
public struct Currency: Sendable, Hashable {
  /// The code: three upper-case letters.
  public let code: String

  /// The number of decimal digits of the minor unit: 0, 2 or 3.
  public let minorDigits: Int

  /// Creates a currency from its code.
  ///
  /// - Parameter code: three upper-case letters, as in the standard.
  /// - Returns: `nil` if the code is not an active currency of ISO 4217. Fund codes (`CLF` …), precious metals (`XAU`
  ///   …) and drawing rights (`XDR`) are excluded, because a shop does not receive them as payment.
  public init?(code: String) {
    guard let minorDigits = Self.minorDigitsByCode[code] else { return nil }
    self.code = code
    self.minorDigits = minorDigits
  }

  /// Returns the currency of a code.
  ///
  /// - Parameter field: the field that contains the code, for the error: `currency`.
  /// - Throws: `.fieldInvalid`, with the currency that is probably meant, or with the meaning of a code that is not a
  ///   currency.
  public static func named(_ code: String, field: String) throws(AnnouncementError) -> Currency {
    if let currency = Currency(code: code) { return currency }
    let meant = code.uppercased()
    if fundsAndMetals.contains(meant) {
      throw AnnouncementError(
        .fieldInvalid, field, "is the ISO 4217 code of a fund, a metal or another unit that no shop receives",
        remedy: "give the currency in which the payer paid, such as CNY, USD or INR")
    }
    throw AnnouncementError(
      .fieldInvalid, field, "is not an active ISO 4217 code",
      remedy: Currency(code: meant) != nil
        ? "did you mean \(meant)?" : "give three upper-case letters, such as CNY, USD or INR")
  }

  /// The other codes of ISO 4217, list one, as Debian's iso-codes has them. XTS is for tests, and XXX means no
  /// currency.
  private static let fundsAndMetals: Set<String> = [
    "BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI", "UYW", "XAG", "XAU", "XBA", "XBB", "XBC", "XBD",
    "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX",
  ]

  /// The number of minor units in one major unit: 1, 100 or 1,000.
  public var minorUnitsPerMajor: Int64 {
    (0..<minorDigits).reduce(into: 1) { scale, _ in scale *= 10 }
  }

  private static let minorDigitsByCode: [String: Int] = {
    let codesByDigits: [Int: String] = [
      0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
      2: """
      AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP \
      CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR \
      JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN \
      NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP \
      SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
      """,
      3: "BHD IQD JOD KWD LYD OMR TND",
    ]
    return codesByDigits.reduce(into: [:]) { table, entry in
      for code in entry.value.split(separator: " ") { table[String(code)] = entry.key }
    }
  }()
}
