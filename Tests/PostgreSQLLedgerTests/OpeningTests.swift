// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "Opening a ledger on PostgreSQL", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct OpeningTests {
  private func failure(
    _ address: PostgreSQLAddress, _ limit: Duration = .seconds(120), changesTables: Bool = true
  ) async -> LedgerError? {
    let home = FileManager.default.temporaryDirectory.appending(path: "postgresql-ledger-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    var options = PostgreSQLLedger.Options()
    options.connection.timeLimit = limit
    options.patienceAtOpening = limit
    options.changesTables = changesTables
    do throws(LedgerError) {
      _ = try await PostgreSQLLedger(address: address, home: home, options: options)
      return nil
    } catch {
      return error
    }
  }

  @Test("a ledger that another node opened has its announcements")
  func shared() async throws {
    let nodes = try await TwoNodes()
    let number = try await nodes.first.accept(payment("A-1")).number
    #expect(try await nodes.second.entry(number)?.id == "A-1")
    #expect(try await nodes.open().entry(number)?.id == "A-1")
  }

  @Test("a database with the tables of another program is refused, and is not changed")
  func otherProgram() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in
      try session.script(
        """
        CREATE TABLE crier_migrations (position bigint PRIMARY KEY, name text NOT NULL UNIQUE,
                                       applied timestamptz NOT NULL DEFAULT now());
        INSERT INTO crier_migrations VALUES (1, 'another program''s');
        """)
    }
    let failure = try #require(await failure(database.address))
    #expect(failure.code == .notALedger)
    let tables = try await connection.run { session throws(PostgreSQLError) in
      try session.rows("SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200").count
    }
    #expect(tables == 1)
    await connection.close()
  }

  @Test("a database whose encoding cannot hold every text is refused")
  func encoding() async throws {
    let server = try await PostgreSQLServer.shared()
    let connection = try PostgreSQLConnection(to: try server.address())
    let name = "latin_\(UUID().uuidString.prefix(8).lowercased())"
    try await connection.run(within: .seconds(120)) { session throws(PostgreSQLError) in
      try session.execute("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1'")
    }
    await connection.close()
    let failure = try #require(await failure(try server.address(database: name)))
    #expect(failure.code == .invalidValue)
    #expect(failure.description.contains("its encoding must be UTF8"))
  }

  @Test("the error for a server that cannot be reached contains the server's address, but not the user or the database")
  func unreachable() async throws {
    let address = try PostgreSQLAddress("postgresql://someone@/secret?host=/nowhere", environment: [:])
    let failure = try #require(await failure(address, .seconds(1)))
    #expect(failure.code == .unreachable)
    #expect(failure.description.contains("/nowhere"))
    #expect(!failure.description.contains("someone") && !failure.description.contains("secret"))
  }

  @Test("a database in which another program has a table of the same name is refused, and is not changed")
  func sameName() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE announcements (a bigint); CREATE TABLE keys (a bigint)")
    }
    #expect(await failure(database.address)?.code == .notALedger)
    await connection.close()
  }

  @Test("the error for a database that does not exist says so, and says what to do")
  func noDatabase() async throws {
    let failure = try #require(await failure(try await PostgreSQLServer.shared().address(database: "no_such_one")))
    #expect(failure.code == .unreachable)
    #expect(
      failure.description.hasSuffix(
        "failed: the server has no database of this name (SQLSTATE 3D000). Create the database, or correct its name in "
          + "the address."))
    #expect(!failure.description.contains("no_such_one"))
  }

  @Test("a password file that cannot be used is reported with the reason")
  func password() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "password-\(UUID().uuidString)")
    let address = try await PostgreSQLServer.shared().address(user: "guarded", passwordFile: file)
    let failure = try #require(await failure(address))
    #expect(failure.code == .notPermitted)
    #expect(failure.description.contains("failed: the password file does not exist. Check the user in the address"))
  }

  @Test("opening a ledger only for reading fails if the database has no tables, and changes nothing")
  func reading() async throws {
    let database = try await TemporaryDatabase()
    let failure = try #require(await failure(database.address, changesTables: false))
    #expect(failure.code == .olderVersion)
    #expect(failure.description.contains("the tables must first be brought up to date. The database was not changed."))
    #expect(try await PostgreSQLLedger.examine(database.address, at: Date()).applied.isEmpty)
    let nodes = try await TwoNodes()
    #expect(await self.failure(nodes.address, changesTables: false) == nil)
  }

  @Test("after a call has found no server, the next calls fail soon")
  func soon() async throws {
    let server = try await PostgreSQLServer()
    let name = try await server.makeDatabase()
    let home = FileManager.default.temporaryDirectory.appending(path: "postgresql-ledger-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    var options = PostgreSQLLedger.Options()
    // If the calls below waited for so long, the time limit of the tests would end them.
    options.connection.timeLimit = .seconds(3_600)
    options.timeLimitWithoutServer = .milliseconds(100)
    let ledger = try await PostgreSQLLedger(address: server.address(database: name), home: home, options: options)
    let administrator = try PostgreSQLConnection(to: try server.address())
    try await administrator.run(within: .seconds(120)) { session throws(PostgreSQLError) in
      try session.script("DROP DATABASE \(name) WITH (FORCE)")
    }
    await administrator.close()
    // Nobody waits for a database to appear.
    let failure = await #expect(throws: LedgerError.self) { try await ledger.keysVersion() }
    #expect(failure?.code == .unreachable)
    try await server.stopAtOnce()
    for _ in 0..<3 { await #expect(throws: LedgerError.self) { try await ledger.keysVersion() } }
    await ledger.close()
  }
}
