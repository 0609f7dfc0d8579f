// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A decoded JSON value whose numbers keep their digits.
enum PayloadValue: Decodable, Sendable {
  case null
  case boolean(Bool)
  /// The digits as they stand.
  case number(String)
  case string(String)
  case array([PayloadValue])
  case object([String: PayloadValue])

  /// What a summary is made of. A payload from outside is read by ``PayloadParser``.
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
      self = .number(try value.decode(Decimal.self).description)
    }
  }

  /// The value's shape in words, for an error that must not hold the value.
  var shape: String {
    switch self {
    case .null: "null"
    case .boolean: "true or false"
    case .number: "a number"
    case .string(let text): text.isEmpty ? "an empty string" : "a string of \(text.unicodeScalars.count) characters"
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

  /// Whether the payload was accepted already, perhaps under rules that have changed since. Such a payload is read all
  /// the same, because a payment that was accepted is announced: an empty text is absent, and a long one is cut.
  var wasAccepted = false

  /// The field's path as its writer spells it.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// A field that is absent and one that is null are the same: nobody said anything.
  func value(_ key: String) -> PayloadValue? {
    switch values[key] {
    case .null?, nil: nil
    case let value?: value
    }
  }

  /// The fields of an object in this one.
  func fields(_ key: String, _ values: [String: PayloadValue]) -> PayloadFields {
    PayloadFields(path: name(key), values: values, wasAccepted: wasAccepted)
  }

  func invalid(_ key: String, _ value: PayloadValue, _ remedy: String) -> AnnouncementError {
    AnnouncementError(.fieldInvalid, name(key), "is \(value.shape)", remedy: remedy)
  }

  /// Text of at most `limit` characters, which are Unicode scalar values: how many there are is known without comparing
  /// or composing any, so that no text takes longer than its size.
  ///
  /// - Throws: `.fieldInvalid`; text that is empty or all white space says nothing, and is refused.
  func text(_ key: String, atMost limit: Int) throws(AnnouncementError) -> String? {
    guard let value = value(key) else { return nil }
    if let text = try textOrBlank(key, atMost: limit) { return text }
    guard wasAccepted else {
      let shape = if case .string("") = value { "an empty string" } else { "white space" }
      throw AnnouncementError(
        .fieldInvalid, name(key), "is \(shape)", remedy: "leave the key out where there is nothing to say")
    }
    return nil
  }

  /// The same, where text that is empty or all white space counts as absent.
  func textOrBlank(_ key: String, atMost limit: Int) throws(AnnouncementError) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(var text) = value else { throw invalid(key, value, "it is a string") }
    // A scalar has at most four bytes, and these are counted already.
    if text.utf8.count > 4 * limit || text.unicodeScalars.count > limit {
      guard wasAccepted else { throw invalid(key, value, "it is at most \(limit) characters") }
      text = String(text.unicodeScalars.prefix(limit))
    }
    return text.unicodeScalars.allSatisfy(\.properties.isWhitespace) ? nil : text
  }

  func integer(_ key: String) throws(AnnouncementError) -> Int64? {
    guard let value = value(key) else { return nil }
    guard case .number(let digits) = value, let number = Decimal(string: digits),
      let integer = Int64(number.description)
    else {
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
