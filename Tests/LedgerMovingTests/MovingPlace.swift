// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerMoving
import LedgerTestSupport
import PostgreSQL
import PostgreSQLLedger
import PostgreSQLTestSupport
import SQLiteLedger
import TestSupport

/// A home folder and an empty database between which a test moves a ledger.
final class MovingPlace: Sendable {
  let folder: URL
  /// The file of the ledger that is moved.
  let file: URL
  /// The place of the file of a ledger that was moved back.
  let copy: URL
  let clock = SetClock()
  let database: TemporaryDatabase

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "ledger-moving-\(UUID().uuidString)")
    file = folder.appending(path: "home/ledger.sqlite")
    copy = folder.appending(path: "copy/ledger.sqlite")
    database = try await TemporaryDatabase()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var address: PostgreSQLAddress { database.address }

  /// Opens the ledger in a file for a while, and returns when the file is closed.
  func using(_ file: URL, _ work: (any Ledger.Store) async throws -> Void) async throws {
    try await work(try SQLiteLedger(at: file, now: { [clock] in clock.now }))
    try await eventually("the ledger is closed") { !FileManager.default.fileExists(atPath: file.path + "-wal") }
  }

  /// Opens the ledger in the database for a while, and returns when all connections are closed.
  func usingDatabase(_ work: (any Ledger.Store) async throws -> Void) async throws {
    var options = PostgreSQLLedger.Options()
    (options.connections, options.connectionsForLongReads) = (3, 1)
    options.connection.timeLimit = .seconds(120)
    // The transactions of other tests count too.
    options.patienceForOrder = .seconds(120)
    let ledger = try await PostgreSQLLedger(
      address: address, home: folder.appending(path: "node"), options: options, now: { [clock] in clock.now })
    let result: Result<Void, any Error>
    do { result = .success(try await work(ledger)) } catch { result = .failure(error) }
    await ledger.close()
    try result.get()
  }

  /// Makes a ledger with at least one row in each table.
  func fill() async throws {
    try await using(file) { try await fillEachTable(of: $0, clock) }
  }

  /// Runs statements in a closed file, as another program would.
  func change(_ file: URL, _ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
    let queue = try DatabaseQueue(waitingFor: file)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql, arguments: arguments) }
    try queue.close()
  }

  /// Runs statements in the database.
  func change(_ sql: String) async throws {
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in try session.script(sql) }
    await connection.close()
  }

  /// Returns the number of rows of all tables of the database that a new ledger does not have.
  func rowsInDatabase() async throws -> Int64 {
    let connection = try database.connect()
    let count: Int64 = try await connection.run { session throws(PostgreSQLError) in
      var count: Int64 = 0
      for row in try session.rows(
        """
        SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200
          AND relname NOT IN ('crier_migrations', 'event_positions', 'key_changes', 'library_feed')
        """)
      {
        let name: String = try row.read("name")
        count += try session.rows("SELECT count(*) AS n FROM \(name)")[0].read("n", as: Int64.self)
      }
      return count
    }
    await connection.close()
    return count
  }

  /// The names of the files beside the place of the copy.
  var filesOfCopy: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: copy.deletingLastPathComponent().path)) ?? []).sorted()
  }
}

/// Returns all rows of all tables of a file with their hidden numbers, by the tables' names. Each value is as SQLite
/// shows it, so that its type and its bytes count.
func dump(_ file: URL, without columns: Set<String> = []) throws -> [String: [String]] {
  let queue = try DatabaseQueue(waitingFor: file)
  defer { try? queue.close() }
  return try queue.read { database in
    var rows: [String: [String]] = [:]
    for table in try Row.fetchAll(database, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table'") {
      let name: String = table["name"]
      let hasRowNumbers = !((table["sql"] as String?)?.contains("WITHOUT ROWID") ?? false)
      var values = try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name])
        .filter { !columns.contains("\(name).\($0)") }
        .map { "typeof(\($0)) || ' ' || hex(\($0))" }
      if hasRowNumbers, name != "sqlite_sequence", name != "grdb_migrations" { values.append("rowid") }
      let value = values.joined(separator: " || ', ' || ")
      rows[name] = try String.fetchAll(database, sql: "SELECT \(value) AS value FROM \(name)").sorted()
    }
    return rows
  }
}

/// Returns the error of a move.
func failure(of move: LedgerMove) async -> LedgerError? {
  do {
    _ = try await move.run()
    return nil
  } catch {
    return error as? LedgerError
  }
}
