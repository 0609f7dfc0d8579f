// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(
  "Time limits and cancellation", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(5)))
struct DeadlineTests {
  private func process(_ connection: PostgreSQLConnection) async throws -> Int64 {
    try await connection.run { session throws(PostgreSQLError) in
      try session.rows("SELECT pg_backend_pid() AS pid")[0].read("pid")
    }
  }

  @Test("a statement is cancelled at its deadline, and the connection stays usable")
  func deadline() async throws {
    let connection = try await TemporaryDatabase().connect()
    let process = try await process(connection)
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run(within: .milliseconds(300)) { session throws(PostgreSQLError) in
        try session.execute("SELECT pg_sleep(3600)")
      }
    }
    #expect(failure?.code == .deadlinePassed)
    #expect(try await self.process(connection) == process)
  }

  @Test("a transaction is rolled back at its deadline, and sends no further statements")
  func transaction() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in try session.script("CREATE TABLE shop (id bigint)") }
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run(within: .milliseconds(300)) { session throws(PostgreSQLError) in
        try session.transaction { session throws(PostgreSQLError) in
          try session.execute("INSERT INTO shop VALUES (1)")
          do {
            try session.execute("SELECT pg_sleep(3600)")
          } catch {
            // The work goes on nevertheless.
            try session.execute("INSERT INTO shop VALUES (2)")
          }
        }
      }
    }
    #expect(failure?.code == .deadlinePassed)
    let count = try await connection.run { session throws(PostgreSQLError) in
      try session.rows("SELECT id FROM shop").count
    }
    #expect(count == 0)
  }

  @Test("a transaction whose deadline passes after its last statement is not committed")
  func late() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await connection.run { session throws(PostgreSQLError) in try session.script("CREATE TABLE shop (id bigint)") }
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run(within: .milliseconds(100)) { session throws(PostgreSQLError) in
        try session.transaction { session throws(PostgreSQLError) in
          try session.execute("INSERT INTO shop VALUES (1)")
          while session.control.ended == nil { _ = session.wire.wake.wait(for: nil, until: session.control.deadline) }
        }
      }
    }
    #expect(failure?.code == .deadlinePassed)
    let count = try await connection.run { session throws(PostgreSQLError) in
      try session.rows("SELECT id FROM shop").count
    }
    #expect(count == 0)
  }

  @Test("the statement of a cancelled task is cancelled on the server, and the connection stays usable")
  func cancelled() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    let process = try await process(connection)
    let task = Task {
      await failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT pg_sleep(3600)") }
      }
    }
    try await database.sessions(waitFor: "PgSleep")
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    #expect(try await self.process(connection) == process)
  }

  @Test("a task that is cancelled before its call sends nothing")
  func early() async throws {
    let connection = try await TemporaryDatabase().connect()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
      }
    }
    #expect(await task.value?.code == .cancelled)
    #expect(connection.state == .notConnected)
  }

  @Test("a call waits for earlier calls on its connection, and its work is not run after its deadline or cancellation")
  func queue() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    let sleeping = Task {
      await failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT pg_sleep(3600)") }
      }
    }
    try await database.sessions(waitFor: "PgSleep")
    let isBegun = Locked(false)
    let work: @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Void = { _ in
      isBegun.withLock { $0 = true }
    }
    let late = await failure { () throws(PostgreSQLError) in try await connection.run(within: .milliseconds(10), work) }
    #expect(late?.code == .deadlinePassed)
    #expect(late?.action == .waiting)
    let waiting = Task { await failure { () throws(PostgreSQLError) in try await connection.run(work) } }
    waiting.cancel()
    #expect(await waiting.value?.code == .cancelled)
    sleeping.cancel()
    #expect(await sleeping.value?.code == .cancelled)
    _ = try await process(connection)
    #expect(isBegun.withLock { $0 } == false)
  }

  @Test("if a server does not answer a cancellation, the call returns, and its connection is replaced")
  func hanging() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect { $0.patience = .milliseconds(200) }
    let sleep = "SELECT pg_sleep(3600)"
    for isTransaction in [true, false] {
      let process = try await process(connection)
      let task = Task {
        await failure { () throws(PostgreSQLError) in
          try await connection.run { session throws(PostgreSQLError) in
            guard isTransaction else { return try session.execute(sleep) }
            return try session.transaction { session throws(PostgreSQLError) in try session.execute(sleep) }
          }
        }
      }
      try await database.sessions(waitFor: "PgSleep")
      // A process that stands still keeps its socket open.
      kill(pid_t(process), SIGSTOP)
      task.cancel()
      let error = await task.value
      kill(pid_t(process), SIGCONT)
      #expect(error?.code == (isTransaction ? .cancelled : .outcomeUnknown))
      #expect(try await self.process(connection) != process)
    }
  }

  @Test("a call returns soon after its deadline, even if its work continues")
  func stuck() async throws {
    let connection = try await TemporaryDatabase().connect { $0.patience = .milliseconds(10) }
    _ = try await process(connection)
    let release = DispatchSemaphore(value: 0)
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run(within: .milliseconds(100)) { session throws(PostgreSQLError) in
        #expect(release.wait(timeout: .now() + 120) == .success)
        try session.execute("SELECT 1")
      }
    }
    #expect(failure?.code == .deadlinePassed)
    release.signal()
    _ = try await process(connection)
  }

  @Test("closing a connection cancels its statement, fails all waiting calls, and refuses further calls")
  func close() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    async let running = failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT pg_sleep(3600)") }
    }
    try await database.sessions(waitFor: "PgSleep")
    async let waiting = failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    }
    await connection.close()
    #expect(await running?.code == .closed)
    #expect(await waiting?.code == .closed)
    #expect(connection.state == .closed)
    let later = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    }
    #expect(later?.code == .closed)
    await connection.close()
    try await database.sessions(0, waitFor: "PgSleep")
  }

  @Test("a connection is closed when its last reference is gone")
  func released() async throws {
    let database = try await TemporaryDatabase()
    var connection: PostgreSQLConnection? = try database.connect()
    try await connection?.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    try await database.sessions(waitFor: "ClientRead")
    connection = nil
    try await database.sessions(0, waitFor: "ClientRead")
  }
}
