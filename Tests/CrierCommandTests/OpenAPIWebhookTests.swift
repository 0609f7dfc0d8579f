// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import SQLiteLedger
import Testing
import WebhookMessages

@Suite("The service conforms to /openapi.json: webhooks", .timeLimit(.minutes(10)))
struct OpenAPIWebhookTests {
  @Test("the answers to calls about webhook endpoints conform to /openapi.json")
  func endpoints() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try Conformity(crier)
    func body(_ path: String, _ more: String = "") -> String {
      #"{"url":"https://shop.invalid/\#(path)"\#(more.isEmpty ? "" : ",\(more)")}"#
    }
    let all = body("1", #""events":["announcement.played","announcement.failed"],"description":"till""#)
    let first = try service.check("registerWebhookEndpoint", json: all, 201).json()
    let id = try #require(first["id"]?.string)
    #expect(first["secret"]?.string?.hasPrefix("whsec_") == true)
    let nulls = body("2", #""events":null,"description":null"#)
    try service.check("registerWebhookEndpoint", json: nulls, key: service.keys["announce"], 201)
    for (body, status, code) in [
      ("[]", 400, "payload_malformed"), ("{", 400, "payload_malformed"), ("{}", 422, "field_missing"),
      (#"{"url":7}"#, 422, "field_invalid"), (#"{"url":"http://shop.invalid/"}"#, 422, "field_invalid"),
      (#"{"url":"https://a@shop.invalid/"}"#, 422, "field_invalid"),
      (#"{"url":"https://shop.invalid/#top"}"#, 422, "field_invalid"),
      (#"{"url":"https://localhost/"}"#, 422, "field_invalid"),
      (body("3", #""events":[]"#), 422, "field_invalid"),
      (body("3", #""events":["test.ping"]"#), 422, "field_invalid"),
      (body("3", #""description":"""#), 422, "field_invalid"), (body("3", #""secret":"x""#), 422, "field_unknown"),
      (body("1"), 409, "webhook_endpoint_exists"),
      (String(repeating: " ", count: 5000), 413, "payload_too_large"),
    ] as [(String, Int, String)] {
      try service.check("registerWebhookEndpoint", json: body, status, code)
    }
    try service.check(
      "registerWebhookEndpoint", headers: ["Content-Type: text/plain"], body: all, 415, "media_type_unsupported")
    for number in 3...16 { try service.check("registerWebhookEndpoint", json: body("\(number)"), 201) }
    try service.check("registerWebhookEndpoint", json: body("17"), 409, "too_many_webhook_endpoints")

    let list = try service.check("listWebhookEndpoints", key: service.keys["read"], 200).json()["webhook_endpoints"]
    #expect(list?.array?.count == 16 && list?.array?.allSatisfy { $0["secret"] == nil } == true)
    try service.check("getWebhookEndpoint", at: id, key: service.keys["read"], 200)
    try service.check("enableWebhookEndpoint", at: id, 200)
    let message = try service.check("testWebhookEndpoint", at: id, 202).json()["webhook_id"]?.string
    #expect(message?.hasPrefix("msg_") == true)
    // The name does not exist, which becomes visible as soon as the service has tried.
    var shown = try service.check("getWebhookEndpoint", at: id, 200).json()
    while shown["last_outcome"] == nil { shown = try service.check("getWebhookEndpoint", at: id, 200).json() }
    #expect(shown["last_outcome"] == .string("unreachable"))
    for operation in service.document.operations where operation.tag == "Webhooks" {
      if operation.path.contains("{") { try service.check(operation.id, at: "nobody", 404, "not_found") }
      try service.checkRefusals(operation.id, id)
    }
    try await disable(crier)
    try service.check("testWebhookEndpoint", at: id, 409, "webhook_endpoint_disabled")
    let disabled = try service.check("getWebhookEndpoint", at: id, 200).json()
    #expect(disabled["disabled_reason"] == .string("gone"))
    #expect(try service.check("enableWebhookEndpoint", at: id, 200).json()["disabled_at"] == nil)
    try service.check("removeWebhookEndpoint", at: id, key: service.keys["announce"], 200)
    service.expectAllProvoked(tag: "Webhooks")
  }

  /// Records that a receiver wants no more messages, as if the service had sent the message that waits.
  private func disable(_ crier: Command) async throws {
    let ledger = try SQLiteLedger(at: crier.home.appending(path: "ledger.sqlite"))
    let waiting = try #require(try await ledger.unfinishedWebhooks().first?.number)
    let attempt = Ledger.WebhookAttempt(startedAt: Date(), outcome: .gone, nextAt: nil, patience: 86_400)
    #expect(try await ledger.record(attempt, ofWebhook: waiting)?.disabled == .gone)
  }
}
