// SPDX-License-Identifier: Apache-2.0

/// An ISO 4217 currency: its code and how many decimal digits its minor unit has.
///
/// The digits come from ISO 4217's list one (2026), not from CLDR: CLDR gives the digits that people write
/// (none for the Iranian rial), while a payment carries the digits that the standard defines.
public struct Currency: Sendable, Hashable {
  /// Three upper-case letters.
  public let code: String

  /// Decimal digits of the minor unit: 0, 2 or 3.
  public let minorDigits: Int

  /// - Parameter code: three letters, upper case as the standard writes them.
  /// - Returns: `nil` for a code that is not an active currency of ISO 4217. Fund codes (`CLF` …),
  ///   precious metals (`XAU` …) and drawing rights (`XDR`) are not money that a shop receives, and are left out.
  public init?(code: String) {
    guard let minorDigits = Self.minorDigitsByCode[code] else { return nil }
    self.code = code
    self.minorDigits = minorDigits
  }

  /// How many minor units make one major unit: 1, 100 or 1,000.
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
