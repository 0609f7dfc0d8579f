// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Listing the announcements of an account")
struct ListingTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  private func answer(_ id: String, key: String? = nil) -> NewAnswer {
    NewAnswer(
      account: "shop", key: key ?? "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data("{}".utf8))
  }

  /// Lists all announcements page by page.
  private func all(
    _ ledger: SQLiteLedger, _ filter: Ledger.AnnouncementFilter = Ledger.AnnouncementFilter(), limit: Int
  ) async throws -> [String] {
    var (ids, cursor): ([String], Ledger.AnnouncementCursor?) = ([], nil)
    repeat {
      let page = try await ledger.announcements(account: "shop", matching: filter, before: cursor, limit: limit)
      #expect(page.announcements.count <= limit)
      ids += page.announcements.map(\.id)
      // A cursor survives being written and read.
      cursor = try page.next.map { try #require(Ledger.AnnouncementCursor($0.description)) }
    } while cursor != nil
    return ids
  }

  @Test("pages of any size give every announcement of an account once, newest first", arguments: [1, 2, 3, 7, 50])
  func pages(limit: Int) async throws {
    let ledger = try place.open()
    var expected: [String] = []
    for number in 0..<40 {
      // Several have the same time.
      if number.isMultiple(of: 4) { place.clock.advance(by: 1) }
      let id = "\(number)"
      switch number % 3 {
      case 0: _ = try await ledger.accept(answer: answer(id), playing: payment(id, account: "shop"))
      case 1: _ = try await ledger.accept(answer: answer(id))
      default: _ = try await ledger.accept(payment(id, account: "shop"))
      }
      expected.append(id)
    }
    place.clock.advance(by: 1)
    // Further answers for the same ids are not listed.
    for number in 0..<40 { _ = try await ledger.accept(answer: answer("\(number)", key: "again:\(number)")) }
    let ids = try await all(ledger, limit: limit)
    #expect(ids.count == 40 && Set(ids) == Set(expected))
    // Of one time, entries come first; otherwise the latest comes first.
    let times: [Int] = ids.map { (Int($0) ?? 0) / 4 }
    #expect(times == times.sorted(by: >))
    for state in Ledger.AnnouncementFilter.State.allCases {
      var filter = Ledger.AnnouncementFilter()
      filter.states = [state]
      let count = state == .accepted ? 27 : state == .rendered ? 13 : 0
      #expect(try await all(ledger, filter, limit: limit).count == count, "\(state)")
    }
  }

  @Test("a page of announcements is found by an index, without reading 100,000 other announcements")
  func plan() async throws {
    let ledger = try place.open()
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

  @Test("a search reads a limited number of rows in each call, and the next call continues at the cursor")
  func search() async throws {
    let ledger = try place.open()
    let states: [Ledger.State] = [.played, .failed, .cancelled, .expired]
    try await place.fill { database in
      for number in 0..<2_000 {
        try database.execute(
          sql: """
            INSERT INTO announcements (account, id, lane, category, payload, state, accepted_at, changed_at, finished_at)
            VALUES ('shop', ?, 'counter', 'payment', x'7B7D', ?, ?, 0, 0)
            """,
          arguments: [number == 0 ? "Needle" : "\(number)", states[number % 4].rawValue, 1_700_000_000_000 + number])
      }
    }
    var filter = Ledger.AnnouncementFilter()
    filter.text = SearchText("nEEDLE")
    var (found, cursor, calls): ([String], Ledger.AnnouncementCursor?, Int) = ([], nil, 0)
    repeat {
      let page = try await ledger.announcements(account: "shop", matching: filter, before: cursor)
      #expect(page.rowCount <= Ledger.searchedAtOnce + 1)
      (found, cursor, calls) = (found + page.announcements.map(\.id), page.next, calls + 1)
    } while cursor != nil
    #expect(found == ["Needle"] && calls == 2_000 / Ledger.searchedAtOnce)
  }

  @Test("a search does not find removed announcements and pruned words any more")
  func removed() async throws {
    let ledger = try place.open()
    var filter = Ledger.AnnouncementFilter()
    filter.text = SearchText("王五")
    for id in ["A", "B"] {
      var answer = answer(id)
      answer.report = Data(#"{"text":"收到王五的钱"}"#.utf8)
      _ = try await ledger.accept(answer: answer, playing: id == "A" ? payment(id, account: "shop") : nil)
    }
    #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.map(\.id) == ["A", "B"])
    #expect(try await ledger.announcements(account: "other", matching: filter).announcements.isEmpty)
    let removal = try await ledger.remove(account: "shop", id: "B")
    guard case .removed = removal else { Issue.record("B was not removed"); return }
    #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.map(\.id) == ["A"])
    try await ledger.pruneAnswers(before: place.clock.now.addingTimeInterval(1))
    #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.isEmpty)
    let words = try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(words) FROM answers") }
    #expect(words == 0)
  }

  @Test("a search finds an announcement by its amount, payer and note as they were sent")
  func sentValues() async throws {
    let ledger = try place.open()
    var answer = answer("A", key: "first")
    answer.report = Data(
      #"{"text":"one dollar","amount":{"value":"12.50","currency":"USD"},"payer":"Ann Lee","note":"table 12"}"#.utf8)
    _ = try await ledger.accept(answer: answer)
    var filter = Ledger.AnnouncementFilter()
    for (text, count) in [("12.50", 1), ("12.50 usd", 1), ("ann", 1), ("table 12", 1), ("12.51", 0), ("dollar 12", 0)] {
      filter.text = SearchText(text)
      #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.count == count, "\(text)")
    }
  }

  @Test("the list has an announcement with the words of its first answer")
  func firstAnswer() async throws {
    let ledger = try place.open()
    for (key, text) in [("first", "one dollar"), ("second", "two dollars")] {
      var answer = answer("A", key: key)
      answer.report = Data(#"{"text":"\#(text)"}"#.utf8)
      _ = try await ledger.accept(answer: answer)
    }
    var filter = Ledger.AnnouncementFilter()
    for (text, count) in [("one", 1), ("two", 0), ("ONE D", 1), ("one\u{0}", 0)] {
      filter.text = SearchText(text)
      #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.count == count, "\(text)")
    }
  }

  @Test("after the migration of an earlier ledger, a search finds the words of its answers")
  func migratedWords() async throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(waitingFor: place.file)
    try await database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(database, upTo: "11: enumerators, changes of the library")
    try await database.write {
      for (id, report) in [("A", #"{"text":"École"}"#), ("B", "{}"), ("C", "no JSON")] {
        try $0.execute(
          sql: """
            INSERT INTO answers (account, key, body_digest, id, status, report, created_at)
            VALUES ('shop', ?, zeroblob(32), ?, 201, ?, 1700000000000)
            """, arguments: [id, id, Data(report.utf8)])
      }
    }
    try database.close()
    let ledger = try place.open()
    var filter = Ledger.AnnouncementFilter()
    filter.text = SearchText("éCOLE")
    #expect(try await all(ledger, filter, limit: 10) == ["A"])
    filter.text = nil
    #expect(try await all(ledger, filter, limit: 10).count == 3)
  }

  @Test("a page of announcements ends early after many pushes, and the next page continues at the cursor")
  func manyPushes() async throws {
    let ledger = try place.open()
    for id in ["A", "B", "C"] { _ = try await ledger.accept(answer: answer(id)) }
    try await place.fill { database in
      for id in ["A", "B", "C"] {
        try database.execute(
          sql: """
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300)
            INSERT INTO pushes
              (account, announcement, device, app, environment, priority, kind, body, state, apns_id, created_at,
               expires_at)
            SELECT 'shop', ?1, 'phone-' || n, 'app', 'sandbox', 10, 'alert', x'7B7D', 'waiting',
              printf('%08X-0000-0000-0000-%012X', unicode(?1), n), 0, 0 FROM numbers
            """, arguments: [id])
      }
    }
    let page = try await ledger.announcements(account: "shop", limit: 10)
    #expect(page.announcements.map(\.id) == ["C", "B"] && page.announcements.allSatisfy { $0.pushes.count == 300 })
    let rest = try await ledger.announcements(account: "shop", before: page.next, limit: 10)
    #expect(rest.announcements.map(\.id) == ["A"] && rest.next == nil)
  }

  @Test("a ledger of a version without the index gets it, and lists its earlier announcements")
  func migrated() async throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(waitingFor: place.file)
    try await database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(database, upTo: "7: kind and defaults of announcements")
    try await database.write {
      try $0.execute(
        sql: """
          INSERT INTO announcements (account, id, lane, category, payload, state, accepted_at, changed_at)
          VALUES ('shop', 'A-1', 'counter', 'payment', x'7B7D', 'waiting', 1700000000000, 1700000001000)
          """)
    }
    try database.close()
    let ledger = try place.open()
    #expect(try await all(ledger, limit: 10) == ["A-1"])
    let index = try await ledger.read {
      try String.fetchOne($0, sql: "SELECT name FROM sqlite_schema WHERE name = 'announcements_by_state'")
    }
    #expect(index != nil)
  }

  @Test(
    "a text that is not a cursor is refused",
    arguments: ["", "1", "1.e", "1.e.2.3", "1.x.2", " 1.e.2", "1.e.+2", "01.e.2", "9223372036854775808.e.1"])
  func cursors(text: String) {
    #expect(Ledger.AnnouncementCursor(text) == nil)
  }
}
