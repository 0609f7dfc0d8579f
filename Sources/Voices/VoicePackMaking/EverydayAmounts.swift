// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// The amounts under 10,000 in one currency. A shop usually receives such amounts. The share of these amounts that
/// require a word shows how important the word is.
public struct EverydayAmounts: Sendable {
  /// The limit in major units.
  public static let limit: Int64 = 10_000

  /// The number of amounts in the sample. It is large enough for shares with a precision of a tenth of a per cent.
  private static let sampleSize: Int64 = 4_000

  public let currency: Currency
  private let writer: ScriptWriter

  public init(writer: ScriptWriter, currency: Currency) {
    self.writer = writer
    self.currency = currency
  }

  /// Returns, for each token, the share of the amounts that require the token, from 0 to 1. For a currency with minor
  /// units, the share comes from an evenly distributed sample that is the same each time. Shares are statistics and not
  /// money.
  ///
  /// - Throws: `.currencyUnspeakable`.
  func shares() throws(AnnouncementError) -> [String: Double] {
    let all = Self.limit * currency.minorUnitsPerMajor - 1
    let written = min(all, Self.sampleSize)
    // Steps in the ratio of the golden section distribute the sample evenly in any range. The step has no common
    // divisor with the range, so no amount repeats.
    var step = all * 618 / 1000
    while step.greatestCommonDivisor(with: all) > 1 { step += 1 }
    var counts: [String: Int] = [:]
    for place in 0..<written {
      let amount = try Money(minorUnits: 1 + place * step % all, currency: currency)
      let script = try writer.script(for: .payment(Payment(amount: amount)), shortenings: [.amountOnly])
      for name in Set(script.tokens.map(\.name)) { counts[name, default: 0] += 1 }
    }
    return counts.mapValues { Double($0) / Double(written) }
  }

  /// Returns a sentence about a share: `4.2 % of the amounts under 10,000 USD need it`.
  func phrase(share: Double, smallestAmount: String) -> String {
    let amounts = "the amounts under 10,000 \(currency.code)"
    let parts = smallestAmount.split(separator: " ")
    if parts.count == 2, parts[1] == currency.code,
      let smallest = try? Money(decimalText: String(parts[0]), currency: currency), smallest.majorPart >= Self.limit
    {
      return "\(amounts) do not need it"
    }
    switch share * 100 {
    case ..<0.1: return "less than 0.1 % of \(amounts) need it"
    case ..<10: return "\(PackCheckReport.tenths(share * 100)) % of \(amounts) need it"
    default: return "\(Int((share * 100).rounded())) % of \(amounts) need it"
    }
  }
}

extension Int64 {
  fileprivate func greatestCommonDivisor(with other: Int64) -> Int64 {
    var (a, b) = (self, other)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }
}
