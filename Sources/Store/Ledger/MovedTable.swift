// SPDX-License-Identifier: Apache-2.0

/// A table that is copied when a ledger is moved to the other kind of database.
///
/// Both databases use these names of tables and columns, except a few names that the type of a ledger's rows replaces.
/// A column has the same value in both databases: a boolean of PostgreSQL is an integer in SQLite.
package struct MovedTable: Sendable {
  package enum Kind: Sendable {
    case integer, boolean, real, text, bytes
    /// A text from outside that only people read. PostgreSQL stores U+FFFD in place of a NUL.
    case remark
  }

  package struct Column: Sendable {
    package let name: String
    package let kind: Kind
  }

  /// How the numbers in the first column of the key are given out.
  package enum Numbering: Sendable {
    /// The rows have no numbers, or get them elsewhere.
    case none
    /// The database remembers the last number, so that no number is given out twice.
    case remembered
    /// The ledger in SQLite gives out the highest number in the table plus one.
    case highest
  }

  package let name: String
  package let columns: [Column]
  /// The places in ``columns`` of the columns whose values identify a row, in the order by which rows are sorted.
  package let key: [Int]
  package let numbering: Numbering
  /// The table whose rows this one completes; nil for a table with rows of its own. The first of ``columns`` identifies
  /// the row to be completed.
  package let completed: String?
  /// Whether a new ledger has a row of this table, which is replaced.
  package let isSeeded: Bool

  /// - Parameters: The names of columns, separated by spaces.
  init(
    _ name: String, key: String, _ numbering: Numbering = .none, integers: String = "", booleans: String = "",
    reals: String = "", texts: String = "", remarks: String = "", bytes: String = "",
    completes completed: String? = nil, isSeeded: Bool = false
  ) {
    self.name = name
    let kinds: [(names: String, kind: Kind)] = [
      (integers, .integer), (booleans, .boolean), (reals, .real), (texts, .text), (remarks, .remark), (bytes, .bytes),
    ]
    let columns = kinds.flatMap { names, kind in
      names.split(separator: " ").map { Column(name: String($0), kind: kind) }
    }
    self.columns = columns
    self.key = key.split(separator: " ").compactMap { name in columns.firstIndex { $0.name == name } }
    self.numbering = numbering
    self.completed = completed
    self.isSeeded = isSeeded
  }

  /// The number of rows to be read and written at once. A row with bytes can have more than a megabyte, and most have
  /// one or two kilobytes.
  package var rowsAtOnce: Int { columns.contains { $0.kind == .bytes } ? 100 : 1_000 }

  /// The columns of the key.
  package var keyColumns: [Column] { key.map { columns[$0] } }

  /// Returns the values of a row's key.
  package func key(of row: [MovedValue]) -> [MovedValue] { key.map { row[$0] } }
}
