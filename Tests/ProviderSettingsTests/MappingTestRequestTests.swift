// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings
import Testing

@Suite("Test requests of mapping files")
struct MappingTestRequestTests {
  @Test(
    "a test request is signed with the endpoint's secret, and each test request is a new payment",
    arguments: ShippedMappings.names.filter { $0 != "woovi" })
  func request(name: String) throws {
    var endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
    endpoint.mapping = try ShippedMappings.file(name).mapping
    endpoint.secrets = [ProviderSecret("c2VjcmV0IG9mIHRoZSB0ZXN0cw==")]
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let request = try #require(MappingProvider().sample(id: "crier-test-1", for: endpoint, at: now))
    let payment = try #require(endpoint.judge(request, at: now).payments.first)
    let later = now.addingTimeInterval(1)
    let next = try #require(MappingProvider().sample(id: "crier-test-2", for: endpoint, at: later))
    #expect(endpoint.judge(next, at: later).payments.first?.identity != payment.identity)
    if endpoint.mapping?.payment.time != nil, let occurred = payment.occurredAt {
      #expect(abs(occurred.timeIntervalSince(now)) < 1)
    }
    endpoint.secrets = [ProviderSecret("YW5vdGhlcg==")]
    #expect(!endpoint.judge(request, at: now).isVerified)
  }

  @Test("a token in the query of a test request is percent-encoded, except letters, digits and the characters -._~")
  func query() throws {
    let endpoint = try MappingTexts.endpoint("{scheme: url, query: token}")
    let request = ProviderRequest(headers: [], body: Data(MappingTexts.body.utf8), query: "x=1")
    let secret = ProviderSecret("AZaz09-._~ &/é")
    let signed = endpoint.mapping?.signed(request, with: secret, at: MappingTexts.now)
    #expect(signed?.query == "x=1&token=AZaz09-._~%20%26%2F%C3%A9")
  }

  @Test("an endpoint without a mapping file, or with a provider's public key, cannot make a test request")
  func none() throws {
    var endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
    #expect(MappingProvider().sample(id: "x", for: endpoint, at: .now) == nil)
    endpoint.mapping = try ShippedMappings.file("woovi").mapping
    #expect(MappingProvider().sample(id: "x", for: endpoint, at: .now) == nil)
  }

  @Test("a test request for an endpoint of test payments gives a test payment")
  func live() throws {
    var endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
    endpoint.mapping = try ShippedMappings.file("shopify").mapping
    endpoint.secrets = [ProviderSecret("x")]
    endpoint.isLive = false
    let request = try #require(MappingProvider().sample(id: "x", for: endpoint, at: .now))
    #expect(endpoint.judge(request, at: .now).payments.first?.isLive == false)
  }
}
