// SPDX-License-Identifier: Apache-2.0

import struct Foundation.Decimal

/// A decoded JSON value whose numbers keep their digits.
enum PayloadValue: Decodable, Sendable {
  case null
  case boolean(Bool)
  case number(Decimal)
  case string(String)
  case array([PayloadValue])
  case object([String: PayloadValue])

  init(from decoder: any Decoder) throws {
    if let fields = try? decoder.container(keyedBy: Key.self) {
      self = .object(
        try fields.allKeys.reduce(into: [:]) { object, key in
          object[key.stringValue] = try fields.decode(PayloadValue.self, forKey: key)
        })
      return
    }
    if var elements = try? decoder.unkeyedContainer() {
      var values: [PayloadValue] = []
      while !elements.isAtEnd { values.append(try elements.decode(PayloadValue.self)) }
      self = .array(values)
      return
    }
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let boolean = try? value.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else {
      self = .number(try value.decode(Decimal.self))
    }
  }

  /// The value's shape in words, for an error that must not hold the value.
  var shape: String {
    switch self {
    case .null: "null"
    case .boolean: "true or false"
    case .number: "a number"
    case .string(let text): text.isEmpty ? "an empty string" : "a string of \(text.count) characters"
    case .array: "an array"
    case .object: "an object"
    }
  }

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// The fields of one object of a payload, asked for by name and type; every error names the field's full path.
struct PayloadFields {
  let path: String
  let values: [String: PayloadValue]

  /// The field's path as its writer spells it.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// A field that is absent and one that is null are the same: nobody said anything.
  func value(_ key: String) -> PayloadValue? {
    switch values[key] {
    case .null?, nil: nil
    case let value?: value
    }
  }

  func invalid(_ key: String, _ value: PayloadValue, _ remedy: String) -> AnnouncementError {
    AnnouncementError(.fieldInvalid, name(key), "is \(value.shape)", remedy: remedy)
  }

  /// Text of at most `limit` characters; text that is empty or all white space counts as absent.
  func text(_ key: String, atMost limit: Int) throws(AnnouncementError) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value else { throw invalid(key, value, "it is a string") }
    guard text.count <= limit else { throw invalid(key, value, "it is at most \(limit) characters") }
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }

  func integer(_ key: String) throws(AnnouncementError) -> Int64? {
    guard let value = value(key) else { return nil }
    guard case .number(let number) = value, let integer = Int64(number.description) else {
      throw invalid(key, value, "it is a whole number below 2^63, without quotation marks")
    }
    return integer
  }

  func required<Value>(_ key: String, _ value: Value?, _ remedy: String) throws(AnnouncementError) -> Value {
    guard let value else {
      throw AnnouncementError(.fieldMissing, name(key), "is missing", remedy: remedy)
    }
    return value
  }
}
