// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess
import Testing

/// A running service whose every answer is checked against the document, with the statuses provoked so far.
final class Conformity {
  let document: APIDocument
  let crier: Command
  let service: RunningService
  /// The keys of the default account, by their only scope.
  let keys: [String: String]
  /// A key that has used up its rate limit for a quarter of an hour.
  let exhausted: String
  /// The statuses provoked so far, by operation.
  private(set) var statuses: [String: Set<Int>] = [:]

  /// The statuses that can only be provoked by taking away the service's disk, engine or time.
  private static let unprovoked: Set = [500, 503, 507]

  init(_ crier: Command, _ flags: [String] = RunningService.flags) throws {
    document = try APIDocument()
    self.crier = crier
    // A key that exists before the start would keep the service from creating its first key.
    service = try RunningService(of: crier, flags)
    func key(_ flags: String...) throws -> String {
      let result = try crier.run(["keys", "create"] + flags)
      #expect(result.status == 0, "\(result.message)")
      return result.output.trimmingCharacters(in: .newlines)
    }
    keys = Dictionary(
      uniqueKeysWithValues: try ["announce", "read", "play"].map { ($0, try key("--scope", $0)) })
    exhausted = try key("--scope", "admin", "--rate", "0.001", "--burst", "1")
    _ = try service.send("GET", "/v1/voices", key: exhausted)
  }

  /// Sends a request and checks its answer against the document.
  ///
  /// - Parameters:
  ///   - parameter: The values of the parameters in the operation's path, percent-encoded and separated by spaces.
  ///   - code: The expected code of the problem document.
  @discardableResult
  func check(
    _ id: String, at parameter: String = "", query: String = "", key: String? = nil, headers: [String] = [],
    body: String? = nil, _ status: Int, _ code: String? = nil, location: SourceLocation = #_sourceLocation
  ) throws -> HTTPAnswer {
    let operation = try document.operation(id)
    let answer = try service.send(
      operation.method, target(operation, parameter) + query, key: key, headers: headers,
      body: body.map { Data($0.utf8) })
    try record(answer, id, status, code, location: location)
    return answer
  }

  /// Sends JSON. If the service accepts it, the body must conform to the document.
  @discardableResult
  func check(
    _ id: String, at parameter: String = "", json: String, key: String? = nil, headers: [String] = [], _ status: Int,
    _ code: String? = nil, location: SourceLocation = #_sourceLocation
  ) throws -> HTTPAnswer {
    if status < 300 {
      let violations = document.violations(
        ofBody: try JSONValue(Data(json.utf8)), mediaType: "application/json", of: try document.operation(id))
      #expect(violations == [], "\(id): \(json)", sourceLocation: location)
    }
    return try check(
      id, at: parameter, key: key, headers: ["Content-Type: application/json"] + headers, body: json, status, code,
      location: location)
  }

  func record(
    _ answer: HTTPAnswer, _ id: String, _ status: Int, _ code: String? = nil, isStream: Bool = false,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let operation = try document.operation(id)
    statuses[id, default: []].insert(answer.status)
    #expect(answer.status == status, "\(id): \(answer.text.prefix(300))", sourceLocation: location)
    if let code, operation.method != "HEAD" {
      #expect(answer.code == code, "\(id): \(answer.text.prefix(300))", sourceLocation: location)
    }
    let violations = document.violations(of: answer, to: operation, isStream: isStream)
    #expect(violations == [], "\(id): \(answer.status) \(answer.text.prefix(300))", sourceLocation: location)
  }

  private func target(_ operation: APIDocument.Operation, _ parameter: String) -> String {
    var values = parameter.split(separator: " ").map(String.init)
    return operation.path.replacing(/\{[a-z0-9]+\}/) { _ in values.count > 1 ? values.removeFirst() : values.first ?? ""
    }
  }

  // MARK: Common refusals

  /// Provokes the refusals common to all calls with a key: no key, an unknown key, a missing scope, too many requests,
  /// an unknown query parameter, and a body that is incomplete or too large for its signature to be checked.
  func checkRefusals(_ id: String, _ parameter: String = "") throws {
    let operation = try document.operation(id)
    try check(id, at: parameter, key: "", 401, "key_missing")
    try check(id, at: parameter, key: "", headers: ["Authorization: Basic YTpi"], 401, "key_malformed")
    try check(id, at: parameter, key: "crier_short", 401, "key_malformed")
    try check(id, at: parameter, key: APIKey.make().text, 401, "key_unknown")
    try check(id, at: parameter, key: exhausted, 429, "rate_limited")
    let scope = try #require(operation.scope, "\(id) does not say its scope")
    // A call that is allowed with any scope refuses no key for its scope.
    for (other, key) in keys where other != scope && scope != "any" {
      try check(id, at: parameter, key: key, 403, "scope_missing")
    }

    // A clip's URL may get parameters on its way, which change nothing.
    if !operation.path.hasPrefix("/v1/clips/") {
      try check(id, at: parameter, query: "?colour=red", 400, "parameter_invalid")
    }

    let own = try #require(service.key)
    let target = target(operation, parameter)
    let keyID = try APIKey(own).id
    try check(id, at: parameter, key: "", headers: ["Authorization: Crier \(keyID)"], 401, "signature_missing")
    let signed = try signature(own, operation.method, target, at: Date())
    try check(
      id, at: parameter, key: "", headers: signed.dropLast() + ["Crier-Signature: v2=00"], 401, "signature_malformed")
    try check(
      id, at: parameter, key: "",
      headers: signed.dropLast() + ["Crier-Signature: v2=" + String(repeating: "0", count: 64)], 401,
      "signature_invalid")
    try check(
      id, at: parameter, key: "",
      headers: try signature(own, operation.method, target, at: Date(timeIntervalSinceNow: -400)),
      401, "timestamp_outside_window")

    for (length, status, code) in [(10, 400, "body_incomplete"), (1 << 30, 413, "payload_too_large")] {
      let connection = try service.connect()
      try connection.send(
        operation.method, target, headers: signed + ["Content-Length: \(length)", "Content-Type: application/json"])
      try connection.send("abc")
      // The service does not wait for the rest of a body that is too large.
      if status == 400 { connection.endSending() }
      try record(try connection.receiveAnswer(hasBody: operation.method != "HEAD"), id, status, code)
    }
  }

  /// Returns the header fields that sign a request without a body.
  func signature(_ key: String, _ method: String, _ target: String, at date: Date) throws -> [String] {
    let key = try APIKey(key)
    let signed = SignedRequest(
      signing: .init(method: method, target: target), with: key.digest, at: Int64(date.timeIntervalSince1970))
    return ["Authorization: Crier \(key.id)"] + signed.headerFields.map { "\($0.name): \($0.value)" }
  }

  /// Checks that each documented status of a tag's operations was provoked, except those that cannot be. Undocumented
  /// statuses are reported by the check of each answer.
  ///
  /// - Parameters:
  ///   - isWithoutConflicts: The operations whose status 409 other tests provoke.
  ///   - isWithoutSuccess: The operations whose status 200 other tests provoke.
  func expectAllProvoked(
    tag: String, without left: Set<Int> = unprovoked, isWithoutConflicts: Set<String> = [],
    isWithoutSuccess: Set<String> = []
  ) {
    for operation in document.operations where operation.tag == tag {
      let left =
        isWithoutConflicts.contains(operation.id)
        ? left.union([409]) : isWithoutSuccess.contains(operation.id) ? left.union([200]) : left
      let missing = operation.statuses.subtracting(statuses[operation.id] ?? []).subtracting(left)
      #expect(
        missing.isEmpty,
        "\(operation.id): \(missing.sorted()) were not provoked; do not document statuses that cannot occur")
    }
  }
}
