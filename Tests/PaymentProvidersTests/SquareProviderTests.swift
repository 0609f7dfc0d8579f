// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import Testing

@Suite("Square")
struct SquareProviderTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)
  private static let url = "https://shop.example/v1/providers/square/till"
  private let endpoint = ProviderEndpoint.keyed(.square, secrets: ["present", "former"]) { $0.url = url }

  private func event(
    _ type: String, status: String = "COMPLETED", total: String = "1200", currency: String = "USD", more: String = ""
  ) -> String {
    """
    {"merchant_id":"M1","type":"\(type)","event_id":"e","created_at":"2023-11-14T22:13:10.5Z",
     "data":{"type":"payment","id":"p1","object":{"payment":{"id":"p1","status":"\(status)",
      "amount_money":{"amount":1000,"currency":"USD"},"tip_money":{"amount":200,"currency":"USD"},
      "total_money":{"amount":\(total),"currency":"\(currency)"},"created_at":"2023-11-14T22:00:00Z"\(more)}}}}
    """
  }

  private func refund(_ type: String, status: String = "COMPLETED", more: String = "") -> String {
    """
    {"merchant_id":"M1","type":"\(type)","event_id":"e","created_at":"2023-11-14T22:13:10Z",
     "data":{"type":"refund","id":"p1_r1","object":{"refund":{"id":"p1_r1","status":"\(status)",
      "amount_money":{"amount":300,"currency":"USD"},"payment_id":"p1"\(more)}}}}
    """
  }

  private func signed(_ body: String, secret: String = "present", url: String = url) -> ProviderRequest {
    ProviderRequest(SquareProvider.headers(signing: Data(body.utf8), url: url, with: ProviderSecret(secret)), body)
  }

  private func outcome(_ body: String, _ endpoint: ProviderEndpoint? = nil) throws -> ProviderOutcome {
    let judgement = (endpoint ?? self.endpoint).judge(signed(body), at: now)
    #expect(judgement.rejection == nil && judgement.outcomes.count == 1 && judgement.signedAt == nil)
    return try #require(judgement.outcomes.first)
  }

  private func rejection(_ request: ProviderRequest) -> ProviderRejection.Code? {
    endpoint.judge(request, at: now).rejection?.code
  }

  @Test(
    "a completed payment counts as received, with its total, which includes the tip",
    arguments: ["payment.created", "payment.updated"])
  func received(type: String) throws {
    let payment = try #require(try outcome(event(type)).payment)
    #expect(payment.id == "p1" && payment.kind == .received && payment.sum == "1200 USD" && payment.merchant == "M1")
    #expect(payment.isLive == nil)
  }

  @Test("the signature equals the HMAC that another implementation computes")
  func known() {
    // printf '%s{}' https://shop.example/v1/providers/square/till | openssl dgst -sha256 -hmac present -binary | base64
    #expect(signed("{}").headers.map(\.value) == ["EZ2bQXaR6FsbU1Gh+HxrP53aq4fMwGurreNXuFS5x4E="])
  }

  @Test("a change of any byte of the body invalidates the signature")
  func changed() {
    for request in changedBodies(of: signed(event("payment.updated"))) {
      #expect(rejection(request) == .signatureInvalid)
    }
  }

  @Test(
    "a request that was signed for another spelling of the URL is refused, and the error suggests the key 'url'",
    arguments: ["https://shop.example/v1/providers/square/till/", "http://shop.example/v1/providers/square/till", ""])
  func otherURL(url: String) {
    let rejection = endpoint.judge(signed("{}", url: url), at: now).rejection
    #expect(rejection?.code == .signatureInvalid && rejection?.message.contains("url") == true)
  }

  @Test("a signature by either of two secrets is accepted, and a signature by a third secret is refused")
  func secrets() {
    #expect(rejection(signed("{}", secret: "former")) == nil)
    #expect(rejection(signed("{}", secret: "other")) == .signatureInvalid)
  }

  @Test("a signature header that is missing or occurs twice is refused, and the old SHA-1 header is not read")
  func headers() throws {
    let request = signed("{}")
    let name = try #require(request.headers.first?.name)
    let value = try #require(request.headers.first?.value)
    #expect(rejection(request.with(name, nil)) == .signatureMissing)
    #expect(rejection(request.with(name, nil).adding("x-square-signature", value)) == .signatureMissing)
    #expect(rejection(request.adding(name.uppercased(), value)) == .headerRepeated)
    #expect(rejection(request.adding("x-square-signature", "x").adding("x-square-signature", "y")) == nil)
    for wrong in [value + " ", String(value.dropLast()), "1z2n3DEJJiUPKcPzQo1ftvbxGdw=", "*"] {
      #expect(rejection(request.with(name, wrong)) == .signatureInvalid)
    }
  }

  @Test(
    "a payment that is neither completed nor failed is ignored, and the reason names its state",
    arguments: ["APPROVED", "PENDING", "CANCELED"])
  func states(status: String) throws {
    #expect(try outcome(event("payment.updated", status: status)).ignoredReason?.contains(status) == true)
  }

  @Test("a failed payment has an id of its own")
  func failed() throws {
    let payment = try #require(try outcome(event("payment.updated", status: "FAILED")).payment)
    #expect(payment.id == "p1/failed" && payment.kind == .failed && payment.reference == "p1")
  }

  @Test(
    "a completed refund is a refunded payment with the refund's id",
    arguments: ["refund.created", "refund.updated"])
  func refunded(type: String) throws {
    let payment = try #require(try outcome(refund(type)).payment)
    #expect(payment.id == "p1_r1" && payment.kind == .refunded && payment.sum == "300 USD")
    for status in ["PENDING", "REJECTED", "FAILED"] {
      #expect(try outcome(refund(type, status: status)).ignoredReason != nil)
    }
  }

  @Test("entries of the till are ignored, unless the endpoint asks for them", arguments: ["CASH", "EXTERNAL"])
  func till(type: String) throws {
    let payment = event("payment.created", more: #","source_type":"\#(type)""#)
    let refund = refund("refund.updated", more: #","destination_type":"\#(type)""#)
    #expect(try outcome(payment).ignoredReason != nil && outcome(refund).ignoredReason != nil)
    var endpoint = endpoint
    endpoint.takesTillEntries = true
    #expect(try outcome(payment, endpoint).payment != nil && outcome(refund, endpoint).payment != nil)
  }

  @Test(
    "a payment by card, wallet or bank account is not an entry of the till",
    arguments: ["CARD", "WALLET", "BANK_ACCOUNT"])
  func sources(type: String) throws {
    #expect(try outcome(event("payment.created", more: #","source_type":"\#(type)""#)).payment != nil)
  }

  @Test("the time of a payment is that of its capture, or else of its creation, or else of the event")
  func age() throws {
    func time(_ body: String) throws -> Date? { try outcome(body).payment?.occurredAt }
    let captured = #","card_details":{"card_payment_timeline":{"captured_at":"2023-11-14T22:10:00Z"}}"#
    #expect(try time(event("payment.updated", more: captured)) == Date(timeIntervalSince1970: 1_699_999_800))
    #expect(try time(event("payment.updated")) == Date(timeIntervalSince1970: 1_699_999_200))
    let bare = event("payment.updated").replacing(#","created_at":"2023-11-14T22:00:00Z""#, with: "")
    #expect(try time(bare) == Date(timeIntervalSince1970: 1_699_999_990.5))
  }

  @Test(
    "events and messages of other types are ignored",
    arguments: ["webhooks.test_notification", "invoice.payment_made", "order.updated"])
  func others(type: String) throws {
    #expect(try outcome(#"{"type":"\#(type)","data":{}}"#).ignoredReason == type)
    #expect(try outcome(#"{"data":{"type":"webhooks"}}"#).ignoredReason != nil)
  }

  @Test("a sum in yen is read without decimal places")
  func yen() throws {
    #expect(try outcome(event("payment.updated", total: "500", currency: "JPY")).payment?.sum == "500 JPY")
  }

  @Test(
    "an unclear sum is refused", arguments: [("1.5", "USD"), ("-1", "USD"), ("null", "USD"), ("1", "ZZZ")])
  func unclear(total: String, currency: String) throws {
    #expect(try outcome(event("payment.updated", total: total, currency: currency)).refusedReason != nil)
  }

  @Test("a payment without a total is refused, even if it has other sums")
  func noTotal() throws {
    let body = event("payment.updated").replacing("total_money", with: "approved_money")
    #expect(try outcome(body).refusedReason != nil)
    #expect(try outcome(#"{"type":"payment.updated","data":{"object":{}}}"#).refusedReason != nil)
    #expect(try outcome(#"{"type":"refund.updated","data":[]}"#).refusedReason != nil)
  }

  @Test(
    "a correctly signed body that is not strict JSON is refused, and answered with 200",
    arguments: ["", #"{"a":"\udc00"}"#])
  func notStrict(body: String) {
    let judgement = endpoint.judge(signed(body), at: now)
    #expect(judgement.outcomes.first?.refusedReason != nil && endpoint.answer(to: judgement.verdict).status == 200)
  }

  @Test("an endpoint that names merchants ignores the payments of other merchants")
  func merchants() throws {
    var endpoint = endpoint
    endpoint.merchants = ["M2"]
    #expect(try outcome(event("payment.updated"), endpoint).ignoredReason != nil)
    endpoint.merchants = ["M1"]
    #expect(try outcome(event("payment.updated"), endpoint).payment != nil)
  }

  @Test("a sample is accepted as a payment by its endpoint, and an endpoint without the key 'url' has no sample")
  func sample() throws {
    let judgement = endpoint.judge(try #require(SquareProvider().sample(id: "abc", for: endpoint, at: now)), at: now)
    #expect(judgement.payments.map(\.id) == ["abc"] && judgement.payments.map(\.sum) == ["100 USD"])
    var endpoint = endpoint
    endpoint.url = nil
    #expect(SquareProvider().sample(id: "abc", for: endpoint, at: now) == nil)
  }
}
