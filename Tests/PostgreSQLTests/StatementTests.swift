// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

@Suite(
  "Statements", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(5)))
struct StatementTests {
  @Test("a value of each type is read back as it was sent")
  func values() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await connection.run { session throws(PostgreSQLError) in
      let bytes = Data((0...255).map { UInt8($0) })
      let row = try session.rows(
        """
        SELECT $1 AS low, $2 AS high, $3 AS text, $4 AS empty, $5 AS bytes, $6 AS none, $7 AS yes, $8 AS no,
          $9 AS int64s, $10 AS strings, $11 AS byte_strings, $12 AS bools, $13 AS nothing
        """,
        [
          .int64(.min), .int64(.max), .string("“$1” \\ '漢字 🎉\n"), "", .bytes(bytes), .bytes(Data()), true, false,
          .int64s([.min, nil, 0, .max]), .strings(["", nil, "NULL", "{\"a\",b}", "€"]),
          .byteStrings([bytes, nil, Data()]), .bools([true, nil, false]), .int64s([]),
        ])[0]
      #expect(try row.read("low") == Int64.min)
      #expect(try row.read("high") == Int64.max)
      #expect(try row.read("text") == "“$1” \\ '漢字 🎉\n")
      #expect(try row.read("empty") == "")
      #expect(try row.read("bytes") == bytes)
      #expect(try row.read("none") == Data())
      #expect(try row.read("yes") == true)
      #expect(try row.read("no") == false)
      #expect(try row.read("int64s") == [Int64.min, nil, 0, .max])
      #expect(try row.read("strings") == ["", nil, "NULL", "{\"a\",b}", "€"])
      #expect(try row.read("byte_strings") == [bytes, nil, Data()])
      #expect(try row.read("bools") == [true, nil, false])
      #expect(try row.read("nothing") == [Int64]())
    }
  }

  @Test("NULL is read as nil, and is an error for a type that is not optional")
  func null() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await connection.run { session throws(PostgreSQLError) in
      let row = try session.rows(
        "SELECT $1 AS a, $2 AS b, $3 AS c, $4 AS d, $5::bigint AS e, $6 AS f",
        [.int64(nil), .string(nil), .bytes(nil), .bool(nil), nil, .int64s([1, nil])])[0]
      #expect(try row.read("a") == Int64?.none)
      #expect(try row.read("b") == String?.none)
      #expect(try row.read("c") == Data?.none)
      #expect(try row.read("d") == Bool?.none)
      #expect(try row.read("e") == Int64?.none)
      func error(_ column: String) -> PostgreSQLError {
        PostgreSQLError(.nullValue, while: .readingResult, subject: column)
      }
      #expect(throws: error("a")) { try row.read("a", as: Int64.self) }
      #expect(throws: error("b")) { try row.read("b", as: String.self) }
      #expect(throws: error("c")) { try row.read("c", as: Data.self) }
      #expect(throws: error("d")) { try row.read("d", as: Bool.self) }
      // Neither an array without a place for NULL, nor an optional one, loses an element.
      #expect(throws: error("f")) { try row.read("f", as: [Int64].self) }
      #expect(throws: error("f")) { try row.read("f", as: [Int64]?.self) }
    }
  }

  @Test("a column with another name or type than requested is an error, even if its value is NULL")
  func types() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await connection.run { session throws(PostgreSQLError) in
      let row = try session.rows(
        """
        SELECT 1::bigint AS number, 'a'::text AS text, 1.5::numeric AS numeric, 1.5::float8 AS float, now() AS time,
          NULL::text AS none, '{1}'::bigint[] AS list, '{{1,2},{3,4}}'::bigint[] AS table, true AS truth
        """)[0]
      func code<Value: PostgreSQLReadable>(_ column: String, _ type: Value.Type) -> PostgreSQLError.Code? {
        do {
          _ = try row.read(column, as: type)
          return nil
        } catch {
          return error.code
        }
      }
      #expect(code("number", String.self) == .wrongType)
      #expect(code("number", Bool.self) == .wrongType)
      #expect(code("number", [Int64].self) == .wrongType)
      #expect(code("text", Int64.self) == .wrongType)
      #expect(code("text", Data.self) == .wrongType)
      #expect(code("numeric", Int64.self) == .wrongType)
      #expect(code("numeric", String.self) == .wrongType)
      #expect(code("float", Int64.self) == .wrongType)
      #expect(code("time", String.self) == .wrongType)
      #expect(code("none", Int64?.self) == .wrongType)
      #expect(code("list", Int64.self) == .wrongType)
      #expect(code("list", [String].self) == .wrongType)
      #expect(code("table", [Int64].self) == .invalidData)
      #expect(code("truth", Int64.self) == .wrongType)
      #expect(code("absent", Int64?.self) == .noColumn)
    }
  }

  @Test("numbers of smaller and of unsigned types are read too")
  func numbers() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await connection.run { session throws(PostgreSQLError) in
      let row = try session.rows(
        """
        SELECT (-2)::smallint AS a, (-2)::int AS b, 4294967295::oid AS c, pg_current_xact_id() AS d,
          pg_snapshot_xmin(pg_current_snapshot()) AS e, '{-1,2}'::int[] AS f, '{-1,2}'::smallint[] AS g
        """)[0]
      #expect(try row.read("a", as: Int64.self) == -2)
      #expect(try row.read("b", as: Int64.self) == -2)
      #expect(try row.read("c", as: Int64.self) == 4_294_967_295)
      #expect(try row.read("d", as: Int64.self) > 0)
      #expect(try row.read("e", as: Int64.self) > 0)
      #expect(try row.read("f", as: [Int64].self) == [-1, 2])
      #expect(try row.read("g", as: [Int64].self) == [-1, 2])
    }
  }

  @Test("100,000 rows are stored with unnest and read back, and the number of changed rows is returned")
  func big() async throws {
    let connection = try await TemporaryDatabase().connect()
    let numbers = (0..<100_000).map { Int64($0) * 1_000_003 }
    let texts = numbers.map { $0 % 7 == 0 ? nil : "text \($0)" }
    let found = try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE big (number bigint PRIMARY KEY, text text)")
      let stored = try session.execute(
        "INSERT INTO big SELECT * FROM unnest($1, $2)", [.int64s(numbers), .strings(texts)])
      #expect(stored == 100_000)
      let again = try session.rows(
        "INSERT INTO big SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING RETURNING number",
        [.int64s(numbers + [-1]), .strings(texts + ["new"])])
      #expect(try again.map { row throws(PostgreSQLError) in try row.read("number", as: Int64.self) } == [-1])
      #expect(again.affected == 1)
      let rows = try session.rows("SELECT number, text FROM big WHERE number >= 0 ORDER BY number")
      #expect(rows.count == 100_000)
      let all = try session.rows("SELECT array_agg(text ORDER BY number) AS texts FROM big WHERE number >= 0")
      #expect(try all[0].read("texts") == texts)
      var sum: Int64 = 0
      for row in rows { sum += try row.read("number") }
      return sum
    }
    #expect(found == numbers.reduce(0, +))
  }

  @Test("a text with a NUL is refused before anything is sent, and the connection stays usable")
  func nul() async throws {
    let connection = try await TemporaryDatabase().connect()
    let failures = await [
      failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in try session.rows("SELECT $1", [.string("a\0b")]) }
      },
      failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in try session.rows("SELECT 1\0, 2") }
      },
      failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in try session.script("SELECT 1;\0") }
      },
    ]
    #expect(failures.map(\.?.code) == [.invalidParameter, .invalidParameter, .invalidParameter])
    try await connection.run { session throws(PostgreSQLError) in #expect(try session.rows("SELECT 1").count == 1) }
  }

  @Test(
    "the error for a refused statement has the code of its SQLSTATE, and contains no value",
    arguments: [
      ("INSERT INTO shop VALUES ($1)", .int64(1), .constraintViolated, "23505"),
      ("INSERT INTO shop VALUES ($1)", .int64(nil), .constraintViolated, "23502"),
      ("INSERT INTO shop VALUES ($1)", .int64(-77_777), .constraintViolated, "23514"),
      ("SELECT $1::int", .int64(77_777_777_777), .invalidValue, "22003"),
      ("SELECT $1::bigint", .string("hunter77777"), .invalidValue, "22P02"),
      ("SELEC $1", .string("hunter77777"), .invalidStatement, "42601"),
      ("SELECT $1 FROM no_table", .string("hunter77777"), .invalidStatement, "42P01"),
      ("SELECT $1; SELECT 2", .string("hunter77777"), .invalidStatement, "42601"),
      ("SELECT $2", .string("hunter77777"), .invalidStatement, "08P01"),
    ] as [(String, PostgreSQLValue, PostgreSQLError.Code, String)])
  func refused(sql: String, value: PostgreSQLValue, code: PostgreSQLError.Code, sqlState: String) async throws {
    let connection = try await TemporaryDatabase().connect()
    try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE shop (id bigint PRIMARY KEY CHECK (id > 0)); INSERT INTO shop VALUES (1)")
    }
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in try session.execute(sql, [value]) }
    }
    #expect(failure?.code == code)
    #expect(failure?.sqlState == sqlState)
    #expect(failure?.description.contains("77777") == false)
    if sqlState == "23505" { #expect(failure?.constraint == "shop_pkey") }
    #expect(connection.state == .connected)
  }

  @Test("a statement that copies data, and an empty one, are refused")
  func copies() async throws {
    let connection = try await TemporaryDatabase().connect()
    for sql in ["COPY pg_class TO STDOUT", "COPY pg_class FROM STDIN", ""] {
      #expect(
        await failure { () throws(PostgreSQLError) in
          try await connection.run { session throws(PostgreSQLError) in try session.execute(sql) }
        } != nil)
    }
    #expect(
      await failure { () throws(PostgreSQLError) in
        try await connection.run { session throws(PostgreSQLError) in try session.script("COPY pg_class FROM STDIN") }
      } != nil)
    try await connection.run { session throws(PostgreSQLError) in #expect(try session.rows("SELECT 1").count == 1) }
  }

  @Test("a statement is prepared once for each combination of parameter types, up to a limit of prepared statements")
  func prepared() async throws {
    let connection = try await TemporaryDatabase().connect { $0.mostStatements = 4 }
    func count() async throws -> Int64 {
      try await connection.run { session throws(PostgreSQLError) in
        try session.rows("SELECT count(*) AS n FROM pg_prepared_statements")[0].read("n")
      }
    }
    try await connection.run { session throws(PostgreSQLError) in
      for number in 0..<10 { try session.execute("SELECT $1 IS NULL", [.int64(Int64(number))]) }
      for _ in 0..<10 { try session.execute("SELECT $1 IS NULL", [.string("a")]) }
    }
    // The third one is the statement that counts.
    #expect(try await count() == 3)
    try await connection.run { session throws(PostgreSQLError) in
      for number in 0..<20 { #expect(try session.rows("SELECT \(number) AS n").count == 1) }
      let most: Int64 = try session.rows("SELECT count(*) AS n FROM pg_prepared_statements")[0].read("n")
      #expect(most == 4)
    }
    // The statements were forgotten after the work, because there was no room for all of them.
    #expect(try await count() == 1)
  }

  @Test("a statement whose table has changed since it was prepared works again after one error")
  func stale() async throws {
    let connection = try await TemporaryDatabase().connect()
    try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE shop (id bigint)")
      try session.execute("SELECT * FROM shop")
      try session.script("ALTER TABLE shop ADD COLUMN name text")
    }
    let work: @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Int = {
      session throws(PostgreSQLError) in
      try session.execute("SELECT * FROM shop")
    }
    let failure = await failure { () throws(PostgreSQLError) in try await connection.run(work) }
    #expect(failure?.code == .invalidStatement)
    #expect(failure?.sqlState == "0A000")
    #expect(try await connection.run(work) == 0)
  }

  @Test("a script runs several statements, and stores none of them if one fails")
  func script() async throws {
    let connection = try await TemporaryDatabase().connect()
    let failure = await failure { () throws(PostgreSQLError) in
      try await connection.run { session throws(PostgreSQLError) in
        try session.script("CREATE TABLE a (id bigint); SELECT 1/0; CREATE TABLE b (id bigint)")
      }
    }
    #expect(failure?.sqlState == "22012")
    try await connection.run { session throws(PostgreSQLError) in
      try session.script("CREATE TABLE a (id bigint); CREATE TABLE b (id bigint); INSERT INTO a VALUES (1), (2)")
      #expect(try session.rows("SELECT * FROM a").count == 2)
    }
  }
}
