// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Ledger

/// All rows of a ledger's file, during one access to the database.
package struct SQLiteRows: NewLedgerRows {
  let database: Database

  package func count(of table: MovedTable) throws -> Int {
    try Int.fetchOne(database, sql: "SELECT count(*) FROM \(SQLiteForm(table).source)") ?? 0
  }

  package func rows(of table: MovedTable, after key: [MovedValue], limit: Int) throws -> [[MovedValue]] {
    let statement = try database.cachedStatement(sql: SQLiteForm(table).reading(fromStart: key.isEmpty))
    return try statement.all(StatementArguments(key.map(\.stored) + [limit.databaseValue])) { row in
      try table.columns.enumerated().map { try MovedValue(row[$0], $1.kind) }
    }
  }

  package func lastNumber(of table: MovedTable) throws -> Int64 {
    switch table.numbering {
    case .none: 0
    case .remembered:
      try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table.name]) ?? 0
    case .highest: try Int64.fetchOne(database, sql: "SELECT max(rowid) FROM \(table.name)") ?? 0
    }
  }

  package func insert(_ rows: [[MovedValue]], into table: MovedTable) throws {
    if table.isSeeded { try database.execute(sql: "DELETE FROM \(table.name)") }
    let statement = try database.cachedStatement(sql: SQLiteForm(table).storing)
    for row in rows { try statement.execute(arguments: StatementArguments(row.map(\.stored))) }
  }

  package func setLastNumber(_ number: Int64, of table: MovedTable) throws {
    // SQLite makes the row when the table gets its first number.
    guard table.numbering == .remembered, number > 0 else { return }
    try database.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [table.name])
    try database.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table.name, number])
  }

  package func complete() throws {
    // The rows were stored without this check, because each of them would have to be looked up.
    guard try Row.fetchOne(database, sql: "PRAGMA foreign_key_check") == nil else { throw UnreadableRow() }
    try database.commit()
  }
}

/// The form in which SQLite stores a table that is moved.
struct SQLiteForm {
  let table: MovedTable

  init(_ table: MovedTable) { self.table = table }

  /// The table that has the columns.
  var name: String { table.completed ?? table.name }

  /// Returns the name of a column, numbered as in the table.
  func column(_ place: Int) -> String {
    let name = table.columns[place].name
    return switch (table.name, name) {
    case ("answers", "number"), ("keys", "number"): "rowid"
    case ("webhook_counts", "endpoint"): "number"
    default: name
    }
  }

  private var columns: [String] { table.columns.indices.map(column) }

  private var condition: String? { table.name == "summarised" ? "summarised_by IS NOT NULL" : nil }

  var source: String { name + (condition.map { " WHERE \($0)" } ?? "") }

  /// The query for the rows after a key. Its parameters are the key and the limit. A query that begins with the first
  /// row has only the limit.
  func reading(fromStart: Bool) -> String {
    // SQLite returns the bytes of a text unchanged only if the query does not ask for a text.
    let values = table.columns.indices.map { place in
      [.text, .remark].contains(table.columns[place].kind) ? "CAST(\(column(place)) AS BLOB)" : column(place)
    }
    let key = table.key.map(column).joined(separator: ", ")
    let parameters = table.key.map { _ in "?" }.joined(separator: ", ")
    let conditions = [condition, fromStart ? nil : "(\(key)) > (\(parameters))"].compactMap(\.self)
    return """
      SELECT \(values.joined(separator: ", ")) FROM \(name)
      \(conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))") ORDER BY \(key) LIMIT ?
      """
  }

  /// The statement that stores a row. Its parameters are the values.
  var storing: String {
    let places = table.columns.indices
    if table.completed != nil {
      let changes = places.dropFirst().map { "\(column($0)) = ?\($0 + 1)" }
      return "UPDATE \(name) SET \(changes.joined(separator: ", ")) WHERE \(column(0)) = ?1"
    }
    var (names, values) = (columns, places.map { "?\($0 + 1)" })
    if table.name == "signed_requests", let key = table.columns.firstIndex(where: { $0.name == "key_id" }) {
      names.append("number")
      values.append("(SELECT coalesce(max(number), 0) + 1 FROM signed_requests WHERE key_id = ?\(key + 1))")
    }
    return "INSERT INTO \(name) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
  }
}

extension MovedValue {
  fileprivate init(_ value: DatabaseValue, _ kind: MovedTable.Kind) throws {
    switch (kind, value.storage) {
    case (_, .null): self = .null
    case (.integer, .int64(let number)), (.boolean, .int64(let number)): self = .integer(number)
    case (.real, .double(let number)): self = .real(number)
    case (.bytes, .blob(let bytes)): self = .bytes(bytes)
    case (.text, .blob(let bytes)), (.remark, .blob(let bytes)):
      guard let text = String(validating: bytes, as: UTF8.self), kind == .remark || !text.hasZero else {
        self = .unstorable
        return
      }
      self = .text(text.hasZero ? text.replacing("\0", with: "\u{FFFD}") : text)
    default: throw UnreadableRow()
    }
  }

  fileprivate var stored: DatabaseValue {
    switch self {
    case .null, .unstorable: .null
    case .integer(let number): number.databaseValue
    case .real(let number): number.databaseValue
    case .text(let text): text.databaseValue
    case .bytes(let bytes): bytes.databaseValue
    }
  }
}
