// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import Testing

@Suite("Razorpay")
struct RazorpayProviderTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)
  private let endpoint = ProviderEndpoint.keyed(.razorpay, secrets: ["present", "former"])

  private func event(
    _ type: String, _ entity: String = "payment", id: String = "pay_1", amount: String = "12500",
    currency: String = "INR", notes: String = "[]"
  ) -> String {
    """
    {"entity":"event","account_id":"acc_1","event":"\(type)","contains":["\(entity)"],"created_at":1699999990,
     "payload":{"\(entity)":{"entity":{"id":"\(id)","amount":\(amount),"currency":"\(currency)","notes":\(notes)}}}}
    """
  }

  private func signed(_ body: String, secret: String = "present") -> ProviderRequest {
    ProviderRequest(RazorpayProvider.headers(signing: Data(body.utf8), with: ProviderSecret(secret)), body)
  }

  private func outcome(_ body: String) throws -> ProviderOutcome {
    let judgement = endpoint.judge(signed(body), at: now)
    #expect(judgement.rejection == nil && judgement.outcomes.count == 1 && judgement.signedAt == nil)
    return try #require(judgement.outcomes.first)
  }

  private func rejection(_ request: ProviderRequest) -> ProviderRejection.Code? {
    endpoint.judge(request, at: now).rejection?.code
  }

  @Test("a captured payment counts as received")
  func received() throws {
    let payment = try #require(try outcome(event("payment.captured")).payment)
    #expect(payment.id == "pay_1" && payment.kind == .received && payment.sum == "12500 INR")
    #expect(payment.merchant == "acc_1" && payment.occurredAt == Date(timeIntervalSince1970: 1_699_999_990))
    #expect(payment.isLive == nil)
  }

  @Test("the signature equals the HMAC that another implementation computes")
  func known() {
    // printf '{}' | openssl dgst -sha256 -hmac present
    #expect(signed("{}").headers.map(\.value) == ["636b54ef2c37a747951adc605b26cbc6a7943af411909f770a2273cfac1ffc09"])
  }

  @Test("a change of any byte of the body invalidates the signature")
  func changed() {
    for request in changedBodies(of: signed(event("payment.captured"))) {
      #expect(rejection(request) == .signatureInvalid)
    }
  }

  @Test(
    "a retry that was signed with the former secret is accepted, and a request signed with a third secret is refused")
  func formerSecret() {
    #expect(rejection(signed("{}", secret: "former")) == nil)
    #expect(rejection(signed("{}", secret: "other")) == .signatureInvalid)
  }

  @Test("a signature in capitals, with spaces, in base64 or cut short is refused")
  func encodings() throws {
    let request = signed("{}")
    let value = try #require(request.headers.first?.value)
    let bytes = try #require(SignatureEncoding.hex.bytes(of: value))
    for wrong in [
      value.uppercased(), value + " ", String(value.dropLast(2)), bytes.base64EncodedString(), "zz", value + "00",
    ] {
      #expect(rejection(request.with("X-Razorpay-Signature", wrong)) == .signatureInvalid)
    }
  }

  @Test("an empty signature counts as missing, and a signature header that occurs twice is refused")
  func headers() throws {
    let request = signed("{}")
    #expect(rejection(request.with("X-Razorpay-Signature", nil)) == .signatureMissing)
    #expect(rejection(request.with("X-Razorpay-Signature", "")) == .signatureMissing)
    let value = try #require(request.headers.first?.value)
    #expect(rejection(request.adding("x-razorpay-signature", value)) == .headerRepeated)
    #expect(rejection(request.with("X-Razorpay-Signature", nil).adding("x-razorpay-signature", value)) == nil)
  }

  @Test("the unsigned header with the event's id may occur twice, and does not change the payment's id")
  func eventID() throws {
    let request = signed(event("payment.captured")).adding("x-razorpay-event-id", "a").adding(
      "x-razorpay-event-id", "b")
    #expect(endpoint.judge(request, at: now).payments.map(\.id) == ["pay_1"])
  }

  @Test("a body whose JSON is spelled in another way is refused, because the signature covers the bytes")
  func spelling() {
    var request = signed(#"{"a": 1}"#)
    request.body = Data(#"{"a":1}"#.utf8)
    #expect(rejection(request) == .signatureInvalid)
  }

  @Test("a failed payment has an id of its own, because the same payment may be captured later")
  func failed() throws {
    let payment = try #require(try outcome(event("payment.failed")).payment)
    #expect(payment.id == "pay_1/failed" && payment.kind == .failed && payment.reference == "pay_1")
  }

  @Test("a processed refund is a refunded payment with the refund's id")
  func refunded() throws {
    let payment = try #require(try outcome(event("refund.processed", "refund", id: "rfnd_1", amount: "300")).payment)
    #expect(payment.id == "rfnd_1" && payment.kind == .refunded && payment.sum == "300 INR")
  }

  @Test(
    "events that move no money, or that repeat what another event says, are ignored",
    arguments: [
      "payment.authorized", "order.paid", "qr_code.credited", "refund.created", "refund.failed", "refund.speed_changed",
      "invoice.paid", "payment.dispute.created", "settlement.processed",
    ])
  func ignored(type: String) throws {
    #expect(try outcome(event(type)).ignoredReason?.hasPrefix(type) == true)
    #expect(try outcome(event(type, "refund", id: "rfnd_1")).ignoredReason != nil)
  }

  @Test("notes may be an empty list, an object or null", arguments: ["[]", "{}", #"{"order":"7"}"#, "null"])
  func notes(notes: String) throws {
    #expect(try outcome(event("payment.captured", notes: notes)).payment?.id == "pay_1")
  }

  @Test(
    "sums are in Razorpay's minor units",
    arguments: [("100", "INR", "100 INR"), ("100", "JPY", "100 JPY"), ("5120", "KWD", "5120 KWD")])
  func sums(amount: String, currency: String, sum: String) throws {
    #expect(try outcome(event("payment.captured", amount: amount, currency: currency)).payment?.sum == sum)
  }

  @Test(
    "an unclear sum is refused",
    arguments: [
      ("5125", "KWD"), ("1", "OMR"), ("1.5", "INR"), ("-1", "INR"), ("null", "INR"), ("{}", "INR"), ("1", "BTC"),
    ])
  func unclear(amount: String, currency: String) throws {
    #expect(try outcome(event("payment.captured", amount: amount, currency: currency)).refusedReason != nil)
  }

  @Test("a sum of zero is ignored")
  func zero() throws {
    #expect(try outcome(event("payment.captured", amount: "0")).ignoredReason != nil)
  }

  @Test("a payment without an id or without the payment entity is refused")
  func incomplete() throws {
    #expect(try outcome(event("payment.captured", id: "")).refusedReason != nil)
    #expect(try outcome(event("payment.captured", "order")).refusedReason != nil)
    #expect(try outcome(#"{"event":"payment.captured","payload":[]}"#).refusedReason != nil)
  }

  @Test(
    "a correctly signed body that is not strict JSON is refused, and answered with 200",
    arguments: ["", #"{"a":"\udc00"}"#])
  func notStrict(body: String) {
    let judgement = endpoint.judge(signed(body), at: now)
    #expect(judgement.outcomes.first?.refusedReason != nil && endpoint.answer(to: judgement.verdict).status == 200)
  }

  @Test("a message without an event is ignored", arguments: ["{}", "[]", #"{"event":7}"#, #"{"event":null}"#])
  func noEvent(body: String) throws { #expect(try outcome(body).payment == nil) }

  @Test("an endpoint that names merchants ignores the payments of other accounts")
  func merchants() {
    var endpoint = endpoint
    endpoint.merchants = ["acc_2"]
    #expect(endpoint.judge(signed(event("payment.captured")), at: now).outcomes.first?.ignoredReason != nil)
    endpoint.merchants = ["acc_1", "acc_2"]
    #expect(endpoint.judge(signed(event("payment.captured")), at: now).payments.count == 1)
  }

  @Test("a sample is accepted as a payment by its endpoint")
  func sample() throws {
    var endpoint = endpoint
    endpoint.merchants = ["acc_9"]
    let judgement = endpoint.judge(
      try #require(RazorpayProvider().sample(id: "abc", for: endpoint, at: now)), at: now)
    #expect(judgement.payments.map(\.id) == ["pay_abc"] && judgement.payments.map(\.sum) == ["100 INR"])
  }
}
