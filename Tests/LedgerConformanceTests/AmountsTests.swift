// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("The amounts of an account", .removesLedgers)
struct AmountsTests {
  private func decision(_ amount: Decision.Amount?) -> Decision {
    Decision(
      kind: amount == nil ? "text" : "received", text: "words", locale: "en-US", amount: amount, method: "speech",
      voice: "en-us", clip: PublishedClip(name: "a.wav", group: "group.crier"), durationMilliseconds: 900,
      loudnessLUFS: -16)
  }

  /// Stores an announcement as an answered request does.
  private func store(
    _ id: String, _ amount: Decision.Amount?, account: String = "shop", isPlayed: Bool, in ledger: any Ledger.Store
  ) async throws {
    _ = try await ledger.accept(
      answer: NewAnswer(
        account: account, key: "id:\(id)", bodyDigest: Data(repeating: 1, count: 32), id: id, status: 201,
        report: Data("{}".utf8), decision: decision(amount)), playing: isPlayed ? payment(id, account: account) : nil)
  }

  private func values(
    _ account: String = "shop", from: Date = .distantPast, to: Date = .distantFuture, most: Int = .max,
    in ledger: any Ledger.Store
  ) async throws -> [String] {
    try await ledger.amounts(account: account, from: from, to: to, into: []) { values, amount in
      values.append("\(amount.value) \(amount.currency) \(amount.kind)")
      return values.count < most
    }
  }

  @Test(
    "every stored amount of the account is listed once, in order of acceptance, whether or not it was played",
    arguments: LedgerUnderTest.all)
  func all(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let start = place.clock.now
    for (id, value) in [("a", "1.00"), ("b", "2.00"), ("c", "3.00")] {
      try await store(id, Decision.Amount(value: value, currency: "USD"), isPlayed: id != "c", in: ledger)
      place.clock.advance(by: 1)
    }
    try await store("text", nil, isPlayed: true, in: ledger)
    try await store("d", Decision.Amount(value: "9.00", currency: "USD"), account: "other", isPlayed: false, in: ledger)
    try await ledger.set(1, .quiet)
    try await ledger.set(2, .cancelled)
    #expect(try await values(in: ledger) == ["1.00 USD received", "2.00 USD received", "3.00 USD received"])
    #expect(try await values("other", in: ledger) == ["9.00 USD received"])
    #expect(try await values("nobody", in: ledger).isEmpty)
    #expect(try await values(from: start + 1, to: start + 2, in: ledger) == ["2.00 USD received"])
    #expect(try await values(from: start + 2, to: start + 1, in: ledger).isEmpty)
    #expect(try await values(most: 2, in: ledger).count == 2)
    // A removed announcement does not count.
    _ = try await ledger.remove(account: "shop", id: "b")
    #expect(try await values(in: ledger) == ["1.00 USD received", "3.00 USD received"])
  }
}
