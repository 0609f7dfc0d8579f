// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Summaries", .removesLedgers)
struct SummaryTests {
  func accept(_ ids: String..., in ledger: any Ledger.Store) async throws -> [Int64] {
    var numbers: [Int64] = []
    for id in ids { numbers.append(try await ledger.accept(payment(id)).number) }
    return numbers
  }

  @Test(
    "a summary is recorded for each of its payments, which count as played when the summary is played",
    arguments: LedgerUnderTest.all)
  func played(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let members = try await accept("a", "b", "c", in: ledger)
    try await ledger.set(members[1], .rendering)
    let summary = try await ledger.accept(payment("sum"), standingFor: members).number
    #expect(try await ledger.members(ofSummary: summary).map(\.number) == members)
    #expect(try await ledger.unfinished(lane: "counter").map(\.summarisedBy) == [summary, summary, summary, nil])

    for state in way(to: .played) { try await ledger.set(summary, state) }
    #expect(try await ledger.members(ofSummary: summary).map(\.state) == [.played, .played, .played])
    #expect(try await ledger.unfinished(lane: "counter").isEmpty)
    let events = try await ledger.events(limit: 1000)
    #expect(events.filter { $0.kind == .summarised }.map(\.number) == members)
    #expect(events.filter { $0.kind == .played }.map(\.number) == [summary] + members)
    #expect(events.last?.detail == ["by": String(summary)])
  }

  @Test(
    "when a summary ends without being played, its payments are free again",
    arguments: LedgerUnderTest.all, [Ledger.State.cancelled, .failed, .expired])
  func released(kind: LedgerUnderTest, _ end: Ledger.State) async throws {
    let ledger = try await kind.makePlace().open()
    let members = try await accept("a", "b", in: ledger)
    let summary = try await ledger.accept(payment("sum"), standingFor: members).number
    try await ledger.set(members[0], .cancelled)
    try await ledger.set(summary, end)
    let left = try await ledger.unfinished(lane: "counter")
    #expect(left.map(\.number) == [members[1]] && left[0].summarisedBy == nil && left[0].state == .accepted)
    #expect(try await ledger.entry(members[0])?.state == .cancelled)
    #expect(try await ledger.events().last?.kind == .released)
  }

  @Test("a payment in a summary cannot be played by itself, but can be cancelled", arguments: LedgerUnderTest.all)
  func silent(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let members = try await accept("a", "b", in: ledger)
    try await ledger.set(members[0], .waiting)
    _ = try await ledger.accept(payment("sum"), standingFor: members)
    let error = try await #require(throws: LedgerError.self) { try await ledger.set(members[0], .playing) }
    #expect(error.code == .illegalTransition)
    #expect(try await ledger.set(members[0], .cancelled))
  }

  @Test("a summary with one unsuitable payment is refused completely", arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let numbers = try await accept("played", "playing", "summarised", "fit", in: ledger)
    for state in way(to: .played) { try await ledger.set(numbers[0], state) }
    for state in way(to: .playing) { try await ledger.set(numbers[1], state) }
    let first = try await ledger.accept(payment("first"), standingFor: [numbers[2]]).number
    let elsewhere = try await ledger.accept(payment("x", lane: "door")).number
    for unfit in [numbers[0], numbers[1], numbers[2], first, elsewhere, 999] {
      let error = try await #require(throws: LedgerError.self) {
        try await ledger.accept(payment("second"), standingFor: [numbers[3], unfit])
      }
      #expect(error.code == .illegalSummary)
    }
    #expect(try await ledger.entry(id: "second") == nil)
    #expect(try await ledger.entry(numbers[3])?.summarisedBy == nil)
  }

  @Test("a summary that is recorded again adds no payments", arguments: LedgerUnderTest.all)
  func duplicate(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let members = try await accept("a", "b", in: ledger)
    let first = try await ledger.accept(payment("sum"), standingFor: [members[0]])
    #expect(try await ledger.accept(payment("sum"), standingFor: members).number == first.number)
    #expect(try await ledger.members(ofSummary: first.number).map(\.number) == [members[0]])
  }
}
