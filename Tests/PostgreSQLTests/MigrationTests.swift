// SPDX-License-Identifier: Apache-2.0

import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite("Migrations", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(5)))
struct MigrationTests {
  private let both = PostgreSQLMigrations([
    .init("shops", "CREATE TABLE shop (id bigint PRIMARY KEY); INSERT INTO shop VALUES (1)"),
    .init("names", "ALTER TABLE shop ADD COLUMN name text"),
  ])

  private var first: PostgreSQLMigrations { PostgreSQLMigrations([both.migrations[0]]) }

  private func names(_ connection: PostgreSQLConnection) async throws -> [String] {
    try await connection.run { session throws(PostgreSQLError) in
      try session.rows("SELECT array_agg(name ORDER BY position) AS names FROM crier_migrations")[0].read("names")
    }
  }

  @Test("each migration is applied once, in order")
  func once() async throws {
    let connection = try await TemporaryDatabase().connect()
    #expect(try await first.apply(on: connection) == ["shops"])
    #expect(try await both.apply(on: connection) == ["names"])
    #expect(try await both.apply(on: connection) == [])
    #expect(try await names(connection) == ["shops", "names"])
  }

  @Test("the migrations of a database can be read, and reading makes no table")
  func reading() async throws {
    let connection = try await TemporaryDatabase().connect()
    func applied() async throws -> [String]? {
      try await connection.run { session throws(PostgreSQLError) in try PostgreSQLMigrations.applied(session) }
    }
    #expect(try await applied() == nil)
    #expect(try await applied() == nil)
    try await both.apply(on: connection)
    #expect(try await applied() == ["shops", "names"])
    #expect(try first.next(after: []) == first.migrations[0] && both.next(after: ["shops"]) == both.migrations[1])
    #expect(try both.next(after: ["shops", "names", "a newer one"]) == nil)
  }

  @Test("the database of a newer program is accepted, and is not changed")
  func newer() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await both.apply(on: connection)
    #expect(try await first.apply(on: connection) == [])
    #expect(try await PostgreSQLMigrations([]).apply(on: connection) == [])
    #expect(try await names(connection) == ["shops", "names"])
  }

  @Test("a database with other migrations is refused, and is not changed")
  func other() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await both.apply(on: connection)
    for other in [
      [both.migrations[0], .init("other", "CREATE TABLE other (id bigint)")],
      [both.migrations[1], both.migrations[0]],
      [both.migrations[0], .init("other", "SELECT 1"), both.migrations[1], .init("more", "SELECT 1")],
    ] as [[PostgreSQLMigrations.Migration]] {
      let failure = await failure { () throws(PostgreSQLError) in
        try await PostgreSQLMigrations(other).apply(on: connection)
      }
      #expect(failure?.code == .migrationsDiffer)
    }
    #expect(try await names(connection) == ["shops", "names"])
  }

  @Test("a failed migration changes nothing, and the earlier migrations stay")
  func failing() async throws {
    let connection = try await TemporaryDatabase().connect()
    let failing = PostgreSQLMigrations(
      first.migrations + [.init("names", "ALTER TABLE shop ADD COLUMN name text; SELECT 1/0")])
    let failure = await failure { () throws(PostgreSQLError) in try await failing.apply(on: connection) }
    #expect(failure?.sqlState == "22012")
    #expect(try await names(connection) == ["shops"])
    #expect(try await both.apply(on: connection) == ["names"])
  }

  @Test("a migration that ends its transaction itself is refused", arguments: ["COMMIT", "ROLLBACK"])
  func ownEnd(sql: String) async throws {
    let connection = try await TemporaryDatabase().connect()
    let ending = PostgreSQLMigrations([.init("ending", "CREATE TABLE shop (id bigint); \(sql)")])
    #expect(await failure { () throws(PostgreSQLError) in try await ending.apply(on: connection) } != nil)
  }

  @Test("programs that migrate at the same time wait for each other, and each migration is applied once")
  func together() async throws {
    let database = try await TemporaryDatabase()
    let connections = try (0..<8).map { _ in try database.connect() }
    // All of them wait for the lock when the first one may begin.
    let holder = try database.connect()
    let release = Task {
      try await holder.transaction { session throws(PostgreSQLError) in
        try session.execute("SELECT pg_advisory_xact_lock($1)", [.int64(PostgreSQLMigrations.lock)])
        try session.execute("SELECT pg_sleep(3600)")
      }
    }
    try await database.sessions(waitFor: "PgSleep")
    let applied = try await withThrowingTaskGroup(of: [String].self) { [both] group in
      for connection in connections { group.addTask { try await both.apply(on: connection) } }
      try await database.sessions(8, waitFor: "advisory")
      release.cancel()
      var applied: [String] = []
      for try await names in group { applied += names }
      return applied
    }
    #expect(applied.sorted() == ["names", "shops"])
    #expect(try await names(holder) == ["shops", "names"])
    _ = await release.result
  }

  @Test("a user who may not create tables accepts a database that has all migrations")
  func unprivileged() async throws {
    let database = try await TemporaryDatabase()
    let owner = try database.connect()
    try await both.apply(on: owner)
    try await owner.run { session throws(PostgreSQLError) in
      try session.script("CREATE ROLE \(database.name) LOGIN; GRANT SELECT ON crier_migrations TO \(database.name)")
    }
    let user = try PostgreSQLConnection(to: try database.server.address(user: database.name, database: database.name))
    #expect(try await both.apply(on: user) == [])
    let more = PostgreSQLMigrations(both.migrations + [.init("more", "CREATE TABLE more (id bigint)")])
    #expect(await failure { () throws(PostgreSQLError) in try await more.apply(on: user) }?.code == .notPermitted)
  }

  @Test("migrating ends at its deadline while another program holds the lock")
  func deadline() async throws {
    let database = try await TemporaryDatabase()
    let holder = try database.connect()
    let held = Task {
      await failure { () throws(PostgreSQLError) in
        try await holder.transaction { session throws(PostgreSQLError) in
          try session.execute("SELECT pg_advisory_xact_lock($1)", [.int64(PostgreSQLMigrations.lock)])
          try session.execute("SELECT pg_sleep(3600)")
        }
      }
    }
    try await database.sessions(waitFor: "PgSleep")
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    let late = await failure { () throws(PostgreSQLError) in
      try await both.apply(on: connection, within: .milliseconds(300))
    }
    #expect(late?.code == .deadlinePassed)
    held.cancel()
    _ = await held.value
  }
}
