// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

/// Each test has a server of its own, because the test stops the server.
@Suite(
  "Connections that break", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(10)))
struct LostConnectionTests {
  private func connect(_ server: PostgreSQLServer) throws -> PostgreSQLConnection {
    var options = PostgreSQLConnection.Options()
    options.timeLimit = .seconds(120)
    options.reconnecting = PostgreSQLBackOff(first: .milliseconds(10), longest: .milliseconds(50))
    return try PostgreSQLConnection(to: try server.address(), options: options)
  }

  private func makeTable(_ connection: PostgreSQLConnection) async throws {
    try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE shop (id bigint PRIMARY KEY)")
    }
  }

  private func ids(_ connection: PostgreSQLConnection) async throws -> [Int64] {
    try await connection.run { session throws(PostgreSQLError) in
      var ids: [Int64] = []
      for row in try session.rows("SELECT id FROM shop ORDER BY id") { ids.append(try row.read("id")) }
      return ids
    }
  }

  @Test("if the server stops within a transaction, the error is connection_lost, and nothing is stored")
  func transaction() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    try await makeTable(connection)
    async let failed = failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in
        try session.execute("INSERT INTO shop VALUES (1)")
        try session.execute("SELECT pg_sleep(3600)")
      }
    }
    try await server.sessions(of: "postgres", waitFor: "PgSleep")
    try await server.stopAtOnce()
    let failure = try #require(await failed)
    #expect(failure.code == .connectionLost)
    #expect(failure.description.contains("Nothing was stored. Try again."))
    try await server.start()
    #expect(try await ids(connection) == [])
  }

  @Test("a server that stops during a statement outside of a transaction leaves the outcome unknown")
  func statement() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    async let failed = failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT pg_sleep(3600)") }
    }
    try await server.sessions(of: "postgres", waitFor: "PgSleep")
    try await server.stopAtOnce()
    #expect(await failed?.code == .outcomeUnknown)
  }

  @Test("a server that stops before it has committed leaves the outcome unknown, and nothing is stored")
  func beforeCommit() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    try await makeTable(connection)
    try await connection.run { session throws(PostgreSQLError) in
      try session.script(
        """
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3600); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON shop DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION wait();
        """)
    }
    let attempts = Locked(0)
    async let failed = failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in
        attempts.withLock { $0 += 1 }
        try session.execute("INSERT INTO shop VALUES (1)")
      }
    }
    try await server.sessions(of: "postgres", waitFor: "PgSleep")
    try await server.stopAtOnce()
    let failure = try #require(await failed)
    #expect(failure.code == .outcomeUnknown)
    #expect(failure.action == .committing)
    // Only the caller can find out what happened, so the work is not run again here.
    #expect(attempts.withLock { $0 } == 1)
    try await server.start()
    #expect(try await ids(connection) == [])
  }

  @Test("a server that stops after it has committed leaves the outcome unknown, and the changes are stored")
  func afterCommit() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    try await makeTable(connection)
    try await connection.run { session throws(PostgreSQLError) in
      // Each commit now waits for a standby that does not exist, after it is on this server's disk.
      try session.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
      try session.execute("SELECT pg_reload_conf()")
    }
    // The server reads its settings a moment later, so the first commits may still be confirmed.
    async let last = {
      var id: Int64 = 0
      var found: PostgreSQLError?
      while found == nil {
        id += 1
        let own = id
        found = await failure { () throws(PostgreSQLError) in
          try await connection.transaction { session throws(PostgreSQLError) in
            try session.execute("INSERT INTO shop VALUES ($1)", [.int64(own)])
          }
        }
      }
      return (id, found)
    }()
    try await server.sessions(of: "postgres", waitFor: "SyncRep")
    try await server.stopAtOnce()
    let (id, error) = await last
    #expect(error?.code == .outcomeUnknown)
    try await server.start()
    #expect(try await ids(connection) == Array(1...id))
  }

  @Test("a commit that waits for a standby at its deadline is not confirmed, and its changes stay invisible")
  func unreplicated() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    try await makeTable(connection)
    func setStandby(_ name: String) async throws {
      try await connection.run { session throws(PostgreSQLError) in
        try session.execute("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try session.execute("SELECT pg_reload_conf()")
      }
    }
    try await setStandby("nobody")
    var id: Int64 = 0
    var found: PostgreSQLError?
    while found == nil {
      id += 1
      let own = id
      found = await failure { () throws(PostgreSQLError) in
        try await connection.transaction(within: .seconds(2)) { session throws(PostgreSQLError) in
          try session.execute("INSERT INTO shop VALUES ($1)", [.int64(own)])
        }
      }
    }
    #expect(found?.code == .outcomeUnknown)
    #expect(try await !ids(connection).contains(id))
    try await setStandby("")
    let last = id
    try await eventually("the commit no longer waits") { try await ids(connection).contains(last) }
  }

  @Test("a connection that the server closed while it was idle is replaced without an error")
  func idle() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    try await makeTable(connection)
    #expect(connection.state == .connected)
    try await server.stopAtOnce()
    try await eventually("the connection notices its end") { connection.state == .notConnected }
    try await server.start()
    #expect(try await ids(connection) == [])
    #expect(connection.state == .connected)
  }

  @Test("work that is requested while the server is down is done when the server runs again")
  func down() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    try await makeTable(connection)
    try await server.stopAtOnce()
    async let ids = ids(connection)
    try await eventually("the connection pauses between attempts") { connection.state == .waiting }
    try await server.start()
    #expect(try await ids == [])
  }

  @Test("the error of a session that an administrator ended has its SQLSTATE, and the next work gets a new session")
  func terminated() async throws {
    let server = try await PostgreSQLServer()
    let connection = try connect(server)
    try await makeTable(connection)
    async let failed = failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in
        try session.execute("INSERT INTO shop VALUES (1)")
        try session.execute("SELECT pg_sleep(3600)")
      }
    }
    try await server.sessions(of: "postgres", waitFor: "PgSleep")
    let other = try connect(server)
    try await other.run { session throws(PostgreSQLError) in
      try session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    }
    let failure = try #require(await failed)
    #expect(failure.code == .connectionLost)
    #expect(failure.sqlState == "57P01")
    #expect(try await ids(connection) == [])
  }
}
