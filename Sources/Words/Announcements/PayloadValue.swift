// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A JSON value that ``PayloadParser`` has read. Its numbers keep all their digits.
package enum PayloadValue: Sendable {
  case null
  case boolean(Bool)
  /// A number, with the digits exactly as in the input.
  case number(String)
  case string(String)
  case array([PayloadValue])
  case object([String: PayloadValue])

  /// Parses JSON that is not a payload, such as a provider's webhook, by the payload's strict rules.
  ///
  /// - Throws: `.payloadTooLarge` or `.payloadMalformed`.
  package init(json bytes: [UInt8], largestBytes: Int, deepestNesting: Int) throws(AnnouncementError) {
    self = try PayloadParser.value(of: bytes, largestBytes: largestBytes, deepestNesting: deepestNesting)
  }

  /// A description of the value's shape, for an error that must not contain the value.
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
}

/// The fields of one object of a payload, read by name and type. Every error names the field's full path.
struct PayloadFields {
  let path: String
  let values: [String: PayloadValue]

  /// Whether the payload was accepted earlier, perhaps under different rules. Such a payload can always be read,
  /// because an accepted payment must be announced. An empty text therefore counts as absent, and a long text is cut.
  var wasAccepted = false

  /// Returns the field's path, spelled as in the payload.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// Returns a field's value. A field that is null counts as absent.
  func value(_ key: String) -> PayloadValue? {
    switch values[key] {
    case .null?, nil: nil
    case let value?: value
    }
  }

  /// Returns the fields of an object inside this object.
  func fields(_ key: String, _ values: [String: PayloadValue]) -> PayloadFields {
    PayloadFields(path: name(key), values: values, wasAccepted: wasAccepted)
  }

  func invalid(_ key: String, _ value: PayloadValue, _ remedy: String) -> AnnouncementError {
    AnnouncementError(.fieldInvalid, name(key), "is \(value.shape)", remedy: remedy)
  }

  /// Returns a field's text of at most `limit` characters. Characters are Unicode scalar values. Counting these needs
  /// no comparison or composition, so the time is at most proportional to the size of the text.
  ///
  /// - Throws: `.fieldInvalid` for a wrong value, including text that is empty or all white space.
  func text(_ key: String, atMost limit: Int) throws(AnnouncementError) -> String? {
    guard let value = value(key) else { return nil }
    if let text = try textOrBlank(key, atMost: limit) { return text }
    guard wasAccepted else {
      let shape = if case .string("") = value { "an empty string" } else { "white space" }
      throw AnnouncementError(
        .fieldInvalid, name(key), "is \(shape)", remedy: "give a value, or leave the key out if it is not required")
    }
    return nil
  }

  /// Returns a field's text as ``text(_:atMost:)`` does, but treats text that is empty or all white space as absent.
  func textOrBlank(_ key: String, atMost limit: Int) throws(AnnouncementError) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(var text) = value else { throw invalid(key, value, "give a string") }
    // A scalar has at most four bytes. A text with more than four times as many bytes as the limit is therefore too
    // long, and its scalars need not be counted.
    if text.utf8.count > 4 * limit || text.unicodeScalars.count > limit {
      guard wasAccepted else { throw invalid(key, value, "give at most \(limit) characters") }
      text = String(text.unicodeScalars.prefix(limit))
    }
    return text.unicodeScalars.allSatisfy(\.properties.isWhitespace) ? nil : text
  }

  func integer(_ key: String) throws(AnnouncementError) -> Int64? {
    guard let value = value(key) else { return nil }
    guard case .number(let digits) = value, let number = Decimal(string: digits),
      let integer = Int64(number.description)
    else {
      throw invalid(key, value, "give a whole number below 2^63, without quotation marks")
    }
    return integer
  }

  /// Returns a field's whole number in a range.
  func integer<Value: FixedWidthInteger>(
    _ key: String, in range: ClosedRange<Value>, _ remedy: String
  ) throws(AnnouncementError) -> Value? {
    guard let integer = try integer(key) else { return nil }
    guard let value = Value(exactly: integer), range.contains(value) else {
      throw AnnouncementError(.fieldInvalid, name(key), "is out of range", remedy: remedy)
    }
    return value
  }

  /// Returns a field's text as one of the values that it may have.
  ///
  /// - Parameter meaning: what the field states, such as `a kind of payment`.
  func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ key: String, of meaning: String
  ) throws(AnnouncementError) -> Value? {
    guard let text = try text(key, atMost: 64) else { return nil }
    guard let value = Value(rawValue: text) else {
      throw AnnouncementError(
        .fieldInvalid, name(key), "is not \(meaning)",
        remedy: "give one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return value
  }

  func required<Value>(_ key: String, _ value: Value?, _ remedy: String) throws(AnnouncementError) -> Value {
    guard let value else {
      throw AnnouncementError(.fieldMissing, name(key), "is missing", remedy: remedy)
    }
    return value
  }
}
