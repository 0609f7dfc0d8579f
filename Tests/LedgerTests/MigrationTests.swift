// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import Ledger

@Suite("Older ledgers")
struct MigrationTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  /// A ledger as the first version left it, with an announcement in it.
  private func makeFirstVersion() throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(path: place.file.path)
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

  @Test("a ledger of the first version is opened with what it has, and has keys and answers from then on")
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

  @Test("eight that open an older ledger at once all find it migrated")
  func together() async throws {
    try makeFirstVersion()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { _ = try await place.open().keys() } }
      try await group.waitForAll()
    }
    #expect(try await place.open().entry(41) != nil)
  }

  @Test("an older ledger that another process writes to is left as it is, and migrated when it is free")
  func held() async throws {
    try makeFirstVersion()
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true  // It is held from one access to the next.
    let other = try DatabaseQueue(path: place.file.path, configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    var options = Ledger.Options()
    options.busyTimeout = 0.05
    let error = #expect(throws: LedgerError.self) { try place.open(options) }
    #expect(error?.code == .busy)
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(try await place.open(options).keys().isEmpty)
  }

  @Test("a new ledger and a migrated one have the same tables")
  func same() async throws {
    try makeFirstVersion()
    let fresh = try Ledger(at: place.folder.appending(path: "fresh.sqlite"))
    let migrated = try place.open()
    func schema(_ ledger: Ledger) async throws -> [String] {
      try await ledger.read {
        try String.fetchAll($0, sql: "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name")
      }
    }
    #expect(try await schema(fresh) == schema(migrated))
    #expect(try await schema(fresh).count > 10)
  }
}
