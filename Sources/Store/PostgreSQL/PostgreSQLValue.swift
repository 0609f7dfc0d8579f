// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A parameter of a statement, with its type.
///
/// Parameters are sent in PostgreSQL's binary format. It is exact, it needs no quoting in arrays, and bytes take half
/// of the room of their text. The type goes with each parameter, also with NULL, so PostgreSQL converts a value only
/// where the statement says so or where it is assigned to a column.
public enum PostgreSQLValue: Sendable, Hashable {
  /// A `bigint`; nil for NULL.
  case int64(Int64?)
  /// A `text`; nil for NULL.
  case string(String?)
  /// A `bytea`; nil for NULL.
  case bytes(Data?)
  /// A `boolean`; nil for NULL.
  case bool(Bool?)
  /// A `bigint[]`, for example for `unnest`.
  case int64s([Int64?])
  /// A `text[]`.
  case strings([String?])
  /// A `bytea[]`.
  case byteStrings([Data?])
  /// A `boolean[]`.
  case bools([Bool?])
  /// A NULL whose type PostgreSQL finds out from the statement.
  case null
}

extension PostgreSQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .int64(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
}

/// The numbers of PostgreSQL's types, which the file pg_type.dat of its sources lists. They never change.
enum TypeNumber {
  static let unknown: UInt32 = 0
  static let bool: UInt32 = 16
  static let bytea: UInt32 = 17
  static let int8: UInt32 = 20
  static let text: UInt32 = 25
  static let bools: UInt32 = 1000
  static let byteas: UInt32 = 1001
  static let texts: UInt32 = 1009
  static let int8s: UInt32 = 1016
}

extension PostgreSQLValue {
  var type: UInt32 {
    switch self {
    case .int64: TypeNumber.int8
    case .string: TypeNumber.text
    case .bytes: TypeNumber.bytea
    case .bool: TypeNumber.bool
    case .int64s: TypeNumber.int8s
    case .strings: TypeNumber.texts
    case .byteStrings: TypeNumber.byteas
    case .bools: TypeNumber.bools
    case .null: TypeNumber.unknown
    }
  }
}

/// The parameters of a statement, as the bytes that are sent.
struct EncodedValues {
  /// All bytes, one parameter after another. There is at least one, so that the array has an address.
  private(set) var bytes: [UInt8] = [0]
  /// The place of each parameter; nil for NULL.
  private(set) var places: [Range<Int>?] = []
  private(set) var types: [UInt32] = []

  /// The largest number of parameters of a statement in PostgreSQL's protocol.
  static let mostValues = 65_535
  /// The largest size of all parameters, in bytes. PostgreSQL refuses messages of a gibibyte.
  static let mostBytes = 1_000_000_000

  /// - Throws: ``PostgreSQLError`` with `invalidParameter`. The texts of its errors contain no value.
  init(_ values: [PostgreSQLValue]) throws(PostgreSQLError) {
    guard values.count <= Self.mostValues else { throw Self.refused("a statement has more than 65,535 parameters") }
    for (index, value) in values.enumerated() {
      let start = bytes.count
      let isNull = try !append(value, index)
      places.append(isNull ? nil : start..<bytes.count)
      types.append(value.type)
      try requireRoom()
    }
  }

  /// - Returns: False for NULL.
  private mutating func append(_ value: PostgreSQLValue, _ index: Int) throws(PostgreSQLError) -> Bool {
    switch value {
    case .null, .int64(nil), .string(nil), .bytes(nil), .bool(nil): return false
    case .int64(let value?): append(value)
    case .string(let value?): try append(value, index)
    case .bytes(let value?): bytes.append(contentsOf: value)
    case .bool(let value?): bytes.append(value ? 1 : 0)
    case .int64s(let values):
      bytes.reserveCapacity(bytes.count + 20 + 12 * values.count)
      try appendArray(values, of: TypeNumber.int8) { (bytes, value) throws(PostgreSQLError) in bytes.append(value) }
    case .strings(let values):
      try appendArray(values, of: TypeNumber.text) { (bytes, value) throws(PostgreSQLError) in
        try bytes.append(value, index)
      }
    case .byteStrings(let values):
      try appendArray(values, of: TypeNumber.bytea) { (bytes, value) throws(PostgreSQLError) in
        bytes.bytes.append(contentsOf: value)
      }
    case .bools(let values):
      try appendArray(values, of: TypeNumber.bool) { (bytes, value) throws(PostgreSQLError) in
        bytes.bytes.append(value ? 1 : 0)
      }
    }
    return true
  }

  private mutating func append(_ value: some FixedWidthInteger) {
    // Safe: the bytes are those of the number, which lives as long as the call.
    unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ text: String, _ index: Int) throws(PostgreSQLError) {
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    // PostgreSQL cannot store a NUL in a text, and the protocol would end the text at the NUL.
    guard !bytes[start...].contains(0) else { throw Self.refused("parameter \(index + 1) is a text with a NUL") }
  }

  /// Appends an array of one dimension. Its elements are numbered from 1.
  private mutating func appendArray<Element>(
    _ elements: [Element?], of type: UInt32,
    _ append: (inout EncodedValues, Element) throws(PostgreSQLError) -> Void
  ) throws(PostgreSQLError) {
    self.append(Int32(elements.isEmpty ? 0 : 1))
    self.append(Int32(elements.contains { $0 == nil } ? 1 : 0))
    self.append(type)
    guard !elements.isEmpty else { return }
    self.append(Int32(clamping: elements.count))
    self.append(Int32(1))
    for element in elements {
      guard let element else {
        self.append(Int32(-1))
        continue
      }
      let place = bytes.count
      self.append(Int32(0))
      try append(&self, element)
      let length = bytes.count - place - 4
      try requireRoom()
      for (offset, shift) in [24, 16, 8, 0].enumerated() {
        bytes[place + offset] = UInt8(truncatingIfNeeded: length >> shift)
      }
    }
  }

  private func requireRoom() throws(PostgreSQLError) {
    guard bytes.count <= Self.mostBytes else {
      throw Self.refused("the parameters have more than 1,000,000,000 bytes")
    }
  }

  private static func refused(_ cause: String) -> PostgreSQLError {
    PostgreSQLError(.invalidParameter, while: .runningStatement, subject: cause)
  }
}
