// SPDX-License-Identifier: Apache-2.0

/// The report of a move.
public struct LedgerMoveReport: Sendable, Hashable, Encodable {
  /// A table whose rows are the same on both sides.
  public struct Table: Sendable, Hashable, Encodable {
    /// The table's name.
    public let name: String
    public let rows: Int
    /// The SHA-256 digest of all rows in the order of their keys, as 64 hexadecimal digits. A ledger with the same rows
    /// has the same digest, in both kinds of databases.
    public let sha256: String
  }

  /// All tables, in the order in which they were copied.
  public let tables: [Table]

  /// The number of rows of all tables.
  public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
}
