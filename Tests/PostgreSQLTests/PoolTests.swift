// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite("Pools", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(5)))
struct PoolTests {
  private func pool(
    _ database: TemporaryDatabase, _ count: Int, mostWaiting: Int = 1_000, patience: Duration = .seconds(60)
  ) throws -> PostgreSQLPool {
    var options = PostgreSQLConnection.Options()
    options.timeLimit = .seconds(120)
    options.patience = patience
    return try PostgreSQLPool(to: database.address, count: count, mostWaiting: mostWaiting, options: options)
  }

  private let sleep: @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Void = {
    session throws(PostgreSQLError) in
    try session.execute("SELECT pg_sleep(3600)")
  }

  @Test("no more work runs at the same time than a pool has connections, and all work is done")
  func most() async throws {
    let database = try await TemporaryDatabase()
    let pool = try pool(database, 3)
    let running = Locked((now: 0, most: 0))
    try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<60 {
        group.addTask {
          try await pool.run { session throws(PostgreSQLError) in
            running.withLock { running in
              running.now += 1
              running.most = max(running.most, running.now)
            }
            defer { running.withLock { $0.now -= 1 } }
            return try session.rows("SELECT $1 AS n", [.int64(Int64(number))])[0].read("n")
          }
        }
      }
      var numbers: [Int64] = []
      for try await number in group { numbers.append(number) }
      #expect(numbers.sorted() == (0..<60).map(Int64.init))
    }
    #expect(running.withLock { $0.most } <= 3)
    await pool.close()
  }

  @Test("a pool opens no more connections than its work needs")
  func few() async throws {
    let pool = try pool(try await TemporaryDatabase(), 3)
    for _ in 0..<10 { try await pool.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") } }
    #expect(pool.states == [.connected, .notConnected, .notConnected])
    await pool.close()
    #expect(pool.states == [.closed, .closed, .closed])
  }

  @Test("a call fails if it gets no connection by its deadline, is cancelled, or exceeds the limit of waiting calls")
  func exhausted() async throws {
    let database = try await TemporaryDatabase()
    let pool = try pool(database, 2, mostWaiting: 1)
    let sleeping = (0..<2).map { _ in Task { await failure { () throws(PostgreSQLError) in try await pool.run(sleep) } }
    }
    try await database.sessions(2, waitFor: "PgSleep")
    let late = await failure { () throws(PostgreSQLError) in try await pool.run(within: .milliseconds(50), sleep) }
    #expect(late?.code == .noFreeConnection)
    #expect(pool.waiting == 0)
    let waiting = Task { await failure { () throws(PostgreSQLError) in try await pool.run(sleep) } }
    try await eventually { pool.waiting == 1 }
    let refused = await failure { () throws(PostgreSQLError) in try await pool.run(sleep) }
    #expect(refused?.code == .tooManyWaiting)
    waiting.cancel()
    #expect(await waiting.value?.code == .cancelled)
    #expect(pool.waiting == 0)
    for task in sleeping {
      task.cancel()
      #expect(await task.value?.code == .cancelled)
    }
    // All connections came back.
    for _ in 0..<4 { try await pool.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") } }
    await pool.close()
  }

  @Test("calls get connections in the order in which they came")
  func fair() async throws {
    let database = try await TemporaryDatabase()
    let pool = try pool(database, 1)
    let blocker = Task { await failure { () throws(PostgreSQLError) in try await pool.run(sleep) } }
    try await database.sessions(waitFor: "PgSleep")
    let order = Locked<[Int]>([])
    var calls: [Task<Void, any Error>] = []
    for number in 0..<20 {
      calls.append(
        Task { try await pool.run { _ throws(PostgreSQLError) in order.withLock { $0.append(number) } } })
      try await eventually { pool.waiting == number + 1 }
    }
    blocker.cancel()
    for call in calls { try await call.value }
    #expect(order.withLock { $0 } == Array(0..<20))
    _ = await blocker.value
    await pool.close()
  }

  @Test("a connection whose work hangs is not given to other calls")
  func hanging() async throws {
    let database = try await TemporaryDatabase()
    let pool = try pool(database, 2, patience: .milliseconds(10))
    try await pool.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    let release = DispatchSemaphore(value: 0)
    let failure = await failure { () throws(PostgreSQLError) in
      try await pool.run(within: .milliseconds(100)) { _ throws(PostgreSQLError) in
        #expect(release.wait(timeout: .now() + 120) == .success)
      }
    }
    #expect(failure?.code == .deadlinePassed)
    for _ in 0..<10 { try await pool.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") } }
    release.signal()
    await pool.close()
  }

  @Test("closing a pool fails its running and waiting calls, and refuses further calls")
  func close() async throws {
    let database = try await TemporaryDatabase()
    let pool = try pool(database, 1)
    let running = Task { await failure { () throws(PostgreSQLError) in try await pool.run(sleep) } }
    try await database.sessions(waitFor: "PgSleep")
    let waiting = Task { await failure { () throws(PostgreSQLError) in try await pool.run(sleep) } }
    try await eventually { pool.waiting == 1 }
    await pool.close()
    #expect(await running.value?.code == .closed)
    #expect(await waiting.value?.code == .closed)
    #expect(await failure { () throws(PostgreSQLError) in try await pool.run(sleep) }?.code == .closed)
  }

  @Test("a call fails at its deadline if the server has no room for another connection, and the error says so")
  func serverFull() async throws {
    let database = try await TemporaryDatabase()
    let administrator = try database.connect()
    try await administrator.run { session throws(PostgreSQLError) in
      try session.script("CREATE ROLE \(database.name) LOGIN CONNECTION LIMIT 1")
    }
    let address = try database.server.address(user: database.name, database: database.name)
    let first = try PostgreSQLConnection(to: address)
    try await first.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    let second = try PostgreSQLConnection(to: address)
    try await second.waitForFailedAttempt()
    let failure = await failure { () throws(PostgreSQLError) in
      try await second.run(within: .milliseconds(300)) { session throws(PostgreSQLError) in
        try session.execute("SELECT 1")
      }
    }
    #expect(failure?.code == .serverFull)
    #expect(failure?.sqlState == "53300")
  }
}
