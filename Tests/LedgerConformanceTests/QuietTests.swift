// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PlaybackOrder
import Testing

@Suite("Quiet payments and their summaries", .removesLedgers)
struct QuietTests {
  private static var awaited: Ledger.Change {
    var change = Ledger.Change()
    change.awaitsSummary = true
    return change
  }

  private func due(in ledger: any Ledger.Store) async throws -> [Int64] {
    try await ledger.quietPayments(lane: "counter").map(\.number)
  }

  private func summary(_ id: String) -> StoredAnnouncement {
    StoredAnnouncement(id: id, lane: "counter", kind: .summary, category: .alert, payload: Data("{}".utf8))
  }

  @Test(
    "the list for a summary has, page by page, the received payments in the state 'quiet' that have no summary yet",
    arguments: LedgerUnderTest.all)
  func listed(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["a", "b", "c", "d"] { _ = try await ledger.accept(payment(id)) }
    var refund = payment("refund")
    refund.category = .refund
    _ = try await ledger.accept(refund)
    _ = try await ledger.accept(payment("elsewhere", lane: "till"))
    try await ledger.set(1, .quiet, Self.awaited)
    try await ledger.set(2, .quiet)
    try await ledger.set(3, .cancelled, Self.awaited)
    try await ledger.set(4, .quiet, Self.awaited)
    try await ledger.set(5, .quiet, Self.awaited)
    try await ledger.set(6, .quiet, Self.awaited)
    #expect(try await due(in: ledger) == [1, 4])
    #expect(try await ledger.quietPayments(lane: "counter", after: 1, limit: 1).map(\.number) == [4])
    try await ledger.forgetQuietPayments(lane: "counter")
    #expect(try await due(in: ledger).isEmpty)
    #expect(try await ledger.quietPayments(lane: "till").map(\.number) == [6])
  }

  @Test(
    "a quiet payment is named in only one summary, and stays quiet after the summary is played or cancelled",
    arguments: LedgerUnderTest.all)
  func named(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["a", "b", "c"] {
      let number = try await ledger.accept(payment(id)).number
      try await ledger.set(number, .quiet, Self.awaited)
    }
    let first = try await ledger.accept(summary("s"), namingQuietPaymentsUpTo: 2, count: 2).number
    #expect(try await due(in: ledger) == [3])
    #expect(try await ledger.members(ofSummary: first).map(\.number) == [1, 2])
    for state in [Ledger.State.rendering, .waiting, .playing, .played] { try await ledger.set(first, state) }
    let second = try await ledger.accept(summary("t"), namingQuietPaymentsUpTo: 3, count: 1).number
    var change = Ledger.Change()
    change.endsMembers = true
    try await ledger.set(second, .cancelled, change)
    for number in 1...3 as ClosedRange<Int64> { #expect(try await ledger.entry(number)?.state == .quiet) }
    #expect(try await due(in: ledger).isEmpty)
  }

  @Test("a summary with a wrong number of payments is not accepted", arguments: LedgerUnderTest.all)
  func outdated(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await ledger.accept(payment("a")).number
    try await ledger.set(number, .quiet, Self.awaited)
    let error = await #expect(throws: LedgerError.self) {
      try await ledger.accept(summary("s"), namingQuietPaymentsUpTo: 9, count: 2)
    }
    #expect(error?.code == .illegalSummary)
    #expect(try await due(in: ledger) == [1])
    #expect(try await ledger.entry(id: "s") == nil)
  }

  @Test(
    "the payments of a summary that ends in the state 'quiet' are left for the next summary",
    arguments: LedgerUnderTest.all)
  func again(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["a", "b"] { _ = try await ledger.accept(payment(id)) }
    try await ledger.set(1, .quiet, Self.awaited)
    let quiet = try await ledger.accept(summary("s"), namingQuietPaymentsUpTo: 1, count: 1).number
    try await ledger.set(quiet, .quiet, Self.awaited)
    #expect(try await due(in: ledger) == [1])
    // The payments of a backlog's summary end with it.
    var backlog = summary("t")
    backlog.category = .payment
    let number = try await ledger.accept(backlog, standingFor: [2]).number
    var change = Self.awaited
    change.endsMembers = true
    try await ledger.set(number, .quiet, change)
    #expect(try await ledger.entry(2)?.state == .quiet)
    #expect(try await due(in: ledger) == [1, 2])
  }
}
