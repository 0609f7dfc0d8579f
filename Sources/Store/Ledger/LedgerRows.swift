// SPDX-License-Identifier: Apache-2.0

/// All rows of a ledger that no other process uses.
///
/// The functions throw the errors of the database, which the ledger that gave the rows converts.
package protocol LedgerRows: ~Copyable {
  /// Returns the number of rows of a table.
  func count(of table: MovedTable) throws -> Int

  /// Returns the rows after a key, in the order of the keys.
  ///
  /// - Parameters:
  ///   - key: The values of the key columns; empty to begin with the first row.
  ///   - limit: The maximum number of rows.
  /// - Returns: The values of each row, in the order of the table's columns.
  func rows(of table: MovedTable, after key: [MovedValue], limit: Int) throws -> [[MovedValue]]

  /// Returns the last number that was given out for a table with numbers; 0 if there was none.
  func lastNumber(of table: MovedTable) throws -> Int64
}

/// The rows of a new ledger, which are to be stored.
///
/// The rows of all tables are stored in the order of ``MovedTable/all``, then the last numbers, and then ``complete()``
/// is called. After that, the rows can be read.
package protocol NewLedgerRows: LedgerRows, ~Copyable {
  /// Stores rows.
  func insert(_ rows: [[MovedValue]], into table: MovedTable) throws

  /// Stores the last number that was given out for a table with numbers.
  func setLastNumber(_ number: Int64, of table: MovedTable) throws

  /// Completes the ledger after all rows were stored.
  func complete() throws
}
