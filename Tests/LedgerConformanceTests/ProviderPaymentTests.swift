// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing
import TestSupport

@Suite("Payments that providers report", .removesLedgers, .timeLimit(.minutes(5)))
struct ProviderPaymentTests {
  /// Returns a report. Its identity is the id's first 16 letters, and its sum the amount's first 8.
  private func report(
    _ id: String, _ amount: String = "12.50", success: String? = nil, until: Date? = nil
  ) -> Ledger.NewProviderPayment {
    func bytes(_ text: String, _ count: Int) -> Data {
      Data(text.padding(toLength: count, withPad: ".", startingAt: 0).utf8)
    }
    var new = Ledger.NewProviderPayment(account: "shop", endpoint: "till")
    new.identity = Ledger.NewProviderPayment.Identity(
      id: bytes(id, 16), sum: bytes(amount, 8), success: success.map { bytes($0, 16) }, until: until)
    (new.id, new.kind, new.amount, new.currency) = (id, "received", amount, "CNY")
    new.payload = Data("{}".utf8)
    return new
  }

  private func states(in ledger: any Ledger.Store) async throws -> [Ledger.ProviderPayment.State] {
    try await ledger.providerPayments(account: "shop", endpoint: "till", limit: 100).map(\.state).reversed()
  }

  @Test("a provider's payment that is reported twice is stored once", arguments: LedgerUnderTest.all)
  func duplicate(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(try await ledger.accept(providerPayments: [report("a")]) == [.accepted])
    #expect(try await ledger.accept(providerPayments: [report("a")]) == [.duplicate])
    #expect(try await ledger.waitingProviderPayments(after: 0).map(\.id) == ["a"])
  }

  @Test("fifty simultaneous reports of a provider's payment are stored once", arguments: LedgerUnderTest.all)
  func concurrent(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let results = try await withThrowingTaskGroup(of: [Ledger.ProviderAcceptance].self) { group in
      for _ in 0..<50 { group.addTask { try await ledger.accept(providerPayments: [report("a")]) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(results.count { $0 == .accepted } == 1 && results.count { $0 == .duplicate } == 49)
  }

  @Test(
    "a payment that is reported again with another sum is stored as refused, and is not announced",
    arguments: LedgerUnderTest.all)
  func otherSum(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    _ = try await ledger.accept(providerPayments: [report("a")])
    #expect(try await ledger.accept(providerPayments: [report("a", "99.00")]) == [.otherSum])
    #expect(try await ledger.accept(providerPayments: [report("a", "99.00")]) == [.duplicate])
    #expect(try await ledger.accept(providerPayments: [report("a", "98.00")]) == [.otherSum])
    #expect(try await ledger.waitingProviderPayments(after: 0).map(\.amount) == ["12.50"])
    #expect(try await states(in: ledger) == [.waiting, .refused, .refused])
  }

  @Test(
    "a payment's failure is stored if it is reported before the success, and not if it is reported afterwards",
    arguments: LedgerUnderTest.all)
  func failedAfterSuccess(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(try await ledger.accept(providerPayments: [report("a/failed", success: "a")]) == [.accepted])
    #expect(try await ledger.accept(providerPayments: [report("a")]) == [.accepted])
    #expect(try await ledger.accept(providerPayments: [report("b")]) == [.accepted])
    #expect(try await ledger.accept(providerPayments: [report("b/failed", success: "b")]) == [.afterSuccess])
  }

  @Test("the report of a payment that is late or refused is stored as ended", arguments: LedgerUnderTest.all)
  func ended(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var late = report("a")
    late.payload = nil
    let refused = Ledger.NewProviderPayment(account: "shop", endpoint: "till", refusal: "no sum")
    #expect(try await ledger.accept(providerPayments: [late, refused, refused]) == [.late, .refused, .refused])
    #expect(try await ledger.waitingProviderPayments(after: 0).isEmpty)
    #expect(try await states(in: ledger) == [.late, .refused, .refused])
  }

  @Test(
    "a provider's payment that was announced or refused no longer waits, and its payload is removed",
    arguments: LedgerUnderTest.all)
  func announced(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    _ = try await ledger.accept(providerPayments: [report("a"), report("b"), report("c")])
    let waiting = try await ledger.waitingProviderPayments(after: 0)
    try await ledger.end(providerPayment: waiting[0].number, refusal: nil)
    try await ledger.end(providerPayment: waiting[1].number, refusal: "cannot be spoken")
    let payments = try await ledger.providerPayments(account: "shop", endpoint: "till", limit: 10)
    #expect(payments.map(\.state) == [.waiting, .refused, .announced])
    #expect(payments.map { $0.payload == nil } == [false, true, true])
    #expect(payments[1].reason == "cannot be spoken")
  }

  @Test(
    "each start of announcing a payment is counted, until the payment ends or an orderly stop resets the count",
    arguments: LedgerUnderTest.all)
  func starts(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    _ = try await ledger.accept(providerPayments: [report("a")])
    let number = try await ledger.waitingProviderPayments(after: 0)[0].number
    try await ledger.startAnnouncing(providerPayment: number)
    try await ledger.startAnnouncing(providerPayment: number)
    #expect(try await ledger.waitingProviderPayments(after: 0).map(\.starts) == [2])
    try await ledger.stopAnnouncing(providerPayment: number)
    #expect(try await ledger.waitingProviderPayments(after: 0).map(\.starts) == [0])
  }

  @Test(
    "a provider's payment is recognised after its row was pruned, until its identity expires",
    arguments: LedgerUnderTest.all)
  func pruning(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let day: TimeInterval = 86_400
    _ = try await ledger.accept(providerPayments: [
      report("for ever"), report("for a year", until: place.clock.now.addingTimeInterval(365 * day)),
    ])
    for payment in try await ledger.waitingProviderPayments(after: 0) {
      try await ledger.end(providerPayment: payment.number, refusal: nil)
    }
    place.clock.advance(by: 40 * day)
    let pruned = try await ledger.prune(finishedBefore: place.clock.now.addingTimeInterval(-30 * day))
    #expect(pruned.providerPayments == 2 && pruned.providerIDs == 0)
    #expect(
      try await ledger.accept(providerPayments: [report("for ever"), report("for a year")]) == [.duplicate, .duplicate])
    place.clock.advance(by: 400 * day)
    #expect(try await ledger.prune(finishedBefore: place.clock.now.addingTimeInterval(-30 * day)).providerIDs == 1)
    #expect(
      try await ledger.accept(providerPayments: [report("for ever"), report("for a year")]) == [.duplicate, .accepted])
  }

  @Test(
    "a repeated payment, and one with another sum, are recognised after the ledger is opened again",
    arguments: LedgerUnderTest.all)
  func reopened(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    _ = try await ledger.accept(providerPayments: [report("a")])
    let other = try await place.open()
    #expect(try await other.accept(providerPayments: [report("a"), report("a", "1.00")]) == [.duplicate, .otherSum])
  }
}
