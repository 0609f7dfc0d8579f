// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerTestSupport
import PushMessages
import Testing

@testable import SQLiteLedger

@Suite("Migration to the tables of later versions")
struct TableMigrationTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  /// A ledger as the second version left it, with a key in it.
  private func makeSecondVersion(_ file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(waitingFor: file)
    try database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(database, upTo: "2: keys, answers")
    try database.write {
      try $0.execute(
        sql:
          "INSERT INTO keys (id, account, digest, scopes, created_at) VALUES ('a', 'shop', ?, 'read', 1700000000000)",
        arguments: [digestOf("a")])
    }
    try database.close()
  }

  @Test("keys from a ledger of the second version do not expire, and may be used from any address")
  func keys() async throws {
    let other = try TemporaryLedger()
    try makeSecondVersion(other.file)
    let key = try #require(try await other.open().key(id: "a"))
    #expect(key.isInForce(at: .distantFuture) && key.addresses.isEmpty && !key.isStrict && key.rotatedTo == nil)
  }

  @Test("a ledger of an earlier version gets the tables for devices and pushes, and keeps its keys")
  func devices() async throws {
    let older = try TemporaryLedger()
    try EarlierLedger.write(to: older.file)
    let ledger = try older.open()
    #expect(try await ledger.devices(account: "shop").isEmpty)
    let keys = try await ledger.keys()
    #expect(!keys.isEmpty && keys.allSatisfy { $0.device == nil })
    #expect(try await ledger.unfinishedPushes().isEmpty)
    #expect(try await ledger.register(newDevice()).isNew)
    let numbers = try await ledger.accept([newPush()], account: "shop")
    #expect(try await ledger.unfinishedPushes().map(\.number) == numbers)
  }

  @Test("an earlier version's library keeps its changes and its anchors, and can have tones afterwards")
  func tones() async throws {
    let old = try TemporaryLedger()
    let anchor: Int64 = 41
    try FileManager.default.createDirectory(
      at: old.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let queue = try DatabaseQueue(waitingFor: old.file)
    try await queue.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(queue, upTo: "21: receipts of phones, refunds, format of webhooks")
    try await queue.write { database in
      try database.execute(
        sql: """
          INSERT INTO library_changes VALUES (\(anchor), 'shop', 'group.crier', 'clip', 'a.wav', randomblob(32), 1,
            'added', 0);
          INSERT INTO library_changes VALUES (\(anchor + 1), NULL, NULL, 'pack', 'wang', randomblob(32), 1, 'added', 0);
          DELETE FROM library_changes WHERE kind = 'pack';
          """)
    }
    try queue.close()
    let ledger = try old.open()
    let before = try #require(try await ledger.libraryChanges(account: "shop", group: "group.crier"))
    #expect(before.changes.map { "\($0.change) \($0.kind) \($0.name)" } == ["added clip a.wav"])
    try await ledger.setLibraryTones([libraryClip("chime.wav")])
    let page = try #require(try await ledger.libraryChanges(account: "shop", group: "group.crier"))
    #expect(page.changes.map(\.position) == [anchor, anchor + 2], "an anchor is never used again")
    // The checks of the table still refuse what is neither a clip, a pack nor a tone.
    for columns in [
      "NULL, NULL, 'tone'", "'shop', 'group.crier', 'tone'", "NULL, 'group.crier', 'pack'",
      "NULL, 'group.crier', 'clip'",
    ] {
      await #expect(throws: (any Error).self) {
        try await ledger.write(while: .changingLibrary) { database in
          try database.execute(
            sql: """
              INSERT INTO library_changes (account, group_id, kind, name, sha256, bytes, change, at)
              VALUES (\(columns), 'x', randomblob(32), 1, 'added', 0)
              """)
        }
      }
    }
  }

  @Test("a migrated ledger of the previous version accepts quiet announcements, and still refuses unknown states")
  func quiet() async throws {
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
    var awaited = Ledger.Change()
    awaited.awaitsSummary = true
    try await ledger.set(41, .quiet, awaited)
    #expect(try await ledger.quietPayments(lane: "counter").map(\.id) == ["A-1"])
    let other = try DatabaseQueue(waitingFor: older.file)
    #expect(try await other.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    for change in ["state = 'silent'", "finished_at = NULL"] {
      await #expect(throws: DatabaseError.self) {
        try await other.write { try $0.execute(sql: "UPDATE announcements SET \(change)") }
      }
    }
  }

  @Test("after the migration of an earlier ledger, a search finds the words of its answers")
  func words() async throws {
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
    func ids(_ filter: Ledger.AnnouncementFilter) async throws -> [String] {
      try await ledger.announcements(account: "shop", matching: filter).announcements.map(\.id)
    }
    #expect(try await ids(filter) == ["A"])
    filter.text = nil
    #expect(try await ids(filter).count == 3)
  }

  @Test("a ledger without the index of announcements by state gets the index, and lists its earlier announcements")
  func index() async throws {
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
    #expect(try await ledger.announcements(account: "shop").announcements.map(\.id) == ["A-1"])
    let index = try await ledger.read {
      try String.fetchOne($0, sql: "SELECT name FROM sqlite_schema WHERE name = 'announcements_by_state'")
    }
    #expect(index != nil)
  }
}
