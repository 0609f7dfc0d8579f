// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Migration of older ledgers")
struct MigrationTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  /// A ledger as the first version left it, with an announcement in it.
  private func makeFirstVersion() throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(waitingFor: place.file)
    try database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(database, upTo: "1: announcements, events, commands")
    try database.write {
      try $0.execute(
        sql: """
          INSERT INTO announcements (number, account, id, lane, category, payload, state, accepted_at, changed_at)
          VALUES (41, 'shop', 'A-1', 'counter', 'payment', x'7B7D', 'waiting', 1700000000000, 1700000001000)
          """)
      #expect(try String.fetchAll($0, sql: "SELECT name FROM sqlite_schema WHERE name IN ('keys', 'answers')").isEmpty)
    }
    try database.close()
  }

  @Test("a ledger of the first version keeps its announcements, and gets the tables for keys and responses")
  func first() async throws {
    try makeFirstVersion()
    do {
      let ledger = try place.open()
      #expect(try await ledger.entry(account: "shop", id: "A-1")?.state == .waiting)
      #expect(try await ledger.keysVersion() == 0)
      try await ledger.createKey(newKey("a"))
      let stored = try await ledger.accept(
        answer: NewAnswer(
          account: "shop", key: "p:A-1", bodyDigest: digestOf("a"), id: "A-1", status: 201, report: Data()),
        playing: payment("A-1", account: "shop"))
      #expect(stored.acceptance?.number == 41 && stored.acceptance?.isDuplicate == true)
      #expect(try await ledger.accept(payment("B-2")).number == 42)
    }
    let again = try place.open()
    #expect(try await again.keys().map(\.id) == ["a"])
    #expect(try await again.announcement(account: "shop", id: "A-1")?.answer?.status == 201)
    #expect(try await again.recent().map(\.number) == [42, 41])
  }

  @Test("in the migration from the fifth version, the clip of a response is read from its report")
  func clips() async throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(waitingFor: place.file)
    try await database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(database, upTo: "5: expiry of keys, administration")
    let reports = [
      "whole": #"{"clip":{"name":"a.wav","path":"/home/x/containers/group.tills/Library/Sounds/a.wav"}}"#,
      "elsewhere": #"{"clip":{"name":"b.wav","path":"/tmp/b.wav"}}"#, "pathless": #"{"clip":{"name":"c.wav"}}"#,
      "none": #"{"ok":1}"#, "broken": "{", "empty": "", "zero": #"{"clip":{"name":"a\u0000"}}"#,
    ]
    try await database.write { database in
      for (id, report) in reports {
        try database.execute(
          sql: "INSERT INTO answers VALUES ('shop', ?, ?, ?, 201, ?, 1700000000000)",
          arguments: ["id:\(id)", digestOf(id), id, Data(report.utf8)])
      }
      // These are more rows than are read at once.
      for number in 0..<1_200 {
        try database.execute(
          sql: "INSERT INTO answers VALUES ('many', ?, ?, 'x', 201, ?, 1700000000000)",
          arguments: ["\(number)", digestOf("x"), Data(#"{"clip":{"name":"\#(number).wav"}}"#.utf8)])
      }
    }
    try database.close()
    let ledger = try place.open()
    let clips = [
      "whole": PublishedClip(name: "a.wav", group: "group.tills"),
      "elsewhere": PublishedClip(name: "b.wav", group: nil), "pathless": PublishedClip(name: "c.wav", group: nil),
    ]
    for id in reports.keys {
      #expect(try await ledger.announcement(account: "shop", id: id)?.answer?.clip == clips[id], "\(id)")
    }
    for name in ["a.wav", "0.wav", "1199.wav"] { #expect(try await ledger.isClipOfOthers(name, than: "other")) }
  }

  @Test("eight processes can open and migrate an older ledger at the same time")
  func together() async throws {
    try makeFirstVersion()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { _ = try await place.open().keys() } }
      try await group.waitForAll()
    }
    #expect(try await place.open().entry(41) != nil)
  }

  @Test("an older ledger that another process is writing to is left unchanged, and migrated when it is free")
  func held() async throws {
    try makeFirstVersion()
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true  // A transaction spans two accesses.
    let other = try DatabaseQueue(path: place.file.path, configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    var options = SQLiteLedger.Options()
    options.busyTimeout = 0.05
    let error = #expect(throws: LedgerError.self) { try place.open(options) }
    #expect(error?.code == .busy)
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(try await place.open(options).keys().isEmpty)
  }

  @Test("a new ledger and a migrated one have the same tables")
  func same() async throws {
    try makeFirstVersion()
    let fresh = try SQLiteLedger(at: place.folder.appending(path: "fresh.sqlite"))
    let migrated = try place.open()
    func schema(_ ledger: SQLiteLedger) async throws -> [String] {
      try await ledger.read {
        try String.fetchAll($0, sql: "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name")
      }
    }
    #expect(try await schema(fresh) == schema(migrated))
    #expect(try await schema(fresh).count > 10)
  }
}
