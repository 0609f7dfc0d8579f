// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A validator for the part of JSON Schema 2020-12 that the API document uses.
///
/// An unknown keyword or an unresolved reference is a violation, so nothing is left unchecked.
struct JSONSchema {
  /// The document in which each `$ref` is resolved.
  let document: JSONValue

  /// The keywords that do not constrain a value.
  private static let annotations: Set = [
    "$comment", "default", "deprecated", "description", "example", "examples", "externalDocs", "format", "readOnly",
    "title", "writeOnly",
  ]

  /// - Parameter path: The path of the value, for messages.
  /// - Returns: A sentence for each violation; empty if the value is valid.
  func violations(of value: JSONValue, schema: JSONValue, at path: String = "$") -> [String] {
    switch schema {
    case .boolean(true): return []
    case .boolean(false): return ["\(path): no value is allowed here"]
    case .object(let keywords):
      return keywords.sorted { $0.key < $1.key }.flatMap { keyword, argument in
        violations(of: value, keyword, argument, keywords, path)
      }
    default: return ["\(path): the schema is invalid"]
    }
  }

  /// Returns the node that a local reference such as `#/components/schemas/Report` names.
  func resolved(_ reference: String) -> JSONValue? {
    guard reference.hasPrefix("#/") else { return nil }
    return reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false).reduce(document) {
      node, part in
      node?[String(part).replacing("~1", with: "/").replacing("~0", with: "~")]
    }
  }

  private func violations(
    of value: JSONValue, _ keyword: String, _ argument: JSONValue, _ keywords: [String: JSONValue], _ path: String
  ) -> [String] {
    switch (keyword, argument) {
    case ("$ref", .string(let reference)):
      guard let schema = resolved(reference) else { return ["\(path): \(reference) does not exist"] }
      return violations(of: value, schema: schema, at: path)
    case ("type", .string(let name)):
      return value.isOfType(name) ? [] : ["\(path): is not of type \(name)"]
    case ("type", .array(let names)):
      return names.contains { $0.string.map(value.isOfType) ?? false } ? [] : ["\(path): has none of the allowed types"]
    case ("enum", .array(let choices)):
      return choices.contains(value) ? [] : ["\(path): is not one of the allowed values"]
    case ("const", _):
      return value == argument ? [] : ["\(path): is not the required value"]
    case ("allOf", .array(let schemas)):
      return schemas.flatMap { violations(of: value, schema: $0, at: path) }
    case ("anyOf", .array(let schemas)):
      let each = schemas.map { violations(of: value, schema: $0, at: path) }
      return each.contains { $0.isEmpty } ? [] : ["\(path): matches none of the schemas: \(each)"]
    case ("oneOf", .array(let schemas)):
      let each = schemas.map { violations(of: value, schema: $0, at: path) }
      let count = each.count { $0.isEmpty }
      return count == 1 ? [] : ["\(path): matches \(count) schemas instead of one: \(each)"]
    case ("not", _):
      return violations(of: value, schema: argument, at: path).isEmpty ? ["\(path): matches the forbidden schema"] : []
    case ("properties", .object), ("required", .array), ("additionalProperties", _):
      return value.object.map { ofObject($0, keyword, argument, keywords, path) } ?? []
    case ("items", _), ("minItems", .number), ("maxItems", .number):
      return value.array.map { ofArray($0, keyword, argument, path) } ?? []
    case ("pattern", .string), ("minLength", .number), ("maxLength", .number):
      return value.string.map { Self.ofString($0, keyword, argument, path) } ?? []
    case ("minimum", .number(let bound)):
      return (value.number ?? bound) >= bound ? [] : ["\(path): is less than \(bound)"]
    case ("maximum", .number(let bound)):
      return (value.number ?? bound) <= bound ? [] : ["\(path): is more than \(bound)"]
    case ("exclusiveMinimum", .number(let bound)):
      return value.number.map { $0 > bound } ?? true ? [] : ["\(path): is not more than \(bound)"]
    case ("exclusiveMaximum", .number(let bound)):
      return value.number.map { $0 < bound } ?? true ? [] : ["\(path): is not less than \(bound)"]
    default:
      return Self.annotations.contains(keyword)
        ? [] : ["\(path): the keyword \(keyword) is unknown or malformed"]
    }
  }

  private func ofObject(
    _ members: [String: JSONValue], _ keyword: String, _ argument: JSONValue, _ keywords: [String: JSONValue],
    _ path: String
  ) -> [String] {
    let schemas = keywords["properties"]?.object ?? [:]
    switch keyword {
    case "properties":
      return members.sorted { $0.key < $1.key }.flatMap { name, member in
        schemas[name].map { violations(of: member, schema: $0, at: "\(path).\(name)") } ?? []
      }
    case "required":
      return (argument.array ?? []).compactMap(\.string).filter { members[$0] == nil }.map {
        "\(path).\($0): is missing"
      }
    default:
      return members.filter { schemas[$0.key] == nil }.sorted { $0.key < $1.key }.flatMap { name, member in
        violations(of: member, schema: argument, at: "\(path).\(name)")
      }
    }
  }

  private func ofArray(_ elements: [JSONValue], _ keyword: String, _ argument: JSONValue, _ path: String) -> [String] {
    let bound = argument.number ?? 0
    switch keyword {
    case "items":
      return elements.enumerated().flatMap { violations(of: $1, schema: argument, at: "\(path)[\($0)]") }
    case "minItems": return Double(elements.count) >= bound ? [] : ["\(path): has fewer than \(bound) elements"]
    default: return Double(elements.count) <= bound ? [] : ["\(path): has more than \(bound) elements"]
    }
  }

  private static func ofString(_ text: String, _ keyword: String, _ argument: JSONValue, _ path: String) -> [String] {
    let (length, bound) = (Double(text.unicodeScalars.count), argument.number ?? 0)
    switch keyword {
    case "minLength": return length >= bound ? [] : ["\(path): is shorter than \(bound)"]
    case "maxLength": return length <= bound ? [] : ["\(path): is longer than \(bound)"]
    default:
      // In ECMA-262, `$` matches only at the very end. Here it would also match before a final line feed.
      var pattern = argument.string ?? ""
      if pattern.hasSuffix("$"), !pattern.hasSuffix("\\$") { pattern = pattern.dropLast() + "\\z" }
      guard let expression = try? NSRegularExpression(pattern: pattern) else {
        return ["\(path): the pattern is invalid"]
      }
      let whole = NSRange(text.startIndex..., in: text)
      return expression.firstMatch(in: text, range: whole) == nil ? ["\(path): does not match \(pattern)"] : []
    }
  }
}

extension JSONValue {
  fileprivate func isOfType(_ name: String) -> Bool {
    switch (name, self) {
    case ("null", .null), ("boolean", .boolean), ("number", .number), ("string", .string), ("array", .array),
      ("object", .object):
      true
    case ("integer", .number(let number)): number == number.rounded() && number.isFinite
    default: false
    }
  }
}
