// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("JSON schema validator of the tests")
struct JSONSchemaTests {
  private static let definitions = #"""
    {"a/b": {"type": "integer"}, "list": {"type": "array", "items": {"$ref": "#/list"}, "maxItems": 2}}
    """#

  private func violations(_ value: String, _ schema: String) throws -> [String] {
    JSONSchema(document: try JSONValue(Self.definitions)).violations(
      of: try JSONValue(value), schema: try JSONValue(schema))
  }

  @Test(
    "a value that fits its JSON schema has no violations",
    arguments: [
      ("null", "{}"), ("1", "true"), (#""x""#, #"{"type": "string"}"#), ("1", #"{"type": "integer"}"#),
      ("1.0", #"{"type": "integer"}"#), ("1.5", #"{"type": "number"}"#), ("true", #"{"type": "boolean"}"#),
      ("null", #"{"type": ["string", "null"]}"#), ("[]", #"{"type": "array"}"#), ("{}", #"{"type": "object"}"#),
      (#""b""#, #"{"enum": ["a", "b"]}"#), ("null", #"{"enum": [null]}"#), ("[1]", #"{"const": [1]}"#),
      (#"{"a": 1}"#, #"{"properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}"#),
      (#"{"b": 1}"#, #"{"properties": {"a": false}, "additionalProperties": {"type": "integer"}}"#),
      (#""text""#, #"{"required": ["a"], "items": false, "minimum": 5}"#),
      ("[1, 2]", #"{"items": {"minimum": 1}, "minItems": 2, "maxItems": 2}"#),
      ("3", #"{"minimum": 3, "maximum": 3, "exclusiveMinimum": 2, "exclusiveMaximum": 4, "minLength": 9}"#),
      (#""é\n""#, #"{"minLength": 2, "maxLength": 2, "pattern": "^é\\s$"}"#), (#""abc""#, #"{"pattern": "b"}"#),
      (#""\u0041""#, #"{"pattern": "^[\\u0041-\\u0042]$"}"#), (#""a$""#, #"{"pattern": "\\$"}"#),
      ("1", ##"{"$ref": "#/a~1b"}"##), ("[[], [[]]]", ##"{"$ref": "#/list"}"##),
      ("1", #"{"allOf": [{"minimum": 1}, {"maximum": 1}]}"#), ("1", #"{"anyOf": [{"minimum": 1}, {"maximum": 1}]}"#),
      ("2", #"{"oneOf": [{"minimum": 2}, {"maximum": 1}]}"#), ("1", #"{"not": {"type": "string"}}"#),
      ("1", #"{"title": "t", "description": "d", "examples": [2], "format": "date-time", "default": 4}"#),
    ])
  func right(value: String, schema: String) throws {
    #expect(try violations(value, schema) == [])
  }

  @Test(
    "a value that does not fit its JSON schema has a violation with its path",
    arguments: [
      ("1", "false", "$"), ("1", #"{"type": "string"}"#, "$: is not of type string"),
      ("1.5", #"{"type": "integer"}"#, "$"),
      ("true", #"{"type": "integer"}"#, "$"), ("1", #"{"type": "boolean"}"#, "$"),
      (#""1""#, #"{"type": "number"}"#, "$"),
      ("null", #"{"type": "object"}"#, "$"), ("{}", #"{"type": "array"}"#, "$"), ("[]", #"{"type": "object"}"#, "$"),
      ("1", #"{"type": ["string", "null"]}"#, "$"), (#""c""#, #"{"enum": ["a", "b"]}"#, "$"),
      (#""null""#, #"{"enum": [null]}"#, "$"), ("[1, 2]", #"{"const": [1]}"#, "$"),
      (#"{"a": "1"}"#, #"{"properties": {"a": {"type": "integer"}}}"#, "$.a: is not of type integer"),
      (#"{"b": 1}"#, #"{"required": ["a"]}"#, "$.a: is missing"),
      (#"{"b": 1}"#, #"{"properties": {"a": true}, "additionalProperties": false}"#, "$.b"),
      (#"{"b": "1"}"#, #"{"additionalProperties": {"type": "integer"}}"#, "$.b"),
      (
        #"{"a": [{"b": null}]}"#, #"{"properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}}}"#,
        "$.a[0].b"
      ),
      ("[1, 0]", #"{"items": {"minimum": 1}}"#, "$[1]"), ("[1]", #"{"minItems": 2}"#, "$"),
      ("[1, 2, 3]", #"{"maxItems": 2}"#, "$"), ("2", #"{"minimum": 3}"#, "$"), ("4", #"{"maximum": 3}"#, "$"),
      ("3", #"{"exclusiveMinimum": 3}"#, "$"), ("3", #"{"exclusiveMaximum": 3}"#, "$"),
      (#""a""#, #"{"minLength": 2}"#, "$"), (#""abc""#, #"{"maxLength": 2}"#, "$"),
      (#""ab""#, #"{"pattern": "^a$"}"#, "$"), (#""a\n""#, #"{"pattern": "^a$"}"#, "$"),
      ("1.5", ##"{"$ref": "#/a~1b"}"##, "$"), ("[[1]]", ##"{"$ref": "#/list"}"##, "$[0][0]"),
      ("0", #"{"allOf": [{"minimum": 1}, {"maximum": 1}]}"#, "$"),
      ("2", #"{"anyOf": [{"minimum": 3}, {"maximum": 1}]}"#, "$"),
      ("2", #"{"oneOf": [{"minimum": 1}, {"maximum": 3}]}"#, "$: matches 2"),
      ("2", #"{"oneOf": [{"minimum": 3}]}"#, "$: matches 0"), ("1", #"{"not": {"type": "integer"}}"#, "$"),
    ])
  func wrong(value: String, schema: String, words: String) throws {
    let found = try violations(value, schema)
    #expect(found.count == 1 && found[0].hasPrefix(words), "\(found)")
  }

  @Test(
    "a JSON schema that cannot be checked is a violation for any value",
    arguments: [
      #"{"multipleOf": 2}"#, #"{"minimum": "1"}"#, #"{"required": "a"}"#, ##"{"$ref": "#/nowhere"}"##,
      #"{"$ref": "https://other.example"}"#, #"{"type": "integers"}"#, #"{"pattern": "("}"#, "7",
      #"{"unevaluatedProperties": false}"#, #"{"type": 5}"#,
    ])
  func unknown(schema: String) throws {
    #expect(try violations(#""""#, schema).count == 1)
  }
}
