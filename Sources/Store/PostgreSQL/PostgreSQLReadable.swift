// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A type whose values can be read from a result.
public protocol PostgreSQLReadable {
  /// Returns the value of a cell.
  ///
  /// - Throws: ``PostgreSQLError`` with `wrongType`, `nullValue` or `invalidData`.
  static func read(from cell: PostgreSQLCell) throws(PostgreSQLError) -> Self
}

/// A type that can also be an element of an array.
public protocol PostgreSQLElement: PostgreSQLReadable {
  /// The numbers of the types of PostgreSQL that are read as this type.
  static var types: Set<UInt32> { get }
  /// The numbers of the types of PostgreSQL for arrays of these values.
  static var arrayTypes: Set<UInt32> { get }
  /// Returns the value of bytes in PostgreSQL's binary format; nil if they are not a value of the type.
  static func value(of bytes: ArraySlice<UInt8>, type: UInt32) -> Self?
}

extension PostgreSQLElement {
  public static func read(from cell: PostgreSQLCell) throws(PostgreSQLError) -> Self {
    let bytes = try cell.bytes(types)
    guard let value = value(of: bytes[...], type: cell.type) else { throw cell.error(.invalidData) }
    return value
  }
}

extension Int64: PostgreSQLElement {
  // int8, int2, int4, oid, xid, xid8.
  public static let types: Set<UInt32> = [20, 21, 23, 26, 28, 5069]
  // int8[], int2[], int4[].
  public static let arrayTypes: Set<UInt32> = [1016, 1005, 1007]

  public static func value(of bytes: ArraySlice<UInt8>, type: UInt32) -> Int64? {
    let length =
      switch type {
      case 21, 1005: 2
      case 23, 26, 28, 1007: 4
      default: 8
      }
    guard bytes.count == length else { return nil }
    let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return switch type {
    case 21, 1005: Int64(Int16(truncatingIfNeeded: bits))
    case 23, 1007: Int64(Int32(truncatingIfNeeded: bits))
    // These types have no sign. PostgreSQL counts transactions up to 2^64, and never gets as far as 2^63.
    case 26, 28, 5069: Int64(exactly: bits)
    default: Int64(bitPattern: bits)
    }
  }
}

extension String: PostgreSQLElement {
  // text, varchar, bpchar, name, json, xml, unknown. Other types have other binary formats, or numbers that differ
  // between databases.
  public static let types: Set<UInt32> = [25, 1043, 1042, 19, 114, 142, 705]
  // text[], varchar[], bpchar[], name[].
  public static let arrayTypes: Set<UInt32> = [1009, 1015, 1014, 1003]

  public static func value(of bytes: ArraySlice<UInt8>, type: UInt32) -> String? {
    String(validating: bytes, as: UTF8.self)
  }
}

extension Data: PostgreSQLElement {
  public static let types: Set<UInt32> = [TypeNumber.bytea]
  public static let arrayTypes: Set<UInt32> = [TypeNumber.byteas]

  public static func value(of bytes: ArraySlice<UInt8>, type: UInt32) -> Data? { Data(bytes) }
}

extension Bool: PostgreSQLElement {
  public static let types: Set<UInt32> = [TypeNumber.bool]
  public static let arrayTypes: Set<UInt32> = [TypeNumber.bools]

  public static func value(of bytes: ArraySlice<UInt8>, type: UInt32) -> Bool? {
    switch Array(bytes) {
    case [0]: false
    case [1]: true
    default: nil
    }
  }
}

/// An element of an array, or an optional element.
public protocol PostgreSQLArrayElement {
  associatedtype Stored: PostgreSQLElement
  /// Returns the element for a value that was read; nil if there is no place for NULL.
  static func element(_ value: Stored?) -> Self?
}

extension Int64: PostgreSQLArrayElement {}
extension String: PostgreSQLArrayElement {}
extension Data: PostgreSQLArrayElement {}
extension Bool: PostgreSQLArrayElement {}

extension PostgreSQLArrayElement where Self: PostgreSQLElement {
  public static func element(_ value: Self?) -> Self? { value }
}

extension Optional: PostgreSQLArrayElement where Wrapped: PostgreSQLElement {
  public static func element(_ value: Wrapped?) -> Wrapped?? { .some(value) }
}

extension Optional: PostgreSQLReadable where Wrapped: PostgreSQLReadable {
  public static func read(from cell: PostgreSQLCell) throws(PostgreSQLError) -> Wrapped? {
    if !cell.isNull { return try Wrapped.read(from: cell) }
    // A column of the wrong type is a fault of the statement, even if the value is NULL.
    do {
      return try Wrapped.read(from: cell)
    } catch {
      guard error.code == .nullValue else { throw error }
      return nil
    }
  }
}

extension Array: PostgreSQLReadable where Element: PostgreSQLArrayElement {
  public static func read(from cell: PostgreSQLCell) throws(PostgreSQLError) -> [Element] {
    let bytes = try cell.bytes(Element.Stored.arrayTypes)
    guard let values = BinaryArray.elements(bytes) else { throw cell.error(.invalidData) }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for place in values {
      var value: Element.Stored?
      if let place {
        value = Element.Stored.value(of: bytes[place], type: cell.type)
        guard value != nil else { throw cell.error(.invalidData) }
      }
      guard let element = Element.element(value) else { throw cell.error(.nullValue) }
      elements.append(element)
    }
    return elements
  }
}

/// PostgreSQL's binary format of arrays: the number of dimensions, whether there are NULLs, the type of the elements, the
/// length and the first index of each dimension, and then each element after its length, which is -1 for NULL.
enum BinaryArray {
  /// Returns the places of the elements, with nil for NULL; nil if the bytes are not an array of at most one dimension.
  static func elements(_ bytes: [UInt8]) -> [Range<Int>?]? {
    var position = 0
    func next() -> Int? {
      guard bytes.count - position >= 4 else { return nil }
      defer { position += 4 }
      return Int(Int32(bitPattern: bytes[position..<position + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }))
    }
    guard let dimensions = next(), next() != nil, next() != nil else { return nil }
    if dimensions == 0 { return bytes.count == position ? [] : nil }
    // Each element has four bytes at least, so a wrong length cannot make the program reserve much memory.
    guard dimensions == 1, let count = next(), next() != nil, 0...(bytes.count / 4) ~= count else { return nil }
    var places: [Range<Int>?] = []
    places.reserveCapacity(count)
    for _ in 0..<count {
      guard let length = next(), length >= -1, length <= bytes.count - position else { return nil }
      guard length >= 0 else {
        places.append(nil)
        continue
      }
      places.append(position..<position + length)
      position += length
    }
    return position == bytes.count ? places : nil
  }
}
