// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Ledger
package import PostgreSQL

extension PostgreSQLRow: StoredRow {
  package func int64(_ column: String) throws -> Int64? { try read(column) }
  package func bool(_ column: String) throws -> Bool? { try read(column) }
  package func text(_ column: String) throws -> String? { try read(column) }
  package func bytes(_ column: String) throws -> Data? { try read(column) }

  /// Returns the value of a column that the statement has made a text, because the client has no type for it.
  package func double(_ column: String) throws -> Double? {
    guard let text = try text(column) else { return nil }
    guard let value = Double(text) else { throw UnreadableRow() }
    return value
  }
}

extension PostgreSQLSession {
  /// Returns the closure's result for each row of a statement.
  func all<Value>(
    _ sql: String, _ values: [PostgreSQLValue] = [], _ decode: (PostgreSQLRow) throws -> Value
  ) throws -> [Value] {
    try rows(sql, values).map(decode)
  }

  /// Returns the closure's result for the first row of a statement; nil if there is no row.
  func first<Value>(
    _ sql: String, _ values: [PostgreSQLValue] = [], _ decode: (PostgreSQLRow) throws -> Value
  ) throws -> Value? {
    try rows(sql, values).first.map(decode)
  }

  /// Returns the column `value` of the first row of a statement; nil if there is no row, or if it is NULL there.
  func value<Value: PostgreSQLReadable>(
    _ sql: String, _ values: [PostgreSQLValue] = [], as type: Value.Type = Value.self
  ) throws -> Value? {
    guard let row = try rows(sql, values).first else { return nil }
    return try row.read("value", as: Value?.self)
  }
}
