// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Restoring a cancelled announcement", .removesLedgers)
struct RestoringTests {
  private func accept(_ id: String, expiresAt: Date? = nil, in ledger: any Ledger.Store) async throws -> Int64 {
    var announcement = payment(id, account: "shop")
    announcement.expiresAt = expiresAt
    return try await ledger.accept(announcement).number
  }

  @Test(
    "a restored announcement keeps its number and clip, has an event, and can be cancelled and restored again",
    arguments: LedgerUnderTest.all, [true, false])
  func restored(kind: LedgerUnderTest, hasClip: Bool) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let number = try await accept("a", in: ledger)
    if hasClip { try await ledger.set(number, .waiting, Ledger.Change(clip: "a.wav")) }
    for _ in 0..<2 {
      try await ledger.set(number, .cancelled)
      place.clock.advance(by: 60)
      let entry = try #require(try await ledger.restore(number))
      #expect(entry.number == number && entry.state == (hasClip ? .waiting : .accepted) && entry.finishedAt == nil)
      #expect(try await ledger.unfinished(lane: "counter").map(\.number) == [number])
      let event = try #require(try await ledger.events(limit: 100).last)
      #expect(event.kind == .restored && event.number == number && event.lane == "counter" && event.detail.isEmpty)
      #expect(try await ledger.restore(number) == nil)
    }
  }

  @Test("an announcement cannot be restored more than a minute after its cancellation", arguments: LedgerUnderTest.all)
  func late(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let number = try await accept("a", in: ledger)
    try await ledger.set(number, .cancelled)
    place.clock.advance(by: 60.001)
    #expect(try await ledger.restore(number) == nil)
    #expect(try await ledger.entry(number)?.state == .cancelled)
  }

  @Test(
    "an announcement that was not cancelled while it waited, or that has expired, cannot be restored",
    arguments: LedgerUnderTest.all)
  func others(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let numbers = [
      try await accept("waiting", in: ledger), try await accept("failed", in: ledger),
      try await accept("skipped", in: ledger), try await accept("played", in: ledger),
    ]
    try await ledger.set(numbers[1], .failed)
    for number in numbers[2...] {
      try await ledger.set(number, .waiting)
      try await ledger.set(number, .playing)
    }
    try await ledger.set(numbers[2], .cancelled, Ledger.Change(detail: ["code": "skipped"]))
    try await ledger.set(numbers[3], .played)
    let expiring = try await accept("expiring", expiresAt: place.clock.now + 5, in: ledger)
    try await ledger.set(expiring, .cancelled)
    place.clock.advance(by: 5)
    let before = try await ledger.recent()
    for number in numbers + [expiring, 999] { #expect(try await ledger.restore(number) == nil) }
    #expect(try await ledger.recent() == before)
  }

  @Test(
    "a restored payment is part of its summary if the summary waits, and is otherwise announced individually",
    arguments: LedgerUnderTest.all)
  func summaries(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let payments = [try await accept("a", in: ledger), try await accept("b", in: ledger)]
    var announcement = payment("s")
    announcement.kind = .summary
    let summary = try await ledger.accept(announcement, standingFor: payments).number
    try await ledger.set(payments[0], .cancelled)
    #expect(try await ledger.restore(payments[0])?.summarisedBy == summary)
    try await ledger.set(payments[0], .cancelled)
    try await ledger.set(summary, .cancelled, Ledger.Change(detail: ["code": "outdated"]))
    #expect(try await ledger.restore(payments[0])?.summarisedBy == nil)
    #expect(try await ledger.unfinished(lane: "counter").map(\.number) == payments)
  }

  @Test(
    "a payment that failed once before its waiting summary was cancelled can be restored",
    arguments: LedgerUnderTest.all)
  func earlierFailure(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await accept("a", in: ledger)
    try await ledger.set(number, .rendering)
    try await ledger.set(number, .accepted, Ledger.Change(detail: ["code": "engine_failed"]))
    var announcement = payment("s")
    announcement.kind = .summary
    let summary = try await ledger.accept(announcement, standingFor: [number]).number
    var cancelled = Ledger.Change()
    cancelled.endsMembers = true
    try await ledger.set(summary, .cancelled, cancelled)
    #expect(try await ledger.restore(number)?.number == number)
  }

  @Test(
    "payments that were cancelled with a summary that had begun to play cannot be restored",
    arguments: LedgerUnderTest.all)
  func heardSummary(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let payments = [try await accept("a", in: ledger), try await accept("b", in: ledger)]
    var announcement = payment("s")
    announcement.kind = .summary
    let summary = try await ledger.accept(announcement, standingFor: payments).number
    try await ledger.set(summary, .waiting)
    try await ledger.set(summary, .playing)
    var skipped = Ledger.Change(detail: ["code": "skipped"])
    skipped.endsMembers = true
    try await ledger.set(summary, .cancelled, skipped)
    for number in payments + [summary] { #expect(try await ledger.restore(number) == nil) }
  }

  @Test(
    "an announcement on a lane with a running player cannot be restored in the ledger, but only by the player",
    arguments: LedgerUnderTest.all)
  func unplayed(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await accept("a", in: ledger)
    #expect(try await ledger.cancelUnplayed(number))
    let seat = try await ledger.takeSeat(lane: "counter")
    let error = await #expect(throws: LedgerError.self) { _ = try await ledger.restoreUnplayed(number) }
    #expect(error?.code == .laneTaken)
    withExtendedLifetime(seat) {}
    #expect(try await ledger.entry(number)?.state == .cancelled)
  }

  @Test(
    "after an announcement was restored without a player, a player can take its lane", arguments: LedgerUnderTest.all)
  func freed(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await accept("a", in: ledger)
    #expect(try await ledger.cancelUnplayed(number))
    #expect(try await ledger.restoreUnplayed(number)?.number == number)
    #expect(try await ledger.restoreUnplayed(999) == nil)
    _ = try await ledger.takeSeat(lane: "counter")
  }
}
