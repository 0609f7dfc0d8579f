// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Ledger
package import PostgreSQL

/// All rows of a ledger, in a transaction.
extension PostgreSQLSession: NewLedgerRows {
  package func count(of table: MovedTable) throws -> Int {
    let count: Int64? = try value("SELECT count(*) AS value FROM \(PostgreSQLForm(table).source)")
    return Int(count ?? 0)
  }

  package func rows(of table: MovedTable, after key: [MovedValue], limit: Int) throws -> [[MovedValue]] {
    let form = PostgreSQLForm(table)
    let names = form.names
    let parameters = key.map(\.parameter) + [.int64(Int64(limit))]
    return try rows(form.reading(fromStart: key.isEmpty), parameters).map { row in
      try zip(names, table.columns).map { try MovedValue(row, $0, $1.kind) }
    }
  }

  package func lastNumber(of table: MovedTable) throws -> Int64 {
    switch (table.numbering, table.name) {
    case (.none, _): 0
    case (_, "events"): try value(PostgreSQLLedger.lastPositionOfAll) ?? 0
    case (.remembered, _):
      try value("SELECT pg_sequence_last_value(\(PostgreSQLForm(table).sequence)::regclass) AS value") ?? 0
    case (.highest, _): try value("SELECT max(number) AS value FROM \(table.name)") ?? 0
    }
  }

  package func insert(_ rows: [[MovedValue]], into table: MovedTable) throws {
    if table.isSeeded { try execute("DELETE FROM \(table.name)") }
    let columns = table.columns.enumerated().map { place, column in
      PostgreSQLValue(column: rows.map { $0[place] }, column.kind)
    }
    try execute(PostgreSQLForm(table).storing, columns)
  }

  package func setLastNumber(_ number: Int64, of table: MovedTable) throws {
    switch (table.numbering, table.name) {
    case (.none, _): break
    case (_, "events"):
      try execute("UPDATE event_positions SET pruned = $1", [.int64(number)])
      try execute(Schema.alignment, [.int64(number)])
    default:
      // A sequence that is set keeps its number also if the transaction is rolled back, unless it was restarted before.
      guard let sequence: String = try value("SELECT \(PostgreSQLForm(table).sequence) AS value") else { return }
      try execute("ALTER SEQUENCE \(sequence) RESTART")
      if number > 0 { try execute("SELECT setval($1::regclass, $2)", [.string(sequence), .int64(number)]) }
    }
  }

  package func complete() throws {
    try execute(
      """
      INSERT INTO signed_request_counts (key_id, shard, count)
      SELECT key_id, 0, count(*) FROM signed_requests GROUP BY key_id
      """)
    try execute("ALTER TABLE keys ENABLE TRIGGER USER")
    // Without statistics, PostgreSQL would choose slow plans until it has made them by itself.
    try execute("ANALYZE \(PostgreSQLForm.tables.joined(separator: ", "))")
  }
}

/// The form in which PostgreSQL stores a table that is moved.
struct PostgreSQLForm {
  let table: MovedTable

  init(_ table: MovedTable) { self.table = table }

  /// The tables of a ledger, apart from that of its migrations.
  static let tables =
    MovedTable.all.filter { $0.completed == nil || $0.name == "webhook_counts" }.map(\.name)
    + ["event_positions", "signed_request_counts"]

  /// The table that has the columns.
  var name: String { table.name == "webhook_counts" ? table.name : table.completed ?? table.name }

  var source: String {
    switch table.name {
    case "summarised": "announcements WHERE summarised_by IS NOT NULL"
    case "webhook_counts": Self.sums
    default: name
    }
  }

  /// The counts of each endpoint. Each count is the sum of its shards.
  private static let sums = """
    (SELECT number AS endpoint, coalesce(sum(waiting), 0)::bigint AS waiting,
       coalesce(sum(delivered), 0)::bigint AS delivered, coalesce(sum(failed), 0)::bigint AS failed,
       coalesce(sum(expired), 0)::bigint AS expired, coalesce(sum(missed), 0)::bigint AS missed
     FROM webhook_endpoints LEFT JOIN webhook_counts ON endpoint = number GROUP BY number) AS sums
    """

  /// The name of the sequence that gives out the numbers, as an expression.
  var sequence: String {
    "pg_get_serial_sequence('\(table.name)', '\(table.keyColumns.first?.name ?? "")')"
  }

  /// The names of the values in queries. The columns' own names may be words of SQL.
  var names: [String] { table.columns.indices.map { "v\($0)" } }

  /// The query for the rows after a key. Its parameters are the key and the limit. A query that begins with the first
  /// row has only the limit.
  func reading(fromStart: Bool) -> String {
    let values = zip(table.columns, names).map { "\($0.name)\($0.kind == .real ? "::text" : "") AS \($1)" }
    let key = table.keyColumns.map(\.name).joined(separator: ", ")
    let parameters = table.key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let word = table.name == "summarised" ? "AND" : "WHERE"
    return """
      SELECT \(values.joined(separator: ", ")) FROM \(source)
      \(fromStart ? "" : "\(word) (\(key)) > (\(parameters))") ORDER BY \(key)
      LIMIT $\(fromStart ? 1 : table.key.count + 1)
      """
  }

  /// The statement that stores rows. Its parameters are arrays with the values of the columns.
  var storing: String {
    let parameters = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let rows = "unnest(\(parameters)) AS moved (\(names.joined(separator: ", ")))"
    var columns = table.columns.map(\.name)
    var values = zip(table.columns, names).map { $0.kind == .real ? "\($1)::double precision" : $1 }
    if table.name == "webhook_counts" {
      columns.append("shard")
      values.append("0")
    } else if table.completed != nil {
      let changes = zip(columns, values).dropFirst().map { "\($0) = \($1)" }
      return "UPDATE \(name) SET \(changes.joined(separator: ", ")) FROM \(rows) WHERE \(name).\(columns[0]) = v0"
    }
    return """
      INSERT INTO \(name) (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM \(rows)
      """
  }
}

extension MovedValue {
  /// - Parameter name: The name of the value in the row.
  fileprivate init(_ row: PostgreSQLRow, _ name: String, _ kind: MovedTable.Kind) throws(PostgreSQLError) {
    self =
      switch kind {
      case .integer: try row.read(name, as: Int64?.self).map(Self.integer) ?? .null
      case .boolean: try row.read(name, as: Bool?.self).map { .integer($0 ? 1 : 0) } ?? .null
      // PostgreSQL writes as many digits as it takes to read the same number again.
      case .real: try row.read(name, as: String?.self).flatMap { Double($0) }.map(Self.real) ?? .null
      case .text, .remark: try row.read(name, as: String?.self).map(Self.text) ?? .null
      case .bytes: try row.read(name, as: Data?.self).map(Self.bytes) ?? .null
      }
  }

  fileprivate var parameter: PostgreSQLValue {
    switch self {
    case .integer(let number): .int64(number)
    case .text(let text): .string(text)
    case .bytes(let bytes): .bytes(bytes)
    case .null, .real, .unstorable: .null
    }
  }
}

extension PostgreSQLValue {
  /// - Parameter values: The values of a column.
  fileprivate init(column values: [MovedValue], _ kind: MovedTable.Kind) {
    switch kind {
    case .integer: self = .int64s(values.map { if case .integer(let number) = $0 { number } else { nil } })
    case .boolean: self = .bools(values.map { if case .integer(let number) = $0 { number != 0 } else { nil } })
    case .real: self = .strings(values.map { if case .real(let number) = $0 { "\(number)" } else { nil } })
    case .text, .remark: self = .strings(values.map { if case .text(let text) = $0 { text } else { nil } })
    case .bytes: self = .byteStrings(values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } })
    }
  }
}
