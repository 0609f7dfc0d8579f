// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

@Suite("The service conforms to /openapi.json: the webhooks of payment providers", .timeLimit(.minutes(10)))
struct OpenAPIProviderWebhookTests {
  private static let secret = "whsec_of_a_test"

  /// Writes settings into a home before its service starts.
  private func write(_ text: String, to name: String, of crier: Command) throws {
    let file = crier.home.appending(path: name)
    try FileManager.default.createDirectory(
      at: crier.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
  }

  private func signature(of body: String, at date: Date = Date()) -> String {
    let time = String(Int64(date.timeIntervalSince1970))
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("\(time).\(body)".utf8), using: SymmetricKey(data: Data(Self.secret.utf8)))
    return "Stripe-Signature: t=\(time),v1=\(code.map { String(format: "%02x", $0) }.joined())"
  }

  private func settings(_ crier: Command) throws {
    // The program under test has a folder of its own data.
    let mapping = try String(
      contentsOf: Command.checkout.appending(path: "Providers/pix.yaml"), encoding: .utf8)
    try write(mapping, to: "pix.yaml", of: crier)
    try write(
      """
      endpoints:
        - {id: till, provider: stripe, account: default, secrets: [\(Self.secret)], locale: en-US}
        - {id: bank, provider: mapping, mapping: pix.yaml, account: default, secrets: [a-secret-of-a-test]}
      """, to: "providers.yaml", of: crier)
  }

  @Test("the answers to providers' webhooks, and the list of their endpoints, conform to /openapi.json")
  func webhooks() throws {
    let crier = try Command()
    defer { crier.remove() }
    try settings(crier)
    let service = try Conformity(crier)
    let (one, two) = ("receiveProviderWebhook", "receiveProviderWebhookWithSuffix")
    let empty = try service.check("listProviderEndpoints", key: service.keys["read"], 200).json()
    #expect(empty["problem"] == .null && empty["endpoints"]?.array?.count == 2)

    let time = Int64(Date().timeIntervalSince1970)
    let charge = """
      {"object":"event","type":"charge.succeeded","livemode":true,"created":\(time),"data":{"object":{"id":"ch_1",\
      "payment_intent":"pi_1","amount":1250,"captured":true,"currency":"usd"}}}
      """
    for _ in 0..<2 {
      try service.check(one, at: "stripe till", key: "", headers: [signature(of: charge)], body: charge, 200)
    }
    // The service ignores the provider's own Authorization and parameters.
    try service.check(
      one, at: "stripe till", query: "?shop=1", headers: [signature(of: charge)], body: charge, 200)
    try service.check(one, at: "stripe till", key: "", headers: [signature(of: charge)], body: charge + " ", 401)
    try service.check(one, at: "stripe till", key: "", body: charge, 401)
    try service.check(one, at: "stripe till", query: "?a=1&a=1", body: charge, 400, "parameter_invalid")
    for path in ["stripe other", "square till", "nobody till"] {
      try service.check(one, at: path, body: charge, 404, "not_found")
    }
    let large = try service.service.connect()
    try large.send("POST", "/v1/providers/stripe/till", headers: ["Content-Length: 1048577"])
    try service.record(try large.receiveAnswer(hasBody: true), one, 413, "payload_too_large")

    let test = #"{"evento":"teste_webhook"}"#
    try service.check(two, at: "mapping bank pix", query: "?token=a-secret-of-a-test", key: "", body: test, 200)
    try service.check(two, at: "mapping bank pix", query: "?token=another", key: "", body: test, 401)
    try service.check(two, at: "mapping bank other", query: "?token=a-secret-of-a-test", body: test, 404, "not_found")
    try service.check(two, at: "stripe till pix", body: charge, 404, "not_found")

    let list = try service.check("listProviderEndpoints", 200).json()["endpoints"]?.array
    let till = list?.first { $0["id"] == .string("till") }
    #expect(till?["counts"]?["accepted"] == .number(1) && till?["counts"]?["duplicate"] == .number(2))
    #expect(till?["payments"]?.array?.count == 1 && till?["signed"] == .boolean(true))
    #expect(list?.first { $0["id"] == .string("bank") }?["signed"] == .boolean(false))
    try service.checkRefusals("listProviderEndpoints")
  }

  @Test("an endpoint whose provider signs nothing accepts requests only from the proxies")
  func unsigned() throws {
    let crier = try Command()
    defer { crier.remove() }
    try settings(crier)
    // This machine is a proxy by default.
    try write("proxies: 192.0.2.1\n", to: "crier.yaml", of: crier)
    let service = try Conformity(crier)
    let (query, test) = ("?token=a-secret-of-a-test", #"{"evento":"teste_webhook"}"#)
    // A header that names another address proves nothing.
    for headers in [[], ["X-Forwarded-For: 192.0.2.1"]] {
      try service.check(
        "receiveProviderWebhook", at: "mapping bank", query: query, key: "", headers: headers, body: test, 403,
        "not_encrypted")
      try service.check(
        "receiveProviderWebhookWithSuffix", at: "mapping bank pix", query: query, key: "", headers: headers, body: test,
        403, "not_encrypted")
    }
    let event = #"{"object":"event","type":"customer.created"}"#
    try service.check(
      "receiveProviderWebhook", at: "stripe till", key: "", headers: [signature(of: event)], body: event, 200)
  }

  @Test("if the settings for providers cannot be used at the start, a webhook is refused with 503")
  func unusable() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("endpoints: [{id: till}]\n", to: "providers.yaml", of: crier)
    let service = try Conformity(crier)
    try service.check("receiveProviderWebhook", at: "stripe till", key: "", body: "{}", 503, "providers_unavailable")
    let list = try service.check("listProviderEndpoints", 200).json()
    #expect(list["problem"]?.string?.contains("providers.yaml:1") == true)
    let other = try service.check("listProviderEndpoints", key: service.keys["read"], 200).json()["problem"]?.string
    #expect(other?.contains("yaml") == false)
    let ready = try service.check("readiness", key: "", 200).json()
    #expect(ready["checks"]?["providers"]?["code"] == .string("settings_invalid"))
  }
}
