// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

/// Each test with an open transaction has a server of its own.
@Suite(
  "The order of events", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct EventOrderTests {
  /// A statement that stores an event of a lane, as a ledger does.
  private func event(_ lane: String) -> String {
    PostgreSQLLedger.appending
      .replacing("$1", with: "0").replacing("$2", with: "ARRAY[NULL]").replacing("$3", with: "ARRAY['\(lane)']")
      .replacing("$4", with: "ARRAY['device_back']").replacing("$5", with: "ARRAY[NULL]")
  }

  @Test("events wait for an open transaction with earlier events, and are read after those events")
  func openTransaction() async throws {
    let nodes = try await TwoNodes(on: try await PostgreSQLServer(), patience: .milliseconds(100))
    try await nodes.first.record(.deviceLost, lane: "before", number: nil, detail: [:], passing: nil)
    let open = try await OpenTransaction(on: nodes, event("open"))
    try await nodes.second.record(.deviceLost, lane: "after", number: nil, detail: [:], passing: nil)
    let seen = try await nodes.first.events()
    #expect(seen.map(\.lane) == ["before"])
    #expect(try await nodes.first.lastEventPosition() == seen.last?.position)
    try await open.commit()
    let rest = try await nodes.first.events(after: try #require(seen.last?.position))
    #expect(rest.map(\.lane) == ["open", "after"])
    #expect(rest.map(\.position) == rest.map(\.position).sorted())
  }

  @Test("a reader that waits for a transaction gets the transaction's event when it ends")
  func waiting() async throws {
    let nodes = try await TwoNodes(on: try await PostgreSQLServer())
    let open = try await OpenTransaction(on: nodes, event("open"))
    try await nodes.second.record(.deviceLost, lane: "after", number: nil, detail: [:], passing: nil)
    async let events = nodes.first.events()
    try await open.commit()
    #expect(try await events.map(\.lane) == ["open", "after"])
  }

  @Test("an open transaction in another database of the server does not delay events")
  func otherDatabase() async throws {
    let server = try await PostgreSQLServer()
    let (nodes, others) = (try await TwoNodes(on: server), try await TwoNodes(on: server))
    let open = try await OpenTransaction(on: others, event("open"))
    try await nodes.second.record(.deviceLost, lane: "counter", number: nil, detail: [:], passing: nil)
    let events = try await nodes.first.events()
    #expect(events.map(\.lane) == ["counter"])
    #expect(try await nodes.first.lastEventPosition() == events.last?.position)
    try await open.commit()
  }

  @Test("a watcher that keeps reading while two nodes write gets every event once, in one order")
  func watcher() async throws {
    let nodes = try await TwoNodes()
    let watcher = Task {
      var seen: [Ledger.Event] = []
      while seen.count < 300 {
        seen += try await nodes.second.events(after: seen.last?.position ?? 0, limit: 7)
        try Task.checkCancellation()
      }
      return seen
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for place in 0..<300 {
        group.addTask {
          try await nodes.both[place % 2].record(
            .deviceLost, lane: "lane-\(place)", number: Int64(place), detail: [:], passing: nil)
        }
      }
      try await group.waitForAll()
    }
    let seen = try await watcher.value
    #expect(Set(seen.compactMap(\.number)) == Set((0..<300).map { $0 }))
    #expect(seen.map(\.position) == Set(seen.map(\.position)).sorted())
    #expect(try await nodes.first.events(limit: 1_000) == seen)
  }

  @Test("the events of one transaction have the order in which they were stored")
  func oneTransaction() async throws {
    let nodes = try await TwoNodes()
    let number = try await nodes.first.accept(
      answer: answer("A-1", decision: decided), playing: payment("A-1")
    ).acceptance?.number
    let events = try await nodes.second.events()
    #expect(events.map(\.kind) == [.accepted, .waiting])
    #expect(events.map(\.number) == [number, number])
  }

  @Test("positions keep rising after the database was restored on a server with lower transaction numbers")
  func anotherServer() async throws {
    let nodes = try await TwoNodes()
    try await nodes.first.record(.deviceLost, lane: "counter", number: nil, detail: [:], passing: nil)
    // The server from which the database came had a million transactions more.
    try await nodes.run("UPDATE events SET position = position + (1000000::bigint << 18)")
    let ledger = try await nodes.open()
    let old = try await ledger.events()
    #expect(old.count == 1)
    try await ledger.record(.deviceBack, lane: "counter", number: nil, detail: [:], passing: nil)
    let new = try await nodes.first.events(after: try #require(old.last?.position))
    #expect(new.map(\.kind) == [.deviceBack])
  }

  @Test("the last position stays after all events were pruned")
  func pruned() async throws {
    let nodes = try await TwoNodes()
    #expect(try await nodes.first.lastEventPosition() == 0)
    try await nodes.first.record(.deviceLost, lane: "counter", number: nil, detail: [:], passing: nil)
    let last = try #require(try await nodes.first.events().last?.position)
    #expect(try await nodes.first.prune(finishedBefore: Date().addingTimeInterval(60)).events == 1)
    #expect(try await nodes.second.lastEventPosition() == last)
  }
}
