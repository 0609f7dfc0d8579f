// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQL

extension PostgreSQLRow {
  func int(_ column: String) throws -> Int {
    let number: Int64 = try read(column)
    guard let value = Int(exactly: number) else { throw UnreadableRow() }
    return value
  }

  func optionalInt(_ column: String) throws -> Int? {
    let number: Int64? = try read(column)
    return try number.map { number in
      guard let value = Int(exactly: number) else { throw UnreadableRow() }
      return value
    }
  }

  func name<Value: RawRepresentable<String>>(_ column: String) throws -> Value {
    guard let value = Value(rawValue: try read(column)) else { throw UnreadableRow() }
    return value
  }

  func optionalName<Value: RawRepresentable<String>>(_ column: String) throws -> Value? {
    let text: String? = try read(column)
    return text == nil ? nil : try name(column)
  }

  func date(_ column: String) throws -> Date { Date(wholeMilliseconds: try read(column)) }

  func optionalDate(_ column: String) throws -> Date? {
    let milliseconds: Int64? = try read(column)
    return milliseconds.map(Date.init(wholeMilliseconds:))
  }

  /// Returns the clip of an answer; nil when it has none.
  func clip() throws -> PublishedClip? {
    let name: String? = try read("clip")
    return try name.map { PublishedClip(name: $0, group: try read("clip_group")) }
  }

  func detail() throws -> [String: String] { try Ledger.detail(try read("detail")) }
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
