// SPDX-License-Identifier: Apache-2.0

import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

@Suite("Pipelines", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(5)))
struct PipelineTests {
  private func connection(mostStatements: Int = 256) async throws -> PostgreSQLConnection {
    let connection = try await TemporaryDatabase().connect { $0.mostStatements = mostStatements }
    try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE shop (id bigint PRIMARY KEY DEFERRABLE)")
    }
    return connection
  }

  private func count(_ connection: PostgreSQLConnection) async throws -> Int64 {
    try await connection.run { session throws(PostgreSQLError) in
      try session.rows("SELECT count(*) AS n FROM shop")[0].read("n")
    }
  }

  @Test("the results of a pipeline come in the order of its statements", arguments: [256, 2, 0])
  func order(mostStatements: Int) async throws {
    let connection = try await connection(mostStatements: mostStatements)
    for _ in 0..<2 {
      let found = try await connection.run { session throws(PostgreSQLError) in
        let results = try session.pipeline { pipeline in
          for number in 0..<100 { pipeline.add("SELECT $1 AS n", [.int64(Int64(number))]) }
          pipeline.add("SELECT 'last' AS n")
        }
        #expect(try results[100][0].read("n") == "last")
        return try results.dropLast().map { rows throws(PostgreSQLError) in try rows[0].read("n", as: Int64.self) }
      }
      #expect(found == (0..<100).map(Int64.init))
    }
  }

  @Test("an empty pipeline sends nothing")
  func empty() async throws {
    let connection = try await connection()
    try await connection.run { session throws(PostgreSQLError) in #expect(try session.pipeline { _ in }.isEmpty) }
  }

  @Test("an error within a pipeline has the position of its statement, and no change of the pipeline is stored")
  func error() async throws {
    let connection = try await connection()
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in
        try session.pipeline { pipeline in
          for id in [1, 2, 2, 3] as [Int64] { pipeline.add("INSERT INTO shop VALUES ($1)", [.int64(id)]) }
        }
      }
    }
    #expect(failure?.code == .constraintViolated)
    #expect(failure?.statement == 3)
    #expect(failure?.constraint == "shop_pkey")
    #expect(try await count(connection) == 0)
  }

  @Test("a statement that could not be prepared, and the statements after it, are prepared at their next use")
  func preparing() async throws {
    let connection = try await connection()
    for table in ["missing", "shop"] {
      if table == "shop" {
        try await connection.run { session throws(PostgreSQLError) in
          try session.script("CREATE TABLE missing (id bigint)")
        }
      }
      let failure = await failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in
          try session.pipeline { pipeline in
            pipeline.add("SELECT * FROM shop")
            pipeline.add("SELECT * FROM missing")
            pipeline.add("SELECT 3")
            pipeline.add("SELECT 3")
          }
        }
      }
      #expect(failure?.statement == (table == "missing" ? 2 : nil))
      #expect(failure?.sqlState == (table == "missing" ? "42P01" : nil))
    }
  }

  @Test("the error for a parameter that cannot be sent has the position of its statement, and nothing is sent")
  func parameter() async throws {
    let connection = try await connection()
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in
        try session.pipeline { pipeline in
          pipeline.add("INSERT INTO shop VALUES ($1)", [1])
          pipeline.add("SELECT $1", [.string("a\0")])
        }
      }
    }
    #expect(failure?.code == .invalidParameter)
    #expect(failure?.statement == 2)
    #expect(try await count(connection) == 0)
  }

  @Test("if a constraint is violated at the end of a pipeline, nothing is stored, and the error names no statement")
  func deferred() async throws {
    let connection = try await connection()
    try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE late (id bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    }
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in
        try session.pipeline { pipeline in
          pipeline.add("INSERT INTO shop VALUES (1)")
          pipeline.add("INSERT INTO late VALUES (1)")
          pipeline.add("INSERT INTO late VALUES (1)")
        }
      }
    }
    #expect(failure?.code == .constraintViolated)
    #expect(failure?.statement == nil)
    #expect(try await count(connection) == 0)
    #expect(connection.state == .connected)
  }

  @Test("a pipeline within a transaction is committed or rolled back with the transaction")
  func transaction() async throws {
    let connection = try await connection()
    let work: @Sendable (Int64) -> @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Void = { last in
      { session throws(PostgreSQLError) in
        try session.transaction { session throws(PostgreSQLError) in
          try session.execute("INSERT INTO shop VALUES (1)")
          _ = try session.pipeline { pipeline in
            pipeline.add("INSERT INTO shop VALUES (2)")
            pipeline.add("INSERT INTO shop VALUES ($1)", [.int64(last)])
          }
        }
      }
    }
    #expect(await failure { () throws(PostgreSQLError) in try await connection.run(work(2)) }?.statement == 2)
    #expect(try await count(connection) == 0)
    try await connection.run(work(3))
    #expect(try await count(connection) == 3)
  }

  @Test("a pipeline does not block, even if it sends and receives more bytes than the sockets can hold")
  func large() async throws {
    let connection = try await connection()
    let text = String(repeating: "x", count: 100_000)
    let total = try await connection.run { session throws(PostgreSQLError) in
      let results = try session.pipeline { pipeline in
        for _ in 0..<200 { pipeline.add("SELECT $1 AS text", [.string(text)]) }
      }
      var total = 0
      for rows in results { total += try rows[0].read("text", as: String.self).utf8.count }
      return total
    }
    #expect(total == 200 * 100_000)
  }
}
