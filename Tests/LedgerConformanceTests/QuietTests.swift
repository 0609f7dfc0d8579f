// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import PlaybackOrder
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Quiet payments and their summaries")
struct QuietTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private static var awaited: Ledger.Change {
    var change = Ledger.Change()
    change.awaitsSummary = true
    return change
  }

  private var due: [Int64] { get async throws { try await ledger.quietPayments(lane: "counter").map(\.number) } }

  private func summary(_ id: String) -> StoredAnnouncement {
    StoredAnnouncement(id: id, lane: "counter", kind: .summary, category: .alert, payload: Data("{}".utf8))
  }

  @Test("the list for a summary has only received payments that ended as quiet and have no summary yet, page by page")
  func listed() async throws {
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
    #expect(try await due == [1, 4])
    #expect(try await ledger.quietPayments(lane: "counter", after: 1, limit: 1).map(\.number) == [4])
    try await ledger.forgetQuietPayments(lane: "counter")
    #expect(try await due.isEmpty)
    #expect(try await ledger.quietPayments(lane: "till").map(\.number) == [6])
  }

  @Test("a quiet payment is named in only one summary, and stays quiet after the summary is played or cancelled")
  func named() async throws {
    for id in ["a", "b", "c"] {
      let number = try await ledger.accept(payment(id)).number
      try await ledger.set(number, .quiet, Self.awaited)
    }
    let first = try await ledger.accept(summary("s"), namingQuietPaymentsUpTo: 2, count: 2).number
    #expect(try await due == [3])
    #expect(try await ledger.members(ofSummary: first).map(\.number) == [1, 2])
    for state in [Ledger.State.rendering, .waiting, .playing, .played] { try await ledger.set(first, state) }
    let second = try await ledger.accept(summary("t"), namingQuietPaymentsUpTo: 3, count: 1).number
    var change = Ledger.Change()
    change.endsMembers = true
    try await ledger.set(second, .cancelled, change)
    for number in 1...3 as ClosedRange<Int64> { #expect(try await ledger.entry(number)?.state == .quiet) }
    #expect(try await due.isEmpty)
  }

  @Test("a summary with a wrong number of payments is not accepted")
  func outdated() async throws {
    let number = try await ledger.accept(payment("a")).number
    try await ledger.set(number, .quiet, Self.awaited)
    let error = await #expect(throws: LedgerError.self) {
      try await ledger.accept(summary("s"), namingQuietPaymentsUpTo: 9, count: 2)
    }
    #expect(error?.code == .illegalSummary)
    #expect(try await due == [1])
    #expect(try await ledger.entry(id: "s") == nil)
  }

  @Test("the payments of a summary that ends as quiet are left for the next summary")
  func again() async throws {
    for id in ["a", "b"] { _ = try await ledger.accept(payment(id)) }
    try await ledger.set(1, .quiet, Self.awaited)
    let quiet = try await ledger.accept(summary("s"), namingQuietPaymentsUpTo: 1, count: 1).number
    try await ledger.set(quiet, .quiet, Self.awaited)
    #expect(try await due == [1])
    // The payments of a backlog's summary end with it.
    var backlog = summary("t")
    backlog.category = .payment
    let number = try await ledger.accept(backlog, standingFor: [2]).number
    var change = Self.awaited
    change.endsMembers = true
    try await ledger.set(number, .quiet, change)
    #expect(try await ledger.entry(2)?.state == .quiet)
    #expect(try await due == [1, 2])
  }

  @Test("quiet payments are found by an index")
  func plan() async throws {
    let plan = try await ledger.read { database in
      try Row.fetchAll(
        database,
        sql: """
          EXPLAIN QUERY PLAN SELECT * FROM announcements
          WHERE lane = 'counter' AND summary_due = 1 AND number > 0 ORDER BY number LIMIT 9
          """
      ).map { try $0.value("detail") as String }
    }
    #expect(plan == ["SEARCH announcements USING INDEX announcements_quiet (lane=? AND number>?)"])
  }

  @Test("a migrated ledger of the previous version accepts quiet announcements, and still refuses unknown states")
  func migration() async throws {
    let older = try TemporaryLedger()
    try FileManager.default.createDirectory(
      at: older.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(waitingFor: older.file)
    try await database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(database, upTo: "16: payments of providers")
    try await database.write {
      try $0.execute(
        sql: """
          INSERT INTO announcements (number, account, id, lane, category, payload, state, accepted_at, changed_at)
          VALUES (41, 'shop', 'A-1', 'counter', 'payment', x'7B7D', 'waiting', 1700000000000, 1700000001000)
          """)
    }
    try database.close()
    let ledger = try older.open()
    try await ledger.set(41, .quiet, Self.awaited)
    #expect(try await ledger.quietPayments(lane: "counter").map(\.id) == ["A-1"])
    let other = try DatabaseQueue(waitingFor: older.file)
    #expect(try await other.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    for change in ["state = 'silent'", "finished_at = NULL"] {
      await #expect(throws: DatabaseError.self) {
        try await other.write { try $0.execute(sql: "UPDATE announcements SET \(change)") }
      }
    }
  }
}
