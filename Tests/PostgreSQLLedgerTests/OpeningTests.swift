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
  private func failure(_ address: PostgreSQLAddress, _ limit: Duration = .seconds(120)) async -> LedgerError? {
    let home = FileManager.default.temporaryDirectory.appending(path: "postgresql-ledger-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    var options = PostgreSQLLedger.Options()
    options.connection.timeLimit = limit
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

  @Test("a server that cannot be reached is named, without the user and the database")
  func unreachable() async throws {
    let address = try PostgreSQLAddress("postgresql://someone@/secret?host=/nowhere", environment: [:])
    let failure = try #require(await failure(address, .seconds(1)))
    #expect(failure.code == .unreachable)
    #expect(failure.description.contains("/nowhere"))
    #expect(!failure.description.contains("someone") && !failure.description.contains("secret"))
  }
}
