// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A row of a ledger. Its values are read by the names of their columns, which are the same in every ledger.
///
/// Reading throws an error for a value that the tables do not allow, because a damaged file must not end the process.
package protocol StoredRow {
  // Each function returns the value of a column; nil for NULL.
  func int64(_ column: String) throws -> Int64?
  func double(_ column: String) throws -> Double?
  func bool(_ column: String) throws -> Bool?
  func text(_ column: String) throws -> String?
  func bytes(_ column: String) throws -> Data?
}

extension StoredRow {
  /// Returns the value of a column.
  ///
  /// - Throws: ``UnreadableRow`` for NULL.
  package func value<Value: StoredValue>(_ column: String) throws -> Value {
    guard let value: Value = try optional(column) else { throw UnreadableRow() }
    return value
  }

  /// Returns the value of a column; nil for NULL.
  package func optional<Value: StoredValue>(_ column: String) throws -> Value? { try Value.read(column, of: self) }

  /// Returns the value whose name is in a column.
  ///
  /// - Throws: ``UnreadableRow`` for NULL, and for an unknown name.
  package func name<Value: RawRepresentable<String>>(_ column: String) throws -> Value {
    guard let value: Value = try optionalName(column) else { throw UnreadableRow() }
    return value
  }

  /// Returns the value whose name is in a column; nil for NULL.
  package func optionalName<Value: RawRepresentable<String>>(_ column: String) throws -> Value? {
    guard let text = try text(column) else { return nil }
    guard let value = Value(rawValue: text) else { throw UnreadableRow() }
    return value
  }

  /// Returns the words that ``Swift/Array/storedWords`` has joined in a column.
  func words(_ column: String) throws -> [String] { (try text(column) ?? "").split(separator: " ").map(String.init) }

  /// Returns the clip of an answer; nil when it has none.
  func clip() throws -> PublishedClip? {
    try text("clip").map { PublishedClip(name: $0, group: try text("clip_group")) }
  }

  func detail() throws -> [String: String] { try Ledger.detail(text("detail")) }
}

extension [String] {
  /// Words without spaces as one text; nil if there are none.
  package var storedWords: String? { isEmpty ? nil : joined(separator: " ") }
}

/// A type whose values are stored in columns.
package protocol StoredValue {
  /// Returns the value of a column; nil for NULL.
  static func read(_ column: String, of row: some StoredRow) throws -> Self?
}

extension Int64: StoredValue {
  package static func read(_ column: String, of row: some StoredRow) throws -> Int64? { try row.int64(column) }
}

extension Int: StoredValue {
  package static func read(_ column: String, of row: some StoredRow) throws -> Int? {
    guard let number = try row.int64(column) else { return nil }
    guard let value = Int(exactly: number) else { throw UnreadableRow() }
    return value
  }
}

extension Double: StoredValue {
  package static func read(_ column: String, of row: some StoredRow) throws -> Double? { try row.double(column) }
}

extension Bool: StoredValue {
  package static func read(_ column: String, of row: some StoredRow) throws -> Bool? { try row.bool(column) }
}

extension String: StoredValue {
  package static func read(_ column: String, of row: some StoredRow) throws -> String? { try row.text(column) }
}

extension Data: StoredValue {
  package static func read(_ column: String, of row: some StoredRow) throws -> Data? { try row.bytes(column) }
}

/// A date is stored in milliseconds since 1970.
extension Date: StoredValue {
  package static func read(_ column: String, of row: some StoredRow) throws -> Date? {
    try row.int64(column).map(Date.init(wholeMilliseconds:))
  }
}
