// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Foundation
import PaymentProviders
import Testing

@Suite("Standard Webhooks")
struct StandardWebhooksProviderTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)
  private static let first = "whsec_" + Data(repeating: 1, count: 32).base64EncodedString()
  private static let second = "whsec_" + Data(repeating: 2, count: 24).base64EncodedString()
  private let endpoint = ProviderEndpoint.keyed(.standardWebhooks, secrets: [first, second]) {
    $0.kinds = Set(Payment.Kind.allCases)
  }

  private func message(
    _ type: String = "payment.received", _ data: String = #"{"id":"7","amount":"12.50","currency":"CNY"}"#
  ) -> String {
    #"{"type":"\#(type)","timestamp":"2023-11-14T22:13:10Z","data":\#(data)}"#
  }

  private func signed(_ body: String, secret: String = first, id: String = "msg_1") throws -> ProviderRequest {
    let headers = StandardWebhooksProvider.headers(
      signing: Data(body.utf8), id: id, with: ProviderSecret(secret), at: now)
    return ProviderRequest(try #require(headers), body)
  }

  private func outcome(_ body: String) throws -> ProviderOutcome {
    let judgement = endpoint.judge(try signed(body), at: now)
    #expect(judgement.rejection == nil && judgement.outcomes.count == 1 && judgement.signedAt == now)
    return try #require(judgement.outcomes.first)
  }

  private func rejection(_ request: ProviderRequest, at time: Date? = nil) -> ProviderRejection.Code? {
    endpoint.judge(request, at: time ?? now).rejection?.code
  }

  private func value(_ name: String, _ request: ProviderRequest) throws -> String {
    try #require(request.headers.first { $0.name == name }?.value)
  }

  // MARK: Signatures

  @Test("the signature equals the HMAC that another implementation computes")
  func known() throws {
    // printf 'msg_1.1700000000.{}' | openssl dgst -sha256 -mac hmac -macopt hexkey:01…01 (32 times) -binary | base64
    #expect(try value("webhook-signature", signed("{}")) == "v1,xtZ05xWlw5OgOLjDd6HtOXxhC1OXgHe80DYwEPUhaCI=")
  }

  @Test("a change of any byte of the body, of the id or of the time invalidates the signature")
  func changed() throws {
    let request = try signed(message())
    for request in changedBodies(of: request) { #expect(rejection(request) == .signatureInvalid) }
    #expect(rejection(request.with("webhook-id", "msg_2")) == .signatureInvalid)
    #expect(rejection(request.with("webhook-timestamp", "1700000001")) == .signatureInvalid)
  }

  @Test("a signature by either of two secrets is accepted, and a signature by a third secret is refused")
  func secrets() throws {
    #expect(rejection(try signed("{}", secret: Self.second)) == nil)
    let third = "whsec_" + Data(repeating: 3, count: 24).base64EncodedString()
    #expect(rejection(try signed("{}", secret: third)) == .signatureInvalid)
  }

  @Test("one valid signature in a list is enough, and signatures of other versions are ignored")
  func list() throws {
    let request = try signed("{}")
    let right = try value("webhook-signature", request)
    let wrong = "v1," + Data(repeating: 0, count: 32).base64EncodedString()
    func code(_ value: String) -> ProviderRejection.Code? { rejection(request.with("webhook-signature", value)) }
    #expect(code("\(wrong) \(right)") == nil && code("v2,x v1 , \(right) \(wrong)") == nil)
    #expect(code(wrong) == .signatureInvalid)
    #expect(code(right.replacing("v1,", with: "v2,")) == .signatureInvalid)
    #expect(code(right.replacing("v1,", with: "v1a,")) == .signatureInvalid)
    #expect(code(String(right.dropFirst(3))) == .signatureInvalid)
    #expect(code(Array(repeating: wrong, count: 15).joined(separator: " ") + " " + right) == nil)
    #expect(code(Array(repeating: wrong, count: 16).joined(separator: " ") + " " + right) == .malformed)
  }

  @Test("the header names may begin with svix- instead of webhook-, and a mixture of both is refused")
  func svix() throws {
    let request = try signed(message())
    let svix = ProviderRequest(
      headers: request.headers.map { ($0.name.replacing("webhook-", with: "svix-"), $0.value) }, body: request.body)
    #expect(rejection(svix) == nil)
    #expect(rejection(svix.with("svix-id", nil).adding("webhook-id", "msg_1")) == .signatureMissing)
  }

  @Test("a header that is missing, empty or repeated is refused", arguments: ["id", "timestamp", "signature"])
  func headers(name: String) throws {
    let request = try signed("{}")
    let name = "webhook-\(name)"
    #expect(rejection(request.with(name, nil)) == .signatureMissing)
    #expect(rejection(request.with(name, "")) == .signatureMissing)
    #expect(rejection(request.adding(name.uppercased(), try value(name, request))) == .headerRepeated)
  }

  @Test("a time more than 300 seconds before or after the clock is refused", arguments: [-301.0, 301])
  func stale(offset: TimeInterval) throws {
    #expect(rejection(try signed("{}"), at: now.addingTimeInterval(offset)) == .timestampOutsideWindow)
  }

  @Test("an id with a period is refused, because a part of the body could then be taken for the time")
  func period() throws {
    let request = try signed(#"{"note":"a.1700000000.{}"}"#)
    var shifted = request.with("webhook-id", #"msg_1.1700000000.{"note":"a"#)
    shifted.body = Data(#"{}"}"#.utf8)
    #expect(rejection(shifted) == .malformed)
    #expect(rejection(try signed("{}", id: "a.b")) == .malformed)
  }

  @Test("an Ed25519 signature is accepted if the endpoint has its public key, and refused if it has another key")
  func ed25519() throws {
    let key = Curve25519.Signing.PrivateKey()
    var request = try signed(message())
    let signature = try key.signature(for: Data("msg_1.1700000000.".utf8) + request.body)
    request = request.with("webhook-signature", "v1,AAAA v1a,\(signature.base64EncodedString())")
    func endpoint(_ key: Curve25519.Signing.PrivateKey) -> ProviderEndpoint {
      .keyed(.standardWebhooks, secrets: ["whpk_" + key.publicKey.rawRepresentation.base64EncodedString()])
    }
    #expect(endpoint(key).judge(request, at: now).payments.map(\.id) == ["7"])
    #expect(endpoint(Curve25519.Signing.PrivateKey()).judge(request, at: now).rejection?.code == .signatureInvalid)
    for request in changedBodies(of: request).prefix(20) {
      #expect(endpoint(key).judge(request, at: now).rejection?.code == .signatureInvalid)
    }
    // The public key is not a shared secret: anybody can know it.
    let public32 = key.publicKey.rawRepresentation
    let forged = try signed(message(), secret: "whsec_" + public32.base64EncodedString())
    #expect(endpoint(key).judge(forged, at: now).rejection?.code == .signatureInvalid)
  }

  @Test("a key of 24 to 64 bytes is read, with or without whsec_ and padding")
  func keys() throws {
    func isKey(_ text: String) -> Bool { StandardWebhooksKey(ProviderSecret(text)) != nil }
    for count in [24, 25, 26, 32, 64] {
      let text = Data(repeating: 0xFB, count: count).base64EncodedString()
      let bare = text.trimmingCharacters(in: ["="])
      #expect(isKey("whsec_" + text) && isKey("whsec_" + bare) && isKey(text) && isKey(bare))
      #expect(rejection(try signed("{}", secret: text)) == .signatureInvalid)
      let padded = try value("webhook-signature", signed("{}", secret: text))
      #expect(padded == (try value("webhook-signature", signed("{}", secret: "whsec_" + bare))))
    }
    for count in [0, 1, 23, 65] { #expect(!isKey("whsec_" + Data(repeating: 1, count: count).base64EncodedString())) }
    for text in ["", "whsec_", "whsec_a", "whpk_", "whpk_" + Data(count: 31).base64EncodedString()] {
      #expect(!isKey(text))
    }
    let dashed = Data(repeating: 0xFB, count: 24).base64EncodedString().replacing("+", with: "-")
    #expect(!isKey(dashed) && !isKey("whsec_ " + Data(count: 24).base64EncodedString()))
  }

  // MARK: Payments

  @Test("the type of a message gives the kind of the payment", arguments: Payment.Kind.allCases)
  func kinds(kind: Payment.Kind) throws {
    let payment = try #require(try outcome(message("payment.\(kind.rawValue)")).payment)
    #expect(payment.kind == kind && payment.sum == "1250 CNY" && payment.reference == "7")
    #expect(payment.id == (kind == .failed ? "7/failed" : "7"))
    #expect(payment.occurredAt == Date(timeIntervalSince1970: 1_699_999_990))
  }

  @Test("the data of a message may have the fields of a payment in a payload")
  func everything() throws {
    let data = """
      {"id":"7","minor":5120,"currency":"KWD","kind":"received","channel":"card","payer":"Ada","note":"table 4",
       "occurred_at":"2023-11-14T22:00:00Z","locale":"en-US"}
      """
    var endpoint = endpoint
    endpoint.speaksPayer = true
    let payment = try #require(endpoint.judge(try signed(received(data)), at: now).payments.first)
    #expect(payment.sum == "5120 KWD" && payment.channel == "card" && payment.payer == "Ada")
    #expect(payment.note == "table 4" && payment.occurredAt == Date(timeIntervalSince1970: 1_699_999_200))
  }

  private func received(_ data: String) -> String { message("payment.received", data) }

  @Test("a number in the data of a message keeps all its digits")
  func digits() throws {
    let data = #"{"id":9007199254740993,"amount":0.30,"currency":"USD"}"#
    #expect(try outcome(received(data)).payment == nil)
    #expect(
      try outcome(received(data.replacing("9007199254740993", with: #""9007199254740993""#))).payment?.sum == "30 USD")
  }

  @Test(
    "a message that is not about a payment is ignored",
    arguments: [
      #"{"test":1}"#, "{}", "[]", "7", #"{"type":7}"#, #"{"type":"invoice.paid","data":{}}"#,
      #"{"type":"payment.created","data":{}}"#, #"{"type":"payment.","data":{}}"#, #"{"type":"Payment.received"}"#,
      #"{"type":"announcement.played","data":{"id":"7"}}"#,
    ])
  func ignored(body: String) throws {
    #expect(try outcome(body).ignoredReason != nil)
  }

  @Test(
    "a payment with a missing, wrong or unknown field is refused",
    arguments: [
      "null", "[]", #""7""#, "{}", #"{"id":"7","currency":"CNY"}"#, #"{"amount":"1","currency":"CNY"}"#,
      #"{"id":"7","amount":"1"}"#, #"{"id":"7","amount":"1","currency":"XYZ"}"#,
      #"{"id":"7","amount":"1.234","currency":"CNY"}"#, #"{"id":"7","amount":"0","currency":"CNY"}"#,
      #"{"id":"7","amount":"-1","currency":"CNY"}"#, #"{"id":"7","amount":"1","minor":100,"currency":"CNY"}"#,
      #"{"id":"a b","amount":"1","currency":"CNY"}"#, #"{"id":"单","amount":"1","currency":"CNY"}"#,
      #"{"id":"7","amount":"1","currency":"CNY","kind":"refunded"}"#,
      #"{"id":"7","amount":"1","currency":"CNY","knid":"refunded"}"#,
      #"{"id":"7","amount":"1","currency":"CNY","status":"failed"}"#,
      #"{"payment":{"id":"7","amount":"1","currency":"CNY"}}"#,
      #"{"id":"7","amount":"1","currency":"CNY","occurred_at":"yesterday"}"#,
    ])
  func refused(data: String) throws {
    #expect(try outcome(received(data)).refusedReason != nil)
  }

  @Test(
    "a correctly signed body that is not strict JSON is refused, and answered with 200",
    arguments: ["", #"{"a":"\udc00"}"#])
  func notStrict(body: String) throws {
    let judgement = endpoint.judge(try signed(body), at: now)
    #expect(judgement.outcomes.first?.refusedReason != nil && endpoint.answer(to: judgement.verdict).status == 200)
  }

  @Test("a sample is accepted as a payment by its endpoint, and an endpoint with only a public key has no sample")
  func sample() throws {
    let provider = StandardWebhooksProvider()
    let judgement = endpoint.judge(try #require(provider.sample(id: "abc", for: endpoint, at: now)), at: now)
    #expect(judgement.payments.map(\.id) == ["abc"] && judgement.payments.map(\.sum) == ["100 USD"])
    let key = Curve25519.Signing.PrivateKey().publicKey.rawRepresentation.base64EncodedString()
    #expect(provider.sample(id: "abc", for: .keyed(.standardWebhooks, secrets: ["whpk_\(key)"]), at: now) == nil)
  }
}
