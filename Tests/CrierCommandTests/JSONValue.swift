// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A JSON value of any type.
enum JSONValue: Decodable, Hashable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(_ data: Data) throws { self = try JSONDecoder().decode(JSONValue.self, from: data) }

  init(_ text: String) throws { try self.init(Data(text.utf8)) }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let boolean = try? value.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
  var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  var string: String? { if case .string(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }
  var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }

  subscript(_ key: String) -> JSONValue? { object?[key] }

  /// The value encoded as JSON.
  var data: Data {
    get throws {
      try JSONSerialization.data(withJSONObject: foundation, options: [.fragmentsAllowed, .withoutEscapingSlashes])
    }
  }

  private var foundation: Any {
    switch self {
    case .null: NSNull()
    case .boolean(let value): value
    // Whole numbers are written without a decimal point.
    case .number(let value): Int64(exactly: value).map { $0 as Any } ?? value
    case .string(let value): value
    case .array(let values): values.map(\.foundation)
    case .object(let members): members.mapValues(\.foundation)
    }
  }
}
