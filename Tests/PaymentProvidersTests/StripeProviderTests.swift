// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import Testing

@Suite("Stripe")
struct StripeProviderTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)
  private let endpoint = ProviderEndpoint.keyed(.stripe, secrets: ["whsec_first", "whsec_second"])

  private func event(
    _ type: String, _ object: String, livemode: String = "true", more: String = ""
  ) -> String {
    """
    {"id":"evt_1","object":"event","type":"\(type)","created":1699999990,"livemode":\(livemode)\(more),
     "data":{"object":{\(object)}}}
    """
  }

  private func charge(_ amount: String = "1250", _ currency: String = "usd", more: String = "") -> String {
    """
    "id":"ch_1","object":"charge","payment_intent":"pi_1","amount":\(amount),"amount_captured":\(amount),
    "currency":"\(currency)","captured":true\(more)
    """
  }

  private func signed(_ body: String, secret: String = "whsec_first", at time: Date? = nil) -> ProviderRequest {
    ProviderRequest(
      StripeProvider.headers(signing: Data(body.utf8), with: ProviderSecret(secret), at: time ?? now), body)
  }

  private func outcome(_ body: String, _ endpoint: ProviderEndpoint? = nil) throws -> ProviderOutcome {
    let judgement = (endpoint ?? self.endpoint).judge(signed(body), at: now)
    #expect(judgement.rejection == nil && judgement.outcomes.count == 1)
    return try #require(judgement.outcomes.first)
  }

  private func rejection(_ request: ProviderRequest, at time: Date? = nil) -> ProviderRejection.Code? {
    endpoint.judge(request, at: time ?? now).rejection?.code
  }

  // MARK: Signatures

  @Test("a charge that was captured is a received payment with the id of its payment intent")
  func received() throws {
    let payment = try #require(try outcome(event("charge.succeeded", charge())).payment)
    #expect(payment.id == "pi_1" && payment.kind == .received && payment.sum == "1250 USD" && payment.isLive == true)
    #expect(payment.occurredAt == Date(timeIntervalSince1970: 1_699_999_990))
  }

  @Test("the signature equals the HMAC that another implementation computes")
  func known() throws {
    let headers = StripeProvider.headers(
      signing: Data("{}".utf8), with: ProviderSecret("whsec_test"), at: Date(timeIntervalSince1970: 1_700_000_000))
    // printf '1700000000.{}' | openssl dgst -sha256 -hmac whsec_test
    #expect(headers.map(\.name) == ["Stripe-Signature"])
    #expect(
      headers.map(\.value) == ["t=1700000000,v1=35495024f4ef3f94e5a93e22221544c4b75e9a42300cd965ab81cb85cd994e91"])
  }

  @Test("a change of any byte of the body invalidates the signature")
  func changed() {
    let request = signed(event("charge.succeeded", charge()))
    for request in changedBodies(of: request) { #expect(rejection(request) == .signatureInvalid) }
  }

  @Test(
    "a signature by either of two secrets is accepted, and a signature by a third secret is refused",
    arguments: ["whsec_first", "whsec_second"])
  func twoSecrets(secret: String) {
    let body = event("charge.succeeded", charge())
    #expect(rejection(signed(body, secret: secret)) == nil)
    #expect(rejection(signed(body, secret: "whsec_third")) == .signatureInvalid)
  }

  @Test("the signature's key is the whole text of the secret, and not its decoded base64")
  func wholeSecret() {
    let secret = "whsec_" + Data(repeating: 7, count: 24).base64EncodedString()
    let endpoint = ProviderEndpoint.keyed(.stripe, secrets: [secret])
    #expect(endpoint.judge(signed("{}", secret: secret), at: now).isVerified)
    let decoded = SignatureChecks.code(of: Data("1700000000.{}".utf8), key: Data(repeating: 7, count: 24), .sha256)
    let request = ProviderRequest(
      [("Stripe-Signature", "t=1700000000,v1=\(SignatureEncoding.hex.text(of: decoded))")], "{}")
    #expect(endpoint.judge(request, at: now).rejection?.code == .signatureInvalid)
  }

  @Test("one valid v1 signature among several is enough, in any order")
  func severalCodes() throws {
    let request = signed(event("charge.succeeded", charge()))
    let parts = try #require(request.headers.first?.value).split(separator: ",").map(String.init)
    let wrong = "v1=" + String(repeating: "ab", count: 32)
    for value in [
      [parts[0], wrong, parts[1]], [parts[1], wrong, parts[0]], ["v1=zz", "v1=", "x", parts[0], parts[1]],
    ] {
      #expect(rejection(request.with("Stripe-Signature", value.joined(separator: ","))) == nil, "\(value)")
    }
  }

  @Test("a valid signature under the name 'v0' is refused")
  func versionZero() throws {
    let request = signed(event("charge.succeeded", charge()))
    let value = try #require(request.headers.first?.value).replacing("v1=", with: "v0=")
    #expect(rejection(request.with("Stripe-Signature", value)) == .signatureInvalid)
  }

  @Test("the name of the signature header may have any letter case")
  func headerCase() throws {
    let request = signed(event("charge.succeeded", charge()))
    let value = try #require(request.headers.first?.value)
    #expect(rejection(request.with("Stripe-Signature", nil).adding("STRIPE-SIGNATURE", value)) == nil)
  }

  @Test(
    "a signature header that is missing, empty or without a time is refused", arguments: [nil, "", "v1=00", "t=,v1=00"])
  func missing(value: String?) {
    let code = rejection(signed("{}").with("Stripe-Signature", value))
    #expect(code == .signatureMissing || code == .signatureInvalid)
  }

  @Test("a signature header that occurs twice is refused, even if both signatures are valid")
  func headerTwice() throws {
    let request = signed("{}")
    #expect(
      rejection(request.adding("stripe-signature", try #require(request.headers.first?.value))) == .headerRepeated)
  }

  @Test("a signature header with two times is refused", arguments: ["t=1700000000,", "t=1,", "t=,"])
  func timeTwice(more: String) throws {
    let request = signed("{}")
    let value = try #require(request.headers.first?.value)
    for value in [more + value, value + "," + more] {
      #expect(rejection(request.with("Stripe-Signature", value)) == .headerRepeated)
    }
  }

  @Test("a time more than 300 seconds before or after the clock is refused", arguments: [-301.0, 301])
  func stale(offset: TimeInterval) {
    let request = signed("{}")
    #expect(rejection(request, at: now.addingTimeInterval(offset)) == .timestampOutsideWindow)
    #expect(rejection(request, at: now.addingTimeInterval(offset > 0 ? 300 : -300)) == nil)
  }

  @Test("a wrong signature is reported before a stale time, so that a stranger learns nothing about the clock")
  func signatureFirst() {
    #expect(rejection(signed("{}", secret: "other"), at: now.addingTimeInterval(9_999)) == .signatureInvalid)
  }

  // MARK: Events

  @Test("a charge that is not captured yet is ignored, and its capture is the payment")
  func capture() throws {
    let open = charge().replacing("true", with: "false")
    #expect(try outcome(event("charge.succeeded", open)).ignoredReason != nil)
    let captured = charge("5000").replacing(#""amount_captured":5000"#, with: #""amount_captured":4000"#)
    #expect(try outcome(event("charge.captured", captured)).payment?.sum == "4000 USD")
  }

  @Test("a further capture is refused, because its event has only the sum of all captures")
  func multicapture() throws {
    let body = event("charge.captured", charge())
    let further = body.replacing(#""data":{"#, with: #""data":{"previous_attributes":{"amount_captured":500},"#)
    #expect(try outcome(further).refusedReason != nil)
    let first = body.replacing(#""data":{"#, with: #""data":{"previous_attributes":{"amount_captured":0},"#)
    #expect(try outcome(first).payment?.id == "pi_1")
  }

  @Test("a charge without a payment intent has its own id")
  func noIntent() throws {
    let old = charge().replacing(#""payment_intent":"pi_1""#, with: #""payment_intent":null"#)
    #expect(try outcome(event("charge.succeeded", old)).payment?.id == "ch_1")
  }

  @Test("a failed charge has an id of its own, and refers to the payment that may still succeed")
  func failed() throws {
    let payment = try #require(try outcome(event("charge.failed", charge())).payment)
    #expect(payment.id == "ch_1/failed" && payment.kind == .failed && payment.reference == "pi_1")
  }

  @Test(
    "a successful refund has one id in all of its events, and a refund in another state is ignored",
    arguments: ["refund.created", "refund.updated", "charge.refund.updated"])
  func refunded(type: String) throws {
    let refund = #""id":"re_1","object":"refund","amount":300,"currency":"eur","payment_intent":"pi_1","status":"#
    let payment = try #require(try outcome(event(type, refund + #""succeeded""#)).payment)
    #expect(payment.id == "re_1" && payment.kind == .refunded && payment.sum == "300 EUR")
    for status in ["pending", "failed", "canceled", "requires_action"] {
      #expect(try outcome(event(type, refund + "\"\(status)\"")).ignoredReason != nil)
    }
  }

  @Test("charge.refunded is ignored, because it has only the sum of all refunds")
  func cumulative() throws {
    #expect(try outcome(event("charge.refunded", charge(more: #","amount_refunded":300"#))).ignoredReason != nil)
  }

  @Test(
    "events of other types are ignored",
    arguments: ["payment_intent.succeeded", "checkout.session.completed", "charge.pending", "charge.updated", "ping"])
  func others(type: String) throws {
    #expect(try outcome(event(type, charge())).ignoredReason == type)
  }

  @Test("a thin event is ignored, because it has no sum")
  func thin() throws {
    let body = #"{"id":"evt_1","object":"v2.core.event","type":"v1.billing.meter.no_meter_found","livemode":true}"#
    #expect(try outcome(body).ignoredReason != nil)
  }

  // MARK: Sums

  @Test(
    "sums are in Stripe's minor units",
    arguments: [
      ("2000", "isk", "20 ISK"), ("2000", "ugx", "20 UGX"), ("20", "mga", "2000 MGA"), ("2000", "jpy", "2000 JPY"),
      ("5120", "kwd", "5120 KWD"), ("2000", "huf", "2000 HUF"), ("\"2000\"", "usd", "2000 USD"),
      ("2000.00", "usd", "2000 USD"), ("900719925474", "usd", "900719925474 USD"),
    ])
  func sums(amount: String, currency: String, sum: String) throws {
    #expect(try outcome(event("charge.succeeded", charge(amount, currency))).payment?.sum == sum)
  }

  @Test(
    "an unclear sum is refused",
    arguments: [
      ("2050", "isk"), ("2001", "ugx"), ("5125", "kwd"), ("5001", "bhd"), ("5000", "iqd"), ("5000", "lyd"),
      ("12.5", "usd"), ("-5", "usd"), ("1e3", "usd"), ("null", "usd"), ("true", "usd"), ("99999999999999999999", "usd"),
      ("9223372036854775807", "mga"), ("1", "zzz"), ("1", "xau"), ("1", ""),
    ])
  func unclear(amount: String, currency: String) throws {
    #expect(try outcome(event("charge.succeeded", charge(amount, currency))).refusedReason != nil)
  }

  @Test("a sum of zero is ignored")
  func zero() throws {
    #expect(try outcome(event("charge.succeeded", charge("0"))).ignoredReason != nil)
  }

  // MARK: Bodies

  @Test(
    "a correctly signed body that is not strict JSON is refused, and answered with 200",
    arguments: [
      #"{"object":"event","type":"charge.succeeded","data":{"object":{"id":"ch_1","note":"\ud83d"}}}"#,
      #"{"object":"event","object":"event","type":"x"}"#, "", "[", "\u{FEFF}{}", "{} {}",
    ])
  func loneSurrogate(body: String) {
    let judgement = endpoint.judge(signed(body), at: now)
    #expect(judgement.outcomes.count == 1 && judgement.outcomes.first?.refusedReason != nil)
    #expect(endpoint.answer(to: judgement.verdict).status == 200)
  }

  @Test(
    "a body of an unexpected shape is not a payment", arguments: ["{}", "[]", "null", #"{"type":"charge.failed"}"#])
  func shapes(body: String) throws {
    #expect(try outcome(body).payment == nil)
  }

  @Test(
    "an id that is empty, or has a space, a line break or another script, is refused",
    arguments: ["ch 1", "ch\\n1", "ch_é", ""])
  func ids(id: String) throws {
    let charge = charge().replacing(#""ch_1""#, with: "\"\(id)\"")
    #expect(try outcome(event("charge.succeeded", charge)).refusedReason == "The object has no id.")
  }

  // MARK: Filters

  @Test("a live endpoint ignores test payments, and a test endpoint ignores live payments", arguments: [true, false])
  func liveMode(isLive: Bool) throws {
    var endpoint = endpoint
    endpoint.isLive = isLive
    #expect(try outcome(event("charge.succeeded", charge(), livemode: "\(isLive)"), endpoint).payment != nil)
    #expect(try outcome(event("charge.succeeded", charge(), livemode: "\(!isLive)"), endpoint).ignoredReason != nil)
  }

  @Test("an endpoint that names merchants ignores the payments of other merchants and of the platform itself")
  func merchants() throws {
    var endpoint = endpoint
    endpoint.merchants = ["acct_1"]
    func body(_ account: String) -> String { event("charge.succeeded", charge(), more: account) }
    #expect(try outcome(body(#","account":"acct_1""#), endpoint).payment != nil)
    #expect(try outcome(body(#","account":"acct_2""#), endpoint).ignoredReason != nil)
    #expect(try outcome(body(""), endpoint).ignoredReason != nil)
    #expect(try outcome(body(#","account":"acct_2""#)).payment?.merchant == "acct_2")
  }

  @Test("a payer's name is kept only if the endpoint asks for names")
  func payer() throws {
    let body = event("charge.succeeded", charge(more: #","billing_details":{"name":"Ada"}"#))
    #expect(try outcome(body).payment?.payer == nil)
    var endpoint = endpoint
    endpoint.speaksPayer = true
    #expect(try outcome(body, endpoint).payment?.payer == "Ada")
  }

  @Test("a sample is accepted as a payment by its endpoint")
  func sample() throws {
    var endpoint = endpoint
    (endpoint.isLive, endpoint.merchants) = (false, ["acct_1", "acct_2"])
    let judgement = endpoint.judge(
      try #require(StripeProvider().sample(id: "abc", for: endpoint, at: now)), at: now)
    #expect(judgement.payments.map(\.id) == ["pi_abc"] && judgement.payments.map(\.sum) == ["100 USD"])
    #expect(judgement.payments.first?.occurredAt == now)
  }
}
