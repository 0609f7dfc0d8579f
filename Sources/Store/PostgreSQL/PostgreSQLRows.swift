// SPDX-License-Identifier: Apache-2.0

import CPQ

/// The rows that a statement returned, in their order.
///
/// The rows stay in the memory of libpq, and are read when they are asked for.
public struct PostgreSQLRows: Sendable, RandomAccessCollection {
  let storage: ResultStorage

  /// The number of rows that the statement inserted, updated, deleted or returned.
  public var affected: Int { storage.affected }

  public var startIndex: Int { 0 }
  public var endIndex: Int { storage.rows }

  public subscript(position: Int) -> PostgreSQLRow {
    // Not from outside: the position is the program's own, as with an array.
    precondition(0..<storage.rows ~= position, "The position is outside of the rows.")
    return PostgreSQLRow(storage: storage, row: position)
  }
}

/// A row of a result. Values are read by the names of their columns.
public struct PostgreSQLRow: Sendable {
  let storage: ResultStorage
  let row: Int

  /// Returns a value.
  ///
  /// - Parameters:
  ///   - column: The name of the column, as the result has it.
  ///   - type: `Int64`, `String`, `Data`, `Bool`, an array of one of these, or an optional of those. An array with NULL
  ///     needs a type such as `[Int64?]`.
  /// - Throws: ``PostgreSQLError`` with `noColumn`, `wrongType`, `nullValue` or `invalidData`, and with the column's name.
  public func read<Value: PostgreSQLReadable>(
    _ column: String, as type: Value.Type = Value.self
  ) throws(PostgreSQLError) -> Value {
    guard let index = storage.columns[column] else {
      throw PostgreSQLError(.noColumn, while: .readingResult, subject: column)
    }
    return try Value.read(from: PostgreSQLCell(storage: storage, row: row, index: index, column: column))
  }
}

/// A value in a result, which is not read yet.
public struct PostgreSQLCell: Sendable {
  let storage: ResultStorage
  let row: Int
  let index: Int32
  let column: String

  /// Whether the value is NULL.
  public var isNull: Bool { storage.isNull(row, index) }

  var type: UInt32 { storage.type(index) }

  func error(_ code: PostgreSQLError.Code) -> PostgreSQLError {
    PostgreSQLError(code, while: .readingResult, subject: column)
  }

  /// Returns the value's bytes in PostgreSQL's binary format, if its type is one of the given types.
  func bytes(_ types: Set<UInt32>) throws(PostgreSQLError) -> [UInt8] {
    guard types.contains(type), storage.isBinary(index) else { throw error(.wrongType) }
    guard !isNull else { throw error(.nullValue) }
    return storage.bytes(row, index)
  }
}

/// A result of libpq.
///
/// The class is safe, because nothing else has the pointer.
// The class is sendable, because nobody changes a result after libpq has returned it, and only `deinit` frees it ("Behavior
// in Threaded Programs" in the manual of PostgreSQL).
@safe final class ResultStorage: @unchecked Sendable {
  private let pointer: OpaquePointer
  let rows: Int
  let affected: Int
  /// The place of each column by its name. Of columns with the same name, the first one counts.
  let columns: [String: Int32]

  /// - Parameter pointer: A result, which this object frees.
  init(_ pointer: OpaquePointer) {
    unsafe self.pointer = unsafe pointer
    rows = Int(unsafe PQntuples(pointer))
    // Safe: libpq returns texts that live as long as the result.
    affected = unsafe PQcmdTuples(pointer).flatMap { unsafe Int(String(cString: $0)) } ?? 0
    var columns: [String: Int32] = [:]
    for index in 0..<(unsafe PQnfields(pointer)) {
      guard let name = unsafe PQfname(pointer, index).map({ unsafe String(cString: $0) }) else { continue }
      if columns[name] == nil { columns[name] = index }
    }
    self.columns = columns
  }

  deinit { unsafe PQclear(pointer) }

  // The callers take rows and columns from the result itself, so libpq never gets a number that is too large.
  func isNull(_ row: Int, _ column: Int32) -> Bool { unsafe PQgetisnull(pointer, Int32(clamping: row), column) == 1 }
  func type(_ column: Int32) -> UInt32 { unsafe PQftype(pointer, column) }
  func isBinary(_ column: Int32) -> Bool { unsafe PQfformat(pointer, column) == 1 }

  func bytes(_ row: Int, _ column: Int32) -> [UInt8] {
    let length = Int(unsafe PQgetlength(pointer, Int32(clamping: row), column))
    guard length > 0, let start = unsafe PQgetvalue(pointer, Int32(clamping: row), column) else { return [] }
    // Safe: libpq guarantees that this number of bytes begins at this address.
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: length))
  }
}
