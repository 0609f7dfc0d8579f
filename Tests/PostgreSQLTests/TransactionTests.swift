// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

@Suite(
  "Transactions", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(5)))
struct TransactionTests {
  /// Returns connections to a database with the table `shop`, which has the rows 1 and 2 with the value 0.
  private func connections(_ count: Int) async throws -> [PostgreSQLConnection] {
    let database = try await TemporaryDatabase()
    let connections = try (0..<count).map { _ in try database.connect() }
    try await connections[0].run { session throws(PostgreSQLError) in
      try session.script(
        """
        CREATE TABLE shop (id bigint PRIMARY KEY, n bigint NOT NULL DEFAULT 0);
        INSERT INTO shop VALUES (1), (2);
        """)
    }
    return connections
  }

  private func values(_ connection: PostgreSQLConnection) async throws -> [Int64] {
    try await connection.run { session throws(PostgreSQLError) in
      try session.rows("SELECT array_agg(n ORDER BY id) AS n FROM shop")[0].read("n")
    }
  }

  @Test("the changes of a transaction are stored together, in READ COMMITTED unless another isolation is named")
  func commit() async throws {
    let connections = try await connections(2)
    let isolation = try await connections[0].transaction { session throws(PostgreSQLError) -> String in
      try session.execute("UPDATE shop SET n = 1 WHERE id = 1")
      try session.execute("UPDATE shop SET n = 2 WHERE id = 2")
      return try session.rows("SELECT current_setting('transaction_isolation') AS name")[0].read("name")
    }
    #expect(isolation == "read committed")
    #expect(try await values(connections[1]) == [1, 2])
    for isolation in PostgreSQLIsolation.allCases {
      let name = try await connections[0].transaction(isolation) { session throws(PostgreSQLError) -> String in
        try session.rows("SELECT current_setting('transaction_isolation') AS name")[0].read("name")
      }
      #expect(name == isolation.rawValue.lowercased())
    }
  }

  @Test("an error within a transaction rolls the transaction back, and the connection stays usable")
  func error() async throws {
    let connection = try await connections(1)[0]
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in
        try session.execute("UPDATE shop SET n = 1 WHERE id = 1")
        try session.execute("INSERT INTO shop VALUES (2)")
      }
    }
    #expect(failure?.code == .constraintViolated)
    #expect(try await values(connection) == [0, 0])
  }

  @Test("a column that cannot be read as the requested type rolls the transaction back")
  func reading() async throws {
    let connection = try await connections(1)[0]
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) -> String in
        try session.rows("UPDATE shop SET n = 1 WHERE id = 1 RETURNING n")[0].read("n")
      }
    }
    #expect(failure?.code == .wrongType)
    #expect(try await values(connection) == [0, 0])
  }

  @Test("the work of a transaction can roll it back and still return a value")
  func decision() async throws {
    let connection = try await connections(1)[0]
    let value = try await connection.run { session throws(PostgreSQLError) in
      try session.decidedTransaction { session throws(PostgreSQLError) -> PostgreSQLDecision<String> in
        try session.execute("UPDATE shop SET n = 1")
        return .rollBack("refused")
      }
    }
    #expect(value == "refused")
    #expect(try await values(connection) == [0, 0])
  }

  @Test("an error that the work of a transaction catches still rolls the transaction back, and is thrown")
  func swallowed() async throws {
    let connection = try await connections(1)[0]
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in
        try session.execute("UPDATE shop SET n = 1")
        do {
          try session.execute("INSERT INTO shop VALUES (2)")
        } catch {}
      }
    }
    #expect(failure?.code == .constraintViolated)
    #expect(try await values(connection) == [0, 0])
  }

  @Test("a transaction within a transaction is refused")
  func nested() async throws {
    let connection = try await connections(1)[0]
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in
        try session.execute("UPDATE shop SET n = 1")
        try session.transaction { session throws(PostgreSQLError) in try session.execute("UPDATE shop SET n = 2") }
      }
    }
    #expect(failure?.code == .invalidUse)
    #expect(try await values(connection) == [0, 0])
  }

  @Test("work that ends its transaction itself, or leaves one open, is refused", arguments: ["COMMIT", "ROLLBACK"])
  func ownEnd(sql: String) async throws {
    let connection = try await connections(1)[0]
    let ended = await failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in try session.execute(sql) }
    }
    #expect(ended?.code == .invalidUse)
    let open = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in
        try session.execute("BEGIN")
        try session.execute("UPDATE shop SET n = 1")
      }
    }
    #expect(open?.code == .invalidUse)
    #expect(try await values(connection) == [0, 0])
  }

  @Test("a constraint that is violated at the commit rolls the transaction back, and the outcome is known")
  func deferred() async throws {
    let connection = try await connections(1)[0]
    try await connection.run { session throws(PostgreSQLError) in
      try session.script(
        "UPDATE shop SET n = id; ALTER TABLE shop ADD CONSTRAINT one UNIQUE (n) DEFERRABLE INITIALLY DEFERRED")
    }
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.transaction { session throws(PostgreSQLError) in try session.execute("UPDATE shop SET n = 1")
      }
    }
    #expect(failure?.code == .constraintViolated)
    #expect(failure?.action == .committing)
    #expect(failure?.constraint == "one")
    #expect(try await values(connection) == [1, 2])
  }

  @Test("one of two transactions that lock rows in opposite orders is run again, and both are stored")
  func deadlock() async throws {
    let connections = try await connections(2)
    // Each waits on its own thread until the other one has its first lock.
    let locked = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    let attempts = Locked(0)
    @Sendable func transfer(_ own: Int) async throws(PostgreSQLError) {
      let tries = Locked(0)
      try await connections[own].transaction { session throws(PostgreSQLError) in
        attempts.withLock { $0 += 1 }
        let isFirst = tries.withLock { tries in
          tries += 1
          return tries == 1
        }
        try session.execute("UPDATE shop SET n = n + 1 WHERE id = $1", [.int64(own == 0 ? 1 : 2)])
        if isFirst {
          locked[own].signal()
          #expect(locked[1 - own].wait(timeout: .now() + 120) == .success)
        }
        try session.execute("UPDATE shop SET n = n + 1 WHERE id = $1", [.int64(own == 0 ? 2 : 1)])
      }
    }
    async let first: Void = transfer(0)
    async let second: Void = transfer(1)
    _ = try await (first, second)
    #expect(try await values(connections[0]) == [2, 2])
    #expect(attempts.withLock { $0 } >= 3)
  }

  @Test("a transaction that conflicts at every attempt is given up after its last attempt, and stores nothing")
  func bounded() async throws {
    let connection = try await connections(1)[0]
    let attempts = Locked(0)
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in
        try session.transaction(attempts: 3) { session throws(PostgreSQLError) in
          attempts.withLock { $0 += 1 }
          try session.execute("UPDATE shop SET n = 1")
          try session.script("DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$")
        }
      }
    }
    #expect(failure?.code == .conflict)
    #expect(failure?.sqlState == "40001")
    #expect(attempts.withLock { $0 } == 3)
    #expect(try await values(connection) == [0, 0])
  }

  @Test("transactions that cannot be serialized are run again, so that none is lost")
  func serializable() async throws {
    let connections = try await connections(4)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for connection in connections {
        group.addTask {
          for _ in 0..<10 {
            try await connection.run { session throws(PostgreSQLError) in
              try session.transaction(.serializable, attempts: 1_000) { session throws(PostgreSQLError) in
                let n: Int64 = try session.rows("SELECT n FROM shop WHERE id = 1")[0].read("n")
                try session.execute("UPDATE shop SET n = $1 WHERE id = 1", [.int64(n + 1)])
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await values(connections[0]) == [40, 0])
  }
}
