// SPDX-License-Identifier: Apache-2.0

import Announcements
import TestSupport
import Testing

/// A recorded voice's vocabulary is finite and whole: no amount needs a token that is not in it.
@Suite("Every amount's tokens are listed")
struct TokenChecks {
  @Test("from 0.01 to 9,999.99, every step, and 100,000 random ones", arguments: AmountChecks.pairs)
  func listed(locale: String, code: String) throws {
    let writer = try Checkout.phraseBooks().writer(for: locale)
    let currency = try Currency(code: code).orThrow(code)
    let listed = Set(try writer.vocabulary(currencies: [currency]).words.map(\.token))
    var random = SplitMix64(seed: 20_261_121)
    var missing: Set<String> = []
    func look(_ minorUnits: Int64) throws {
      let amount = try Money(minorUnits: minorUnits, currency: currency)
      let script = try writer.script(for: .payment(Payment(amount: amount)), shortenings: [.amountOnly])
      for token in script.tokens where !listed.contains(token.name) { missing.insert(token.name) }
    }
    for minorUnits in 1...Int64(999_999) { try look(minorUnits) }
    for _ in 0..<100_000 {
      let digits = Int.random(in: 1...13, using: &random)
      let highest = min((0..<digits).reduce(Int64(1)) { power, _ in power * 10 }, Money.largestMajorUnits)
      try look(Int64.random(in: 1...highest, using: &random) * currency.minorUnitsPerMajor)
    }
    #expect(missing.isEmpty)
  }
}
