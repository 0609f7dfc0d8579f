// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgreSQL
import PostgreSQLTestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "The columns of a ledger in PostgreSQL that a move copies",
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(5)))
struct MovedPostgreSQLColumnsTests {
  /// The tables that are about the database itself, and about the nodes that use it at this moment, and those of batches,
  /// which are files beside a ledger in SQLite.
  private static let unmoved: Set = [
    "batch_lists", "batch_results", "batches", "crier_migrations", "leases", "nodes", "provider_tokens",
  ]

  @Test("each column of the ledger in PostgreSQL is moved, or is one of the known columns that are made anew")
  func columns() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    try await Schema.migrations.apply(on: connection)
    let columns = try await connection.run { session throws(PostgreSQLError) in
      var columns: [String] = []
      for row in try session.rows(
        """
        SELECT relname || '.' || attname AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
          AND attnum > 0 AND NOT attisdropped
        """)
      { columns.append(try row.read("name")) }
      return columns
    }
    await connection.close()
    let moved = MovedTable.all.flatMap { table in
      table.columns.map { "\(PostgreSQLForm(table).name).\($0.name)" }
    }
    #expect(
      Set(columns.filter { !Self.unmoved.contains(String($0.prefix { $0 != "." })) }).subtracting(moved) == [
        // Positions of new events only have to be higher than the last one.
        "event_positions.base", "event_positions.only_row", "event_positions.pruned",
        // The requests are counted when all of them are there.
        "signed_request_counts.count", "signed_request_counts.key_id", "signed_request_counts.shard",
        "webhook_counts.shard",
      ])
    #expect(Set(moved).subtracting(columns) == [])
    let tables = Set(columns.compactMap { $0.split(separator: ".").first.map(String.init) })
    #expect(Set(PostgreSQLForm.tables) == tables.subtracting(Self.unmoved))
  }
}
