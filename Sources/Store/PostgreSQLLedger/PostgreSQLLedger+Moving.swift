// SPDX-License-Identifier: Apache-2.0

import Ledger
package import PostgreSQL

// A ledger is moved in one transaction. It locks all tables first, so that nobody writes while it runs, and an
// interrupted move has stored nothing.
extension PostgreSQLLedger {
  /// Reads all rows of a ledger that no other process uses.
  ///
  /// - Parameter work: Reads the rows, all of which are of one moment.
  /// - Throws: The errors of the work; ``LedgerError``: `noLedger` if the database has no tables of a ledger, `inUse`
  ///   if a program of Crier is connected to it, `olderVersion` or `newerVersion` if its tables are not those of this
  ///   version, `unfinishedBatches` if a batch has not ended, because batches are not copied.
  package static func read<Value: Sendable>(
    at address: PostgreSQLAddress, _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws -> Value {
    try await withConnection(to: address) { connection in
      let applied = try await examine(connection, address.description)
      guard !applied.isEmpty else { throw LedgerError(.noLedger, while: .moving, on: address.description) }
      guard applied.count == Schema.migrations.migrations.count else {
        throw LedgerError(.olderVersion, while: .moving, on: address.description)
      }
      return try await transaction(on: connection, address.description) { session in
        let isUnfinished: Bool? = try session.value(
          "SELECT EXISTS (SELECT 1 FROM batches WHERE finished_at IS NULL) AS value")
        guard isUnfinished == false else {
          throw LedgerError(.unfinishedBatches, while: .moving, on: address.description)
        }
        return .rollBack(try work(session))
      }
    }
  }

  /// Fills a database that has no rows of a ledger. Missing tables are made. If the work throws, the database has no
  /// rows as before.
  ///
  /// - Parameter work: Stores the rows.
  /// - Throws: The errors of the work; ``LedgerError``: `notEmpty` if the database has rows of a ledger, `notALedger`
  ///   if it has tables of another program, `inUse` if a program of Crier is connected to it, `newerVersion` if its
  ///   tables are those of a newer version.
  package static func fill<Value: Sendable>(
    at address: PostgreSQLAddress, _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws -> Value {
    try await withConnection(to: address) { connection in
      _ = try await examine(connection, address.description)
      try await Schema.migrations.apply(on: connection)
      return try await transaction(on: connection, address.description) { session in
        let isFilled: Bool? = try session.value("SELECT \(anyRow) AS value")
        guard isFilled == false else { throw LedgerError(.notEmpty, while: .moving, on: address.description) }
        // The trigger would count each key by changing the same row. The count is moved instead.
        try session.execute("ALTER TABLE keys DISABLE TRIGGER USER")
        return .commit(try work(session))
      }
    }
  }

  /// The condition that a table has rows which no new ledger has.
  static let anyRow = MovedTable.all.filter { !$0.isSeeded && $0.completed == nil }
    .map { "EXISTS (SELECT 1 FROM \($0.name))" }.joined(separator: " OR ")

  private static func withConnection<Value: Sendable>(
    to address: PostgreSQLAddress, _ work: (PostgreSQLConnection) async throws -> Value
  ) async throws -> Value {
    do {
      var options = PostgreSQLConnection.Options()
      // A person waits for the first answer. The move itself has no such limit.
      options.timeLimit = .seconds(10)
      let connection = try PostgreSQLConnection(to: address, options: options)
      let result: Result<Value, any Error>
      do { result = .success(try await work(connection)) } catch { result = .failure(error) }
      await connection.close()
      return try result.get()
    } catch let error as PostgreSQLError {
      throw LedgerError(error, while: .moving, on: address.description)
    }
  }

  /// The contents of a database before anything in it is changed.
  private struct Look: Sendable {
    var isUTF8: Bool
    var tables: [String]
    /// The names of the migrations, in their order.
    var applied: [String]
  }

  /// Returns the names of the migrations that a database has, all of which this version knows. Nothing is changed.
  ///
  /// - Returns: An empty list for a database without tables.
  private static func examine(_ connection: PostgreSQLConnection, _ server: String) async throws -> [String] {
    let look = try await connection.run { session throws(PostgreSQLError) in
      var look = Look(isUTF8: try isUTF8(session), tables: [], applied: [])
      for row in try session.rows(ownTables) { look.tables.append(try row.read("name")) }
      guard look.tables.contains("crier_migrations") else { return look }
      for row in try session.rows("SELECT name FROM crier_migrations ORDER BY position") {
        look.applied.append(try row.read("name"))
      }
      return look
    }
    guard look.isUTF8 else { throw LedgerError(WrongEncoding(), while: .moving, on: server) }
    guard look.tables.isEmpty || look.tables.contains("crier_migrations") else {
      throw LedgerError(.notALedger, while: .moving, on: server, field: "it has tables, but not those of a ledger")
    }
    let known = Schema.migrations.migrations.map(\.name)
    guard zip(known, look.applied).allSatisfy(==) else {
      throw LedgerError(.notALedger, while: .moving, on: server, field: "its migrations are not those of a ledger")
    }
    guard look.applied.count <= known.count else {
      throw LedgerError(.newerVersion, while: .moving, on: server, field: look.applied[known.count])
    }
    return look.applied
  }

  /// The tables in the schema in which a ledger's tables are made, except the tables of extensions.
  private static let ownTables = """
    SELECT relname::text AS name FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT 1 FROM pg_depend
                      WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
    """

  /// Runs work in a transaction in which nobody else writes, while no other program of Crier is connected.
  private static func transaction<Value: Sendable>(
    on connection: PostgreSQLConnection, _ server: String,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> PostgreSQLDecision<Value>
  ) async throws -> Value {
    // The move ends when all rows are there, or when somebody stops it.
    let outcome = try await connection.run(within: .seconds(366 * 86_400)) { session throws(PostgreSQLError) in
      try session.decidedTransaction(.repeatableRead, attempts: 1) {
        session throws(PostgreSQLError) -> PostgreSQLDecision<Result<Value, WorkFailure>> in
        let decision = try result(
          of: { session in
            try takeAlone(session, server)
            return try work(session)
          }, session)
        return switch decision {
        case .success(.commit(let value)): .commit(.success(value))
        case .success(.rollBack(let value)): .rollBack(.success(value))
        case .failure(let failure): .rollBack(.failure(failure))
        }
      }
    }
    return try outcome.mapError(\.error).get()
  }

  /// Locks all tables against writing.
  private static func takeAlone(_ session: borrowing PostgreSQLSession, _ server: String) throws {
    // These statements look at no rows, so the transaction sees what was committed before it had the locks.
    try session.script(
      """
      SET LOCAL lock_timeout = '5s';
      SET LOCAL statement_timeout = 0;
      SET LOCAL idle_in_transaction_session_timeout = 0;
      SET LOCAL extra_float_digits = 1;
      """)
    do throws(PostgreSQLError) {
      try session.execute("LOCK TABLE \(PostgreSQLForm.tables.joined(separator: ", ")) IN EXCLUSIVE MODE")
    } catch {
      throw error.code == .locked ? LedgerError(.inUse, while: .moving, on: server) : error
    }
    // A session that has just ended is still listed for a moment.
    for _ in 0..<50 {
      let others: Int64? = try session.value(otherSessions)
      if others == 0 { return }
      try session.execute("SELECT pg_sleep(0.1)")
      try session.execute("SELECT pg_stat_clear_snapshot()")
    }
    throw LedgerError(.inUse, while: .moving, on: server)
  }

  /// The number of other sessions of this program in the database.
  private static let otherSessions = """
    SELECT count(*) AS value FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND application_name IN ('crier', current_setting('application_name'))
    """
}
