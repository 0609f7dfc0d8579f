// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Pruning", .removesLedgers)
struct PruningTests {
  @Test(
    "pruning removes announcements that finished before a date, their events and old commands, and nothing else",
    arguments: LedgerUnderTest.all)
  func pruning(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for id in 0..<450 {
      let number = try await ledger.accept(payment("old \(id)")).number
      try await ledger.set(number, .cancelled)
    }
    let waiting = try await ledger.accept(payment("waiting")).number
    try await ledger.send(.pause, lane: "counter")
    place.clock.advance(by: 100)
    let moment = place.clock.now
    let lastPosition = try await ledger.lastEventPosition()
    let atTheMoment = try await ledger.accept(payment("new")).number
    try await ledger.set(atTheMoment, .failed)
    try await ledger.send(.resume, lane: "counter")

    let pruned = try await ledger.prune(finishedBefore: moment)
    #expect(pruned == Ledger.Pruned(announcements: 450, events: 901, commands: 1))
    #expect(try await ledger.recent().map(\.number) == [atTheMoment, waiting])
    #expect(try await ledger.events().map(\.kind) == [.accepted, .failed])
    #expect(try #require(try await ledger.events().first).position > lastPosition)
    #expect(try await ledger.takeCommands(lane: "counter").map(\.command) == [.resume])
    #expect(try await ledger.prune(finishedBefore: moment) == Ledger.Pruned())
    #expect(try await !ledger.accept(payment("old 0")).isDuplicate, "its id may be used again")
  }

  @Test("a summary is pruned together with the payments in it", arguments: LedgerUnderTest.all)
  func summaries(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let members = [try await ledger.accept(payment("a")).number, try await ledger.accept(payment("b")).number]
    let summary = try await ledger.accept(payment("s"), standingFor: members).number
    for state in way(to: .played) { try await ledger.set(summary, state) }
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1).announcements == 3)
    #expect(try await ledger.recent().isEmpty)
  }

  @Test("pruning refuses an invalid date", arguments: LedgerUnderTest.all)
  func noDate(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for date in [Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan)] {
      let error = try await #require(throws: LedgerError.self) { try await ledger.prune(finishedBefore: date) }
      #expect(error.code == .invalidValue)
    }
    #expect(try await ledger.prune(finishedBefore: .distantFuture) == Ledger.Pruned())
  }
}
