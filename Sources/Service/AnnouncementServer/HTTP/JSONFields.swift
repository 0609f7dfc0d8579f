// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes

/// The fields of a small JSON object in the body of a request. An unknown key is refused, so that a misspelt key never
/// has the effect of a missing one.
struct JSONFields: Sendable {
  /// The maximum size of the body, in bytes.
  static let largestBody = 4096

  private let values: [String: PayloadValue]
  /// The prefix of each key in errors: empty, or the key of the enclosing object followed by a period.
  private var path = ""

  /// - Parameter keys: The keys that the body may have.
  /// - Throws: ``Problem`` with 400 if the body is not a JSON object, or 422 `field_unknown` for another key;
  ///   `AnnouncementError` if the body is not strict JSON.
  init(_ body: Data, keys: [String]) throws {
    guard case .object(let values) = try PayloadDecoder.value(of: body) else {
      let names = "\(keys.count == 1 ? "key" : "keys") \(keys.joined(separator: ", "))"
      throw Problem(
        .badRequest, "payload_malformed", "The body is not a JSON object. Send an object with the \(names).")
    }
    try self.init(values, keys: keys)
  }

  private init(_ values: [String: PayloadValue], keys: [String], path: String = "") throws(Problem) {
    if let unknown = values.keys.filter({ !keys.contains($0) }).min() {
      let meant = SimilarNames.name(like: unknown, among: keys).map { "did you mean \($0)?" }
      throw Problem(
        .unprocessableContent, "field_unknown",
        "\(path)\(PayloadDecoder.printable(unknown)): is not a key of this call; "
          + (meant ?? "send only \(keys.joined(separator: ", ")).")
      )
    }
    self.values = values
    self.path = path
  }

  /// Reads the body of a call.
  static func read(_ call: Call, keys: [String], _ ring: KeyRing) async throws -> JSONFields {
    try call.requireMediaType("application/json")
    let body = try await call.body(upTo: largestBody)
    try await ring.requireInForce(try call.sender)
    return try JSONFields(body, keys: keys)
  }

  /// Returns a field's value, or nil if it is missing or null.
  ///
  /// - Parameter remedy: The description of a correct value, for the error.
  func string(_ key: String, _ remedy: String) throws(Problem) -> String? {
    switch values[key] {
    case nil, .null: nil
    case .string(let text): text
    default: throw invalid(key, remedy)
    }
  }

  /// Returns a text that meets a rule, or nil if it is missing or null.
  func text(_ key: String, _ remedy: String, if isValid: (String) -> Bool) throws(Problem) -> String? {
    guard let text = try string(key, remedy) else { return nil }
    guard isValid(text) else { throw invalid(key, remedy) }
    return text
  }

  func boolean(_ key: String, _ remedy: String) throws(Problem) -> Bool? {
    switch values[key] {
    case nil, .null: nil
    case .boolean(let value): value
    default: throw invalid(key, remedy)
    }
  }

  func number(_ key: String, _ remedy: String) throws(Problem) -> Double? {
    switch values[key] {
    case nil, .null: nil
    case .number(let digits): Double(digits)
    default: throw invalid(key, remedy)
    }
  }

  /// Returns a number with exactly the digits that were sent, or nil if it is missing or null.
  func decimal(_ key: String, _ remedy: String) throws(Problem) -> Decimal? {
    switch values[key] {
    case nil, .null: return nil
    case .number(let digits):
      guard let number = Decimal(string: digits), number.isFinite else { throw invalid(key, remedy) }
      return number
    default: throw invalid(key, remedy)
    }
  }

  func integer(_ key: String, in range: ClosedRange<Int>, _ remedy: String) throws(Problem) -> Int? {
    guard let number = try number(key, remedy) else { return nil }
    guard let integer = Int(exactly: number), range.contains(integer) else { throw invalid(key, remedy) }
    return integer
  }

  func strings(_ key: String, _ remedy: String) throws(Problem) -> [String]? {
    switch values[key] {
    case nil, .null: return nil
    case .array(let values):
      var texts: [String] = []
      for value in values {
        guard case .string(let text) = value else { throw invalid(key, remedy) }
        texts.append(text)
      }
      return texts
    default: throw invalid(key, remedy)
    }
  }

  /// Whether the value of the key is an object.
  func isObject(_ key: String) -> Bool { if case .object = values[key] { true } else { false } }

  /// Returns the fields of an object within this one, or nil if the inner object is missing or null.
  ///
  /// - Parameter keys: The keys that the object may have.
  func object(_ key: String, keys: [String], _ remedy: String) throws(Problem) -> JSONFields? {
    switch values[key] {
    case nil, .null: return nil
    case .object(let members): return try JSONFields(members, keys: keys, path: "\(path)\(key).")
    default: throw invalid(key, remedy)
    }
  }

  /// Returns the fields of the objects in an array within this object, or nil if the array is missing or null.
  ///
  /// - Parameter keys: The keys that the objects may have.
  func objects(_ key: String, keys: [String], _ remedy: String) throws(Problem) -> [JSONFields]? {
    switch values[key] {
    case nil, .null: return nil
    case .array(let elements):
      var objects: [JSONFields] = []
      for (index, element) in elements.enumerated() {
        guard case .object(let members) = element else { throw invalid(key, remedy) }
        objects.append(try JSONFields(members, keys: keys, path: "\(path)\(key)[\(index)]."))
      }
      return objects
    default: throw invalid(key, remedy)
    }
  }

  /// Returns the value of a required field.
  ///
  /// - Throws: ``Problem`` with 422 `field_missing` if the field is missing, or `field_invalid` if it is null.
  func required<Value>(_ key: String, _ value: Value?, _ remedy: String) throws(Problem) -> Value {
    guard let value else {
      guard values[key] == nil else { throw invalid(key, remedy) }
      throw Problem(.unprocessableContent, "field_missing", "\(path)\(key): is missing; \(remedy).")
    }
    return value
  }

  /// Whether the body has the key, even if its value is null.
  func contains(_ key: String) -> Bool { values[key] != nil }

  func invalid(_ key: String, _ remedy: String) -> Problem {
    Problem.fieldInvalid("\(path)\(key): is not valid; \(remedy).")
  }
}
