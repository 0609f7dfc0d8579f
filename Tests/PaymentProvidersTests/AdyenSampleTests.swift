// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import Testing

@Suite("Samples of Adyen's webhooks")
struct AdyenSampleTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)
  private let secret = String(repeating: "0a", count: 32)

  @Test("a sample is accepted as a payment by its endpoint", arguments: [true, false], [true, false])
  func sample(isLive: Bool, awaitsCapture: Bool) throws {
    let endpoint = ProviderEndpoint.keyed(.adyen, secrets: [secret]) {
      ($0.isLive, $0.awaitsCapture, $0.merchants) = (isLive, awaitsCapture, ["ShopB", "ShopA"])
    }
    let judgement = endpoint.judge(try #require(AdyenProvider().sample(id: "abc", for: endpoint, at: now)), at: now)
    #expect(judgement.payments.map(\.id) == [isLive ? "abc" : "test_abc"])
    #expect(judgement.payments.map(\.sum) == ["100 EUR"] && judgement.payments.map(\.merchant) == ["ShopA"])
  }

  @Test("the signature equals the HMAC that another implementation computes")
  func known() {
    // printf 'a::b:c:100:EUR:AUTHORISATION:true' | openssl dgst -sha256 -mac hmac -macopt hexkey:0a…0a (32 times) -binary
    let fields = ["a", "", "b", "c", "100", "EUR", "AUTHORISATION", "true"]
    #expect(
      AdyenProvider.signature(of: fields, with: ProviderSecret(secret))
        == "N8X1YT4oho9Ry2gLYKAHkGbzqEKaghRPqBZiK2G4atE=")
    #expect(AdyenProvider.signature(of: fields, with: ProviderSecret("no")) == nil)
  }
}
