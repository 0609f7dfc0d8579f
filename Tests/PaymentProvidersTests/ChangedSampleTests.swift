// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import TestSupport
import Testing

@Suite("Changed samples")
struct ChangedSampleTests {
  private static let now = Date(timeIntervalSince1970: 1_700_000_000)
  private static let secret = "whsec_" + Data(repeating: 1, count: 32).base64EncodedString()
  private static let providers: [ProviderName] = [.stripe, .razorpay, .square, .standardWebhooks]
  /// Texts that may mean something to a provider or to a reader of JSON.
  private static let texts = [
    "{", "}", "[]", ",", ":", "null", "0", "-1", "1e9", "99999999999999999999", "\"\\ud83d\"", "\u{FEFF}",
    "\"amount\":1,",
    "\"currency\":\"KWD\",", "payment.failed", "refund.processed", "charge.failed", "v1=", "t=1,", "v1,", " ",
    "[[[[[[[[",
  ]

  private func endpoint(_ provider: ProviderName) -> ProviderEndpoint {
    .keyed(provider, secrets: [Self.secret]) { $0.url = "https://shop.example/x" }
  }

  private func headers(_ provider: ProviderName, _ body: Data) -> [(name: String, value: String)] {
    let secret = ProviderSecret(Self.secret)
    return switch provider {
    case .stripe: StripeProvider.headers(signing: body, with: secret, at: Self.now)
    case .razorpay: RazorpayProvider.headers(signing: body, with: secret)
    case .square: SquareProvider.headers(signing: body, url: "https://shop.example/x", with: secret)
    default: StandardWebhooksProvider.headers(signing: body, id: "msg_1", with: secret, at: Self.now) ?? []
    }
  }

  @Test("a sample of a provider that is changed is rejected, or has the outcomes of the original", arguments: providers)
  func changed(provider: ProviderName) throws {
    let endpoint = endpoint(provider)
    let sample = try #require(provider.provider.sample(id: "abc", for: endpoint, at: Self.now))
    let outcomes = endpoint.judge(sample, at: Self.now).outcomes
    #expect(outcomes.first?.payment != nil)
    var changes = ChangedRequests(of: sample, texts: Self.texts, seed: 11)
    var rejected = 0
    for _ in 0..<1_000 {
      let judgement = endpoint.judge(changes.next(), at: Self.now)
      if judgement.isVerified { #expect(judgement.outcomes == outcomes) } else { rejected += 1 }
    }
    #expect(rejected > 700)
  }

  @Test(
    "a sample with a changed body and a valid signature is read or refused, and answered with success either way",
    arguments: providers)
  func signed(provider: ProviderName) throws {
    let endpoint = endpoint(provider)
    let sample = try #require(provider.provider.sample(id: "abc", for: endpoint, at: Self.now))
    var changes = ChangedRequests(of: sample, texts: Self.texts, seed: 12)
    for _ in 0..<1_000 {
      let body = changes.next().body
      let judgement = endpoint.judge(ProviderRequest(headers: headers(provider, body), body: body), at: Self.now)
      #expect(judgement.isVerified && judgement.verdict == .accepted && judgement.outcomes.count == 1)
      for payment in judgement.payments { #expect(payment.amount.minorUnits > 0) }
    }
  }
}
