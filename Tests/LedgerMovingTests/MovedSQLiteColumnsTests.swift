// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerTestSupport
import Testing

@testable import SQLiteLedger

@Suite("The columns of a ledger in SQLite that a move copies")
struct MovedSQLiteColumnsTests {
  @Test("each column of the ledger in SQLite is moved, or is one of the known columns that are made anew")
  func columns() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ledger-moving-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "ledger.sqlite")
    _ = try SQLiteLedger(at: file)
    let queue = try DatabaseQueue(waitingFor: file)
    defer { try? queue.close() }
    let columns = try await queue.read { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT tables.name || '.' || columns.name
          FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
          WHERE tables.type = 'table'
          """)
    }
    let moved = MovedTable.all.flatMap { table in
      table.columns.indices.map { "\(SQLiteForm(table).name).\(SQLiteForm(table).column($0))" }
    }
    #expect(
      Set(columns).subtracting(moved) == [
        "grdb_migrations.identifier",
        // The last numbers are moved separately.
        "sqlite_sequence.name", "sqlite_sequence.seq",
        // The number is the place in the order in which the requests of a key are forgotten.
        "signed_requests.number",
      ])
    #expect(Set(moved).subtracting(columns) == ["answers.rowid", "keys.rowid"])
  }

  @Test("each number that the ledger in SQLite remembers is moved")
  func numbers() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ledger-moving-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "ledger.sqlite")
    _ = try SQLiteLedger(at: file)
    let queue = try DatabaseQueue(waitingFor: file)
    defer { try? queue.close() }
    let tables = try queue.read {
      try String.fetchSet($0, sql: "SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'")
    }
    #expect(Set(MovedTable.all.filter { $0.numbering == .remembered }.map(\.name)) == tables)
  }

  @Test("each moved table has a key of its own columns")
  func keys() {
    for table in MovedTable.all {
      #expect(!table.key.isEmpty && Set(table.columns.map(\.name)).count == table.columns.count, "\(table.name)")
    }
    #expect(Set(MovedTable.all.map(\.name)).count == MovedTable.all.count)
  }
}
