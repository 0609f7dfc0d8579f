// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerTestSupport
import Testing

@testable import SQLiteLedger

@Suite("The plans by which SQLite answers the ledger's queries")
struct QueryPlanTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  @Test("the amounts of an account are read from an index, without the announcements themselves")
  func amounts() async throws {
    let plan = try await ledger.read { database in
      try Row.fetchAll(
        database, sql: "EXPLAIN QUERY PLAN " + SQLiteLedger.amounts, arguments: ["account": "shop", "from": 0, "to": 9]
      ).map { try $0.value("detail") as String }
    }
    #expect(
      plan
        == ["SEARCH decisions USING COVERING INDEX decisions_of_money (account=? AND accepted_at>? AND accepted_at<?)"])
  }

  @Test("the ledger counts waiting requests from an index")
  func lanes() async throws {
    let steps = try await ledger.read { database in
      try Row.fetchAll(
        database,
        sql:
          "EXPLAIN QUERY PLAN SELECT lane, count(*) FROM announcements WHERE \(SQLiteLedger.unfinishedRequests) GROUP BY lane"
      ).map { try $0.value("detail") as String }
    }
    #expect(steps == ["SCAN announcements USING COVERING INDEX announcements_waiting"], "\(steps)")
  }

  @Test("a page of announcements is found by an index, without reading 100,000 other announcements")
  func listing() async throws {
    let plans = try await ledger.read { database in
      try [SQLiteLedger.listedEntries, SQLiteLedger.listedAnswers].map { sql in
        var arguments: StatementArguments = [
          "account": "shop", "from": 0, "until": 9, "at": 9, "row": 9, "entries": true, "count": 51, "text": Data([1]),
        ]
        if sql == SQLiteLedger.listedEntries {
          for state in Ledger.State.allCases { arguments += [state.rawValue: true] }
        }
        return try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments)
          .map { try $0.value("detail") as String }
      }
    }
    let entries = plans[0].filter { $0.contains(" announcements ") }
    #expect(entries.count == Ledger.State.allCases.count)
    for step in entries {
      #expect(
        step
          == "SEARCH announcements USING INDEX announcements_by_state (account=? AND state=? AND accepted_at>? AND accepted_at<?)"
      )
    }
    #expect(
      plans[1].first
        == "SEARCH answers USING INDEX answers_by_account (account=? AND created_at>? AND created_at<?)", "\(plans[1])")
    for step in plans.joined() where step.hasPrefix("SCAN ") || step.contains("TEMP B-TREE") {
      #expect(["SCAN CONSTANT ROW", "SCAN entries"].contains(step), "\(plans)")
    }
    let database = try DatabaseQueue(waitingFor: place.file)
    try await database.write { database in
      try database.execute(
        sql: """
          WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
          INSERT INTO announcements (account, id, lane, category, payload, state, accepted_at, changed_at, finished_at)
          SELECT 'shop', n, 'counter', 'payment', x'7B7D', iif(n = 7, 'failed', 'played'), 1700000000000 + n, 0, 0
          FROM numbers
          """)
    }
    try database.close()
    var filter = Ledger.AnnouncementFilter()
    let newest = try await ledger.announcements(account: "shop", matching: filter, limit: 50)
    #expect(newest.announcements.first?.id == "100000" && newest.announcements.count == 50 && newest.rowCount <= 51)
    filter.states = [.failed, .expired]
    let failed = try await ledger.announcements(account: "shop", matching: filter, limit: 50)
    #expect(failed.announcements.map(\.id) == ["7"] && failed.next == nil && failed.rowCount == 1)
  }

  @Test("quiet payments are found by an index")
  func quiet() async throws {
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

  @Test("the search for other accounts with a clip uses indexes on the clip and the account")
  func clipOfOthers() async throws {
    let steps = try await ledger.read { database in
      try Row.fetchAll(
        database, sql: "EXPLAIN QUERY PLAN \(SQLiteLedger.clipOfOthers)", arguments: ["clip": "a", "account": "b"]
      ).map { try $0.value("detail") as String }
    }
    let looks = steps.filter { $0.hasPrefix("SEARCH") }
    #expect(looks.count == 8 && !steps.contains { $0.hasPrefix("SCAN") && !$0.contains("CONSTANT") }, "\(steps)")
    #expect(looks.allSatisfy { $0.contains("(clip=? AND account<?)") || $0.contains("(clip=? AND account>?)") })
  }

  @Test("what a clip can be made from is found by indexes on the clip")
  func sourcesOfClip() async throws {
    let steps = try await ledger.read { database in
      try Row.fetchAll(
        database, sql: "EXPLAIN QUERY PLAN \(SQLiteLedger.sourcesOfClip)", arguments: ["a", 4]
      ).map { try $0.value("detail") as String }
    }
    for index in ["answers_by_clip (clip=?)", "announcements_by_clip (clip=?)", "pushes_by_clip (clip=?)"] {
      #expect(steps.contains { $0.contains(index) }, "\(steps)")
    }
    let tables = ["answers", "announcements", "pushes", "devices", "decisions", "played", "answered", "own"]
    #expect(!steps.contains { step in tables.contains { step == "SCAN \($0)" } }, "\(steps)")
  }

  @Test("an index finds each clip that was pushed to a device")
  func clipOfDevice() async throws {
    let plan = try await DatabaseQueue(waitingFor: place.file).read { database in
      try Row.fetchAll(
        database, sql: "EXPLAIN QUERY PLAN \(SQLiteLedger.clipOfDevice)",
        arguments: ["clip": "a.wav", "account": "shop", "id": "phone-1"]
      ).map { $0["detail"] as String }
    }
    #expect(
      plan.contains { $0.contains("pushes_by_clip") }
        && !plan.contains { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" }, "\(plan)")
  }

  @Test("an answer of an account without webhook endpoints costs one look-up in an index")
  func endpoints() async throws {
    let plan = try await ledger.read { database in
      try Row.fetchAll(
        database,
        sql: """
          EXPLAIN QUERY PLAN
          SELECT number, kinds, waiting FROM webhook_endpoints WHERE account = 'shop' AND disabled_at IS NULL
          """
      ).map { $0["detail"] as String? ?? "" }
    }
    #expect(plan.count == 1 && plan.first?.hasPrefix("SEARCH webhook_endpoints USING INDEX") == true, "\(plan)")
  }
}
