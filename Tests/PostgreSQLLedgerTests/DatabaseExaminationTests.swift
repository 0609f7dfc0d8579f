// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "The examination of a ledger's database",
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct DatabaseExaminationTests {
  /// The time limit of an examination on a busy machine.
  private static let patience = Duration.seconds(120)

  private func examine(_ address: PostgreSQLAddress) async throws -> DatabaseExamination {
    try await PostgreSQLLedger.examine(address, at: Date(), within: Self.patience)
  }

  /// The names of the tables and the number of rows that the server has written, which grows with each change.
  private func state(_ nodes: TwoNodes) async throws -> [String] {
    try await nodes.texts(
      """
      SELECT relname::text AS value FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
      UNION ALL SELECT name FROM crier_migrations
      UNION ALL SELECT id || digest::text FROM keys ORDER BY value
      """)
  }

  private func key(_ id: String, expiresAt: Date? = nil, device: String? = nil) -> NewKey {
    NewKey(
      id: id, account: "a", digest: digest(id), scopes: ["read"], name: nil, expiresAt: expiresAt, device: device)
  }

  @Test("a database with all tables is examined beside its ledgers, its keys are counted, and nothing is changed")
  func current() async throws {
    let nodes = try await TwoNodes()
    try await nodes.first.createKey(key("a"))
    try await nodes.first.createKey(key("b", expiresAt: Date(timeIntervalSinceNow: -1)))
    try await nodes.first.createKey(key("c"))
    try await nodes.first.revokeKey("c")
    let before = try await state(nodes)
    let found = try await examine(nodes.address)
    #expect(try await state(nodes) == before)
    #expect(found.server == nodes.address.description)
    #expect(found.applied == PostgreSQLLedger.knownMigrations && !found.isForeign && !found.isStandby)
    #expect(found.contents == .init(keysInForce: 1, keysEnded: 2, webhookEndpoints: 0, setAside: 0))
    #expect(found.byteCount > 1 << 20 && found.duration > .zero && abs(found.secondsAhead) < 60)
    #expect(found.version.wholeMatch(of: /[0-9.]+/) != nil, "\(found.version)")
    // The server of the tests does not synchronise the disk.
    #expect(!found.isDurable && found.durability == "fsync=off, synchronous_commit=on")
  }

  @Test("the examination finds synchronous_commit=off even if it is set only for the database")
  func notDurable() async throws {
    let nodes = try await TwoNodes()
    let name = try await nodes.texts("SELECT current_database()::text AS value")[0]
    try await nodes.run("ALTER DATABASE \(name) SET synchronous_commit TO off")
    let found = try await examine(nodes.address)
    #expect(!found.isDurable && found.durability == "fsync=off, synchronous_commit=off")
  }

  @Test("an empty database has no tables, and gets none by an examination")
  func empty() async throws {
    let database = try await TemporaryDatabase()
    for _ in 0..<2 {
      let found = try await examine(database.address)
      #expect(found.applied.isEmpty && !found.isForeign && found.contents == nil)
    }
  }

  @Test("a database without the changes of this version is examined, and its contents are not counted")
  func older() async throws {
    let nodes = try await TwoNodes()
    await nodes.first.close()
    await nodes.second.close()
    try await nodes.run("DELETE FROM crier_migrations WHERE position = (SELECT max(position) FROM crier_migrations)")
    let found = try await examine(nodes.address)
    #expect(found.applied == PostgreSQLLedger.knownMigrations.dropLast() && found.contents == nil)
    #expect(!found.isForeign)
  }

  @Test("a database with the changes of a newer version is examined like a database of this version")
  func newer() async throws {
    let nodes = try await TwoNodes()
    try await nodes.run("INSERT INTO crier_migrations (position, name) VALUES (9999, '9999: something to come')")
    let found = try await examine(nodes.address)
    #expect(found.applied.count == PostgreSQLLedger.knownMigrations.count + 1 && found.contents != nil)
  }

  @Test(
    "a database with the tables of another program is foreign",
    arguments: [
      "CREATE TABLE keys (a bigint)",
      "CREATE TABLE crier_migrations (position bigint, name text); INSERT INTO crier_migrations VALUES (1, 'other')",
    ])
  func foreign(script: String) async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in try session.script(script) }
    await connection.close()
    let found = try await examine(database.address)
    #expect(found.isForeign && found.contents == nil)
  }

  @Test("tables of other names do not make a database foreign")
  func otherNames() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in try session.script("CREATE TABLE invoices (a bigint)")
    }
    await connection.close()
    #expect(try await !examine(database.address).isForeign)
  }

  @Test("the examination gives the client's reason why a database cannot be used")
  func failures() async throws {
    let server = try await PostgreSQLServer.shared()
    let nowhere = try PostgreSQLAddress("postgresql:///crier?host=/nowhere", environment: [:])
    for (address, code) in [
      (try server.address(database: "no_such_one"), PostgreSQLError.Code.noDatabase),
      (try server.address(user: "guarded"), .accessDenied),
      (try server.address(user: "guarded", passwordFile: URL(filePath: "/nowhere/password")), .passwordFileUnusable),
      (nowhere, .cannotConnect),
    ] {
      let failure = await #expect(throws: PostgreSQLError.self) {
        try await PostgreSQLLedger.examine(address, at: Date(), within: .seconds(5))
      }
      #expect(failure?.code == code)
    }
  }

  @Test("the tables of the migrations are known by their names")
  func tables() {
    #expect(Set(["announcements", "keys", "events", "webhook_endpoints", "library_feed"]).isSubset(of: Schema.tables))
    #expect(Set(Schema.tables).count == Schema.tables.count)
  }

  @Test("the player of a lane on this machine is found without a server")
  func player() async throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "postgresql-ledger-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    #expect(try !PostgreSQLLedger.player(lane: "counter", home: home).isRunning)
    let database = try await TemporaryDatabase()
    let ledger = try await PostgreSQLLedger(address: database.address, home: home)
    let seat = try await ledger.takeSeat(lane: "counter")
    #expect(try PostgreSQLLedger.player(lane: "counter", home: home).isRunning)
    #expect(try !PostgreSQLLedger.player(lane: "kitchen", home: home).isRunning)
    withExtendedLifetime(seat) {}
    await ledger.close()
  }
}
