// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@Suite("Events and lists", .removesLedgers)
struct EventTests {
  @Test(
    "a watcher that always asks for the events after its last event gets each event once",
    arguments: LedgerUnderTest.all)
  func following(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let watcher = try await place.open()
    var seen: [Ledger.Event] = []
    for index in 0..<25 {
      try await _ = ledger.accept(payment("\(index)"))
      try await ledger.record(.deviceLost, lane: "door", detail: ["code": "unplugged"])
      if index.isMultiple(of: 4) { seen += try await watcher.events(after: seen.last?.position ?? 0, limit: 7) }
    }
    while case let more = try await watcher.events(after: seen.last?.position ?? 0, limit: 7), !more.isEmpty {
      seen += more
    }
    #expect(seen.count == 50 && seen.map(\.position) == Set(seen.map(\.position)).sorted())
    #expect(seen == (try await ledger.events(limit: 1000)))
    // PostgreSQL names a position only after all transactions with earlier ones have ended, also its own.
    try await eventually("the last position is that of the last event") {
      try await watcher.lastEventPosition() == seen.last?.position
    }
    #expect(
      try await watcher.events(after: 0, lane: "door", limit: 200).allSatisfy {
        $0.kind == .deviceLost && $0.number == nil
      })
  }

  @Test("every kind of event can be recorded and read", arguments: LedgerUnderTest.all)
  func kinds(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for kind in Ledger.Event.Kind.allCases {
      try await ledger.record(kind, lane: "counter", number: 3, detail: ["code": "\"x\"\n/"], passing: nil)
    }
    let events = try await ledger.events()
    #expect(events.map(\.kind) == Ledger.Event.Kind.allCases)
    #expect(events.allSatisfy { $0.detail == ["code": "\"x\"\n/"] && $0.at == place.clock.now && $0.number == 3 })
  }

  @Test("an event with too long a detail, or of a lane without a name, is refused", arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    await #expect(throws: LedgerError.self) { try await ledger.record(.deviceLost, lane: "") }
    await #expect(throws: LedgerError.self) {
      try await ledger.record(.deviceLost, lane: "a", detail: ["a": String(repeating: "x", count: 1000)], passing: 1)
    }
    #expect(try await ledger.events().isEmpty)
    #expect(try await ledger.lastPassedSequence(lane: "a") == nil)
    #expect(try await ledger.lastEventPosition() == 0)
  }

  @Test(
    "the last announcements are listed newest first, for one lane or all, and counted by state",
    arguments: LedgerUnderTest.all)
  func lists(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for index in 0..<6 { try await _ = ledger.accept(payment("\(index)", lane: index < 4 ? "counter" : "door")) }
    try await ledger.set(2, .cancelled)
    #expect(try await ledger.recent(3).map(\.id) == ["5", "4", "3"])
    #expect(try await ledger.recent(3, lane: "counter").map(\.id) == ["3", "2", "1"])
    #expect(try await ledger.recent(-1).count == 1)
    #expect(try await ledger.recent(50, lane: "nobody").isEmpty)
    #expect(try await ledger.unfinished(lane: "counter", after: 1, limit: 1).map(\.id) == ["2"])
    let counts = try await ledger.counts(lane: nil)
    #expect(counts.count == 9 && counts[.accepted] == 5 && counts[.cancelled] == 1 && counts[.played] == 0)
    #expect(try await ledger.counts(lane: "door")[.accepted] == 2)
    #expect(try await ledger.entry(99) == nil)
    #expect(try await ledger.entry(id: "99") == nil)
  }
}
