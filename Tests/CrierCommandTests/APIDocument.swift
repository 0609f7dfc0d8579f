// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The OpenAPI document of the service, `Console/openapi.json`, and the checks of requests and answers against it.
struct APIDocument {
  struct Operation {
    /// The `operationId`.
    var id: String
    /// The HTTP method in capitals.
    var method: String
    /// The path with its parameter, such as `/v1/clips/{name}`.
    var path: String
    var node: JSONValue

    var tag: String { node["tags"]?.array?.first?.string ?? "" }
    /// Whether the operation needs a key.
    var isSecured: Bool { node["security"]?.array?.isEmpty == false }
    /// The scope named in the operation's description.
    var scope: String? {
      node["description"]?.string?.firstMatch(of: /Scope `([a-z]+)`/).map { String($0.1) }
    }
    /// The documented statuses.
    var statuses: Set<Int> { Set((node["responses"]?.object ?? [:]).keys.compactMap { Int($0) }) }
  }

  struct Unknown: Error { var name: String }

  let root: JSONValue
  let schema: JSONSchema
  let operations: [Operation]

  /// The header fields of HTTP itself, which the document does not describe.
  private static let ownHeaders: Set = [
    "connection", "content-length", "content-type", "date", "server", "transfer-encoding",
  ]

  init() throws {
    try self.init(try Data(contentsOf: Command.checkout.appending(path: "Console/openapi.json")))
  }

  init(_ data: Data) throws {
    root = try JSONValue(data)
    schema = JSONSchema(document: root)
    operations = (root["paths"]?.object ?? [:]).sorted { $0.key < $1.key }.flatMap { path, item in
      (item.object ?? [:]).sorted { $0.key < $1.key }.map { method, node in
        Operation(id: node["operationId"]?.string ?? "", method: method.uppercased(), path: path, node: node)
      }
    }
  }

  func operation(_ id: String) throws -> Operation {
    guard let operation = operations.first(where: { $0.id == id }) else { throw Unknown(name: id) }
    return operation
  }

  /// Returns the node, or the node that its reference names.
  func resolved(_ node: JSONValue?) -> JSONValue? {
    guard let reference = node?["$ref"]?.string else { return node }
    return resolved(schema.resolved(reference))
  }

  // MARK: Answers

  /// Returns the ways in which an answer deviates from the document; empty if it conforms.
  ///
  /// - Parameter isStream: Whether the body is an endless stream, which is checked elsewhere.
  func violations(of answer: HTTPAnswer, to operation: Operation, isStream: Bool = false) -> [String] {
    guard let response = resolved(operation.node["responses"]?["\(answer.status)"]) else {
      return ["the status \(answer.status) is not documented"]
    }
    return headerViolations(of: answer, response)
      + (isStream
        ? mediaTypeViolations(of: answer, response) : bodyViolations(of: answer, response, method: operation.method))
  }

  private func headerViolations(of answer: HTTPAnswer, _ response: JSONValue) -> [String] {
    let documented = (response["headers"]?.object ?? [:]).compactMapValues { resolved($0) }
    let names = Set(documented.keys.map { $0.lowercased() })
    var violations = Set(answer.headers.map { $0.name.lowercased() }).subtracting(names).subtracting(Self.ownHeaders)
      .sorted().map { "the header \($0) is not documented" }
    for (name, header) in documented.sorted(by: { $0.key < $1.key }) {
      let sent = answer.headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
      if sent.isEmpty, header["required"] == .boolean(true) { violations.append("the header \(name) is missing") }
      if sent.count > 1 { violations.append("the header \(name) occurs \(sent.count) times") }
      for text in sent {
        let isNumber = header["schema"]?["type"]?.string == "integer"
        let value = isNumber ? Double(text).map(JSONValue.number) ?? .string(text) : .string(text)
        violations += schema.violations(of: value, schema: header["schema"] ?? .null, at: name)
      }
    }
    return violations
  }

  private func mediaTypeViolations(of answer: HTTPAnswer, _ response: JSONValue) -> [String] {
    mediaType(answer).flatMap { response["content"]?[$0] } == nil
      ? ["the media type \(mediaType(answer) ?? "none") is not documented"] : []
  }

  private func mediaType(_ answer: HTTPAnswer) -> String? {
    answer.header("Content-Type").map { $0.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces) }
  }

  private func bodyViolations(of answer: HTTPAnswer, _ response: JSONValue, method: String) -> [String] {
    if method == "HEAD" { return answer.body.isEmpty ? [] : ["an answer to HEAD has a body"] }
    guard response["content"] != nil else {
      return answer.body.isEmpty ? [] : ["there is a body, but none is documented"]
    }
    let violations = mediaTypeViolations(of: answer, response)
    guard violations.isEmpty, let type = mediaType(answer), let content = response["content"]?[type]?["schema"] else {
      return violations
    }
    if ["application/json", "application/problem+json"].contains(type) {
      guard let value = try? answer.json() else { return ["the body is not JSON"] }
      return schema.violations(of: value, schema: content)
        + (type.contains("problem") ? problemViolations(value, answer, response) : [])
    }
    if answer.body.isEmpty { return ["the body is empty"] }
    // Neither audio nor an archive is text.
    if type.hasPrefix("audio/") || type == "application/gzip" { return [] }
    guard let text = String(data: answer.body, encoding: .utf8) else { return ["the text is not UTF-8"] }
    return schema.violations(of: .string(text), schema: content)
  }

  private func problemViolations(_ problem: JSONValue, _ answer: HTTPAnswer, _ response: JSONValue) -> [String] {
    var violations: [String] = []
    let code = problem["code"]?.string ?? ""
    if response["description"]?.string?.contains("`\(code)`") != true {
      violations.append("the code \(code) is not documented for \(answer.status)")
    }
    if problem["status"]?.number != Double(answer.status) {
      violations.append("the status in the body differs from the answer's")
    }
    if problem["request_id"]?.string != answer.header("X-Request-Id") {
      violations.append("the request id in the body differs from the header's")
    }
    return violations
  }

  // MARK: Requests

  /// Returns the ways in which a request body deviates from the document; empty if it conforms.
  func violations(ofBody value: JSONValue, mediaType: String, of operation: Operation) -> [String] {
    guard let schema = operation.node["requestBody"]?["content"]?[mediaType]?["schema"] else {
      return ["the media type \(mediaType) is not documented"]
    }
    return self.schema.violations(of: value, schema: schema)
  }

  /// Returns the documented request examples of an operation, with their media types and names.
  func requestExamples(of operation: Operation) -> [(mediaType: String, name: String, value: JSONValue)] {
    (operation.node["requestBody"]?["content"]?.object ?? [:]).sorted { $0.key < $1.key }.flatMap {
      mediaType, content in
      (content["examples"]?.object ?? [:]).sorted { $0.key < $1.key }.compactMap { name, example in
        example["value"].map { (mediaType, name, $0) }
      }
    }
  }
}
