// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The service conforms to /openapi.json: payment providers", .timeLimit(.minutes(10)))
struct OpenAPIProviderTests {
  @Test("the answers to the test of an endpoint for a provider's webhooks conform to /openapi.json")
  func test() throws {
    let crier = try Command()
    defer { crier.remove() }
    // With a public key, only the provider can sign.
    let publicKey = "whpk_" + Data(repeating: 7, count: 32).base64EncodedString()
    let settings = """
      endpoints:
        - {id: till, provider: stripe, account: default, secrets: [whsec_of_a_test], locale: en-US}
        - {id: refunds, provider: stripe, account: default, secrets: [whsec_of_a_test], kinds: [refunded]}
        - {id: counter, provider: standard-webhooks, account: default, secrets: ["\(publicKey)"]}
      """
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    let file = crier.home.appending(path: "providers.yaml")
    try Data(settings.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let service = try Conformity(crier)
    let answer = try service.check("testProviderEndpoint", at: "till", 200).json()
    #expect(answer["outcome"] == .string("accepted") && answer["id"]?.string?.contains("crier-test-") == true)
    let ignored = try service.check("testProviderEndpoint", at: "refunds", key: service.keys["announce"], 200).json()
    #expect(ignored["outcome"] == .string("ignored") && ignored["id"] == .null)
    try service.check("testProviderEndpoint", at: "counter", 409, "provider_test_unavailable")
    try service.check("testProviderEndpoint", at: "nobody", 404, "not_found")
    try service.checkRefusals("testProviderEndpoint", "till")
  }
}
