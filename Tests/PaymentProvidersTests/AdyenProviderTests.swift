// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import TestSupport
import Testing

@Suite("Adyen")
struct AdyenProviderTests {
  private typealias Item = AdyenWebhook.Item

  // MARK: What events mean

  @Test("a successful authorisation is a payment")
  func authorisation() throws {
    let judgement = AdyenWebhook.judgement([Item()])
    let payment = try #require(judgement.payments.first)
    #expect(judgement.outcomes.count == 1 && payment.kind == .received && payment.id == "NC6HT9CRT65ZGN82")
    #expect(payment.amount.decimalText == "12.50" && payment.amount.currency.code == "EUR")
    #expect(payment.merchant == "ShopAccount" && payment.payer == nil && payment.channel == nil)
  }

  @Test("an authorisation without success is reported as a failed payment, and a later attempt may succeed")
  func failed() throws {
    let payment = try #require(AdyenWebhook.judgement([Item(success: #""false""#)]).payments.first)
    #expect(payment.kind == .failed && payment.id == "NC6HT9CRT65ZGN82/failed")
    #expect(payment.reference == "NC6HT9CRT65ZGN82")
  }

  @Test("if the endpoint awaits captures, a capture is the payment, and the authorisation is ignored")
  func capture() {
    var endpoint = AdyenWebhook.endpoint()
    let capture = Item(pspReference: "QFQTPCQ8HXSKGK82", originalReference: "NC6HT9CRT65ZGN82", event: "CAPTURE")
    #expect(AdyenWebhook.judgement([capture], by: endpoint).outcomes.first?.ignoredReason != nil)
    endpoint.awaitsCapture = true
    #expect(AdyenWebhook.judgement([capture], by: endpoint).payments.map(\.id) == ["NC6HT9CRT65ZGN82"])
    #expect(AdyenWebhook.judgement([Item()], by: endpoint).outcomes.first?.ignoredReason != nil)
    #expect(AdyenWebhook.judgement([Item(success: "false")], by: endpoint).payments.map(\.kind) == [.failed])
    let unsuccessful = Item(originalReference: "NC6HT9CRT65ZGN82", event: "CAPTURE", success: "false")
    #expect(AdyenWebhook.judgement([unsuccessful], by: endpoint).outcomes.first?.ignoredReason != nil)
  }

  @Test("a successful refund is a refunded payment with its own id, and a failed refund is ignored")
  func refund() throws {
    var refund = Item(pspReference: "QFQTPCQ8HXSKGK82", originalReference: "NC6HT9CRT65ZGN82", event: "REFUND")
    let payment = try #require(AdyenWebhook.judgement([refund]).payments.first)
    #expect(payment.kind == .refunded && payment.id == "QFQTPCQ8HXSKGK82")
    refund.success = "false"
    #expect(AdyenWebhook.judgement([refund]).outcomes.first?.ignoredReason != nil)
  }

  @Test(
    "an event is refused if it takes back an announcement, or if its signed fields leave its kind unclear",
    arguments: ["REFUND_FAILED", "REFUNDED_REVERSED", "CAPTURE_FAILED", "CANCEL_OR_REFUND"])
  func takenBack(event: String) {
    let judgement = AdyenWebhook.judgement([
      Item(
        originalReference: "NC6HT9CRT65ZGN82", event: event,
        unsigned: #""reason":"","operations":["REFUND"],"modification.action":"refund""#)
    ])
    #expect(judgement.outcomes.first?.refusedReason != nil && judgement.verdict == .accepted)
  }

  @Test(
    "events other than payments, captures and refunds are ignored",
    arguments: ["REPORT_AVAILABLE", "CANCELLATION", "CHARGEBACK", "PENDING", "NEW_EVENT", ""])
  func otherEvents(event: String) {
    #expect(AdyenWebhook.judgement([Item(event: event)]).outcomes == [.ignored(event)])
  }

  @Test("an authorisation of zero verifies a card and is ignored", arguments: ["0", #""0""#])
  func zero(value: String) {
    #expect(AdyenWebhook.judgement([Item(value: value)]).outcomes.first?.ignoredReason != nil)
  }

  @Test("numbers and truth values of an item may be written as JSON strings")
  func numbersAsText() {
    let item = Item(value: #""1250""#, success: "true")
    #expect(AdyenWebhook.judgement([item]).payments.first?.amount.decimalText == "12.50")
  }

  @Test(
    "sums have Adyen's number of decimal places, also where it differs from ISO 4217",
    arguments: [
      ("EUR", "1250", "12.50"), ("JPY", "1250", "1250"), ("KWD", "1250", "1.250"), ("CLP", "125000", "1250"),
      ("ISK", "125000", "1250"), ("CVE", "1250", "1250.00"), ("IDR", "50000", "50000.00"),
    ])
  func digits(currency: String, value: String, sum: String) {
    let payment = AdyenWebhook.judgement([Item(value: value, currency: currency)]).payments.first
    #expect(payment?.amount.decimalText == sum && payment?.amount.currency.code == currency)
  }

  @Test(
    "a correctly signed item with an unclear field is refused, and the webhook is answered with success",
    arguments: [
      Item(value: "-1250"), Item(value: "12.5"), Item(value: "1e3"), Item(value: "null"), Item(value: #""1 250""#),
      Item(value: "125050", currency: "CLP"), Item(currency: "XXX"), Item(currency: "BIF"), Item(currency: ""),
      Item(pspReference: ""),
      Item(pspReference: "NC6 HT9"), Item(success: #""maybe""#), Item(success: #""""#),
    ])
  func unclear(item: AdyenWebhook.Item) {
    let code = AdyenWebhook.code(
      of: Data(String(decoding: item.message, as: UTF8.self).replacing("null", with: "").utf8))
    let judgement = AdyenWebhook.endpoint().judge(AdyenWebhook.request([item.json(code: code)]), at: AdyenWebhook.now)
    #expect(judgement.outcomes.first?.refusedReason != nil && judgement.verdict == .accepted)
  }

  @Test(
    "the unsigned field 'live' is ignored, and a live endpoint ignores a payment whose reference begins with 'test_'")
  func live() {
    var endpoint = AdyenWebhook.endpoint()
    for live in [true, false] {
      endpoint.isLive = live
      for text in [#""live":"true""#, #""live":"false""#, #""live":7"#] {
        var request = AdyenWebhook.request([Item().json()])
        request.body = Data(String(decoding: request.body, as: UTF8.self).replacing(#""live":"true""#, with: text).utf8)
        #expect(endpoint.judge(request, at: AdyenWebhook.now).payments.count == 1)
      }
      let test = AdyenWebhook.judgement([Item(pspReference: "test_AUTHORISATION_1")], by: endpoint)
      #expect(test.payments.count == (live ? 0 : 1))
    }
  }

  @Test(
    "a signed item with half an emoji in a name is refused and answered with success, so that Adyen sends later items")
  func halfAnEmoji() {
    var item = AdyenWebhook.Item()
    item.unsigned = #""shopperName":"Ann \ud83d""#
    let judgement = AdyenWebhook.endpoint().judge(AdyenWebhook.request([item.json()]), at: AdyenWebhook.now)
    #expect(judgement.isVerified && judgement.payments.isEmpty)
    #expect(judgement.outcomes.first?.refusedReason != nil && judgement.verdict == .accepted)
    item.unsigned = #""shopperName":"Ann \ud83d\ude00 \\ud83d""#
    let whole = AdyenWebhook.endpoint().judge(AdyenWebhook.request([item.json()]), at: AdyenWebhook.now)
    #expect(whole.payments.count == 1, "a whole pair, and a backslash before ud83d, are strict JSON")
    item.unsigned = #""shopperName":"Ann \ud83d""#
    let forged = AdyenWebhook.request([item.json(code: AdyenWebhook.code(of: Data("other".utf8)))])
    #expect(!AdyenWebhook.endpoint().judge(forged, at: AdyenWebhook.now).isVerified)
  }

  @Test("each item of a webhook has its own outcome")
  func items() {
    let items = [Item(), Item(pspReference: "QFQTPCQ8HXSKGK82", value: "300"), Item(event: "CANCELLATION")]
    let judgement = AdyenWebhook.judgement(items)
    #expect(judgement.payments.map(\.amount.decimalText) == ["12.50", "3.00"])
    #expect(judgement.outcomes.count == 3 && judgement.outcomes[2] == .ignored("CANCELLATION"))
  }

  @Test("an event of Adyen's platform is verified by the signature in the header, and ignored")
  func platformEvent() throws {
    let body = Data(#"{"type":"merchant.updated","data":{}}"#.utf8)
    var request = ProviderRequest(headers: [("hmacsignature", AdyenWebhook.code(of: body))], body: body)
    let endpoint = AdyenWebhook.endpoint()
    #expect(endpoint.judge(request, at: AdyenWebhook.now).outcomes == [.ignored("merchant.updated")])
    for index in body.indices {
      request.body = body
      request.body[index] ^= 1
      #expect(endpoint.judge(request, at: AdyenWebhook.now).rejection?.code == .signatureInvalid)
    }
    request.body = body
    request.headers.append(request.headers[0])
    #expect(rejection(of: request) == .headerRepeated)
    request.headers = []
    #expect(rejection(of: request) == .signatureMissing)
    let malformed = Data("no JSON".utf8)
    request = ProviderRequest(headers: [("HmacSignature", AdyenWebhook.code(of: malformed))], body: malformed)
    #expect(endpoint.judge(request, at: AdyenWebhook.now).outcomes.first?.refusedReason != nil)
  }

  // MARK: Signatures

  @Test(
    "the signed text contains the fields without escapes",
    arguments: [#"\\slashes"#, "//slashes", ":colons:", "Gebäck", ""])
  func notEscaped(reference: String) {
    #expect(AdyenWebhook.judgement([Item(reference: reference)]).payments.count == 1)
  }

  @Test("a whole webhook is refused if one of its items has a wrong signature or none")
  func oneWrongItem() {
    for wrong in [AdyenWebhook.code(of: Data("other".utf8)), "not base64", "AAAA"] {
      #expect(rejection(of: AdyenWebhook.request([Item().json(), Item().json(code: wrong)])) == .signatureInvalid)
    }
    #expect(rejection(of: AdyenWebhook.request([Item().json(), Item().json(code: "")])) == .signatureMissing)
    #expect(rejection(of: AdyenWebhook.request([Item().json(), "{}"])) == .malformed)
  }

  @Test("an item without a signature is refused, even if the webhook's header has a good signature")
  func noSignature() {
    let body = Item().json().replacing("additionalData", with: "otherData")
    var request = AdyenWebhook.request([body])
    #expect(rejection(of: request) == .signatureMissing)
    request.headers.append(("HmacSignature", AdyenWebhook.code(of: request.body)))
    #expect(rejection(of: request) == .signatureMissing)
  }

  @Test("a signature by any secret of the endpoint is accepted, and a secret that is not hexadecimal is ignored")
  func secrets() {
    var endpoint = AdyenWebhook.endpoint()
    endpoint.secrets = [ProviderSecret("00FF"), ProviderSecret("not hexadecimal"), ProviderSecret(AdyenWebhook.key)]
    #expect(AdyenWebhook.judgement([Item()], by: endpoint).isVerified)
    endpoint.secrets.removeLast()
    #expect(AdyenWebhook.judgement([Item()], by: endpoint).rejection?.code == .signatureInvalid)
    endpoint.secrets = []
    #expect(AdyenWebhook.judgement([Item()], by: endpoint).rejection?.code == .signatureInvalid)
  }

  @Test("an item whose colons were moved from one field to another is refused, although its signed text is the same")
  func movedColons() {
    let genuine = Item(reference: "order:17")
    #expect(AdyenWebhook.judgement([genuine]).payments.count == 1)
    // The same signed text, cut in another place: the id would be another one.
    var forged = Item(
      pspReference: "NC6HT9CRT65ZGN82:", originalReference: "ShopAccount", account: "order", reference: "17")
    #expect(forged.message == genuine.message)
    #expect(AdyenWebhook.judgement([forged]).rejection?.code == .malformed)
    forged = Item(originalReference: "", account: "ShopAccount:order", reference: "17")
    #expect(forged.message == genuine.message)
    #expect(AdyenWebhook.judgement([forged]).rejection?.code == .malformed)
  }

  @Test("an item with a signed field that is neither text nor number is refused")
  func structures() {
    for value in ["{}", "[]", #"{"a":1}"#] {
      let item = Item(originalReference: "").json().replacing(
        #""originalReference":"""#, with: #""originalReference":\#(value)"#)
      #expect(rejection(of: AdyenWebhook.request([item])) == .malformed)
    }
  }

  @Test(
    "a body that is not a webhook of Adyen is refused",
    arguments: [
      "", "[]", "{}", "null", #"{"notificationItems":null}"#, #"{"notificationItems":[]}"#,
      #"{"notificationItems":{}}"#,
      #"{"notificationItems":[1]}"#, #"{"notificationItems":[],"notificationItems":[]}"#,
      #"{"notificationItems":[{"NotificationRequestItem":[]}]}"#,
    ])
  func malformed(body: String) {
    #expect(rejection(of: ProviderRequest(headers: [], body: Data(body.utf8))) != nil)
  }

  @Test("a body of more than 64 KiB is refused before it is parsed")
  func largeBody() {
    var request = AdyenWebhook.request([Item().json()])
    request.body.append(Data(repeating: 0x20, count: 64 * 1_024 - request.body.count))
    #expect(rejection(of: request) == nil)
    request.body.append(0x20)
    #expect(rejection(of: request) == .malformed)
  }

  /// These parts are not signed: `live`, `eventDate`, `paymentMethod`, `reason`, the rest of `additionalData`, and the
  /// white space. A change there may pass, and the payment is the same.
  @Test("a changed byte in a signed field makes the webhook invalid, and a change elsewhere never changes the outcome")
  func changedBytes() throws {
    let item = Item(pspReference: "QFQTPCQ8HXSKGK82", originalReference: "NC6HT9CRT65ZGN82", event: "REFUND")
    let genuine = AdyenWebhook.request([item.json()])
    let endpoint = AdyenWebhook.endpoint()
    let outcomes = endpoint.judge(genuine, at: AdyenWebhook.now).outcomes
    let signature = AdyenWebhook.code(of: item.message)
    var signed: Set<Int> = []
    for text in [
      #""pspReference":"QFQTPCQ8HXSKGK82""#, #""originalReference":"NC6HT9CRT65ZGN82""#,
      #""merchantAccountCode":"ShopAccount""#, #""merchantReference":"order-17""#, #""value":1250"#,
      #""currency":"EUR""#,
      #""eventCode":"REFUND""#, #""success":"true""#, #""amount""#, #""hmacSignature":"\#(signature)""#,
    ] {
      let range = try #require(genuine.body.range(of: Data(text.utf8)))
      signed.formUnion(range)
    }
    for index in genuine.body.indices {
      var request = genuine
      request.body[index] ^= 1
      let judgement = endpoint.judge(request, at: AdyenWebhook.now)
      #expect(
        judgement.outcomes.isEmpty || (!signed.contains(index) && judgement.outcomes == outcomes), "byte \(index)")
    }
  }

  @Test("5,000 randomly changed requests are refused or have the outcomes of the unchanged request")
  func randomlyChanged() {
    let endpoint = AdyenWebhook.endpoint()
    let genuine = AdyenWebhook.request([
      Item(reference: "a:b").json(), Item(pspReference: "QFQTPCQ8HXSKGK82", value: "300").json(),
    ])
    let outcomes = endpoint.judge(genuine, at: AdyenWebhook.now).outcomes
    var changed = ChangedRequests(
      of: genuine,
      texts: [
        "{", "}", "[]", ",", ":", #"\u003a"#, #""value":9900,"#, #""success":"true","#,
        #""NotificationRequestItem":{},"#,
        "null", #","amount":{"value":1,"currency":"KWD"}"#, "{{{{{{{{", "[[[[[[[[", "\u{FEFF}",
      ], seed: 3)
    var refused = 0
    for _ in 0..<5_000 {
      let judgement = endpoint.judge(changed.next(), at: AdyenWebhook.now)
      if judgement.isVerified { #expect(judgement.outcomes == outcomes) } else { refused += 1 }
    }
    #expect(refused > 3_500)
  }

  // MARK: Answers

  @Test("success is answered with [accepted], and a refusal or a failure with its status")
  func answers() {
    let endpoint = AdyenWebhook.endpoint()
    #expect(
      endpoint.answer(to: .accepted) == ProviderAnswer(status: 200, contentType: "text/plain", body: "[accepted]"))
    #expect(endpoint.answer(to: .rejected(ProviderRejection(.signatureInvalid, ""))) == ProviderAnswer(status: 401))
    #expect(endpoint.answer(to: .failed(status: 503)) == ProviderAnswer(status: 503))
  }

  private func rejection(of request: ProviderRequest) -> ProviderRejection.Code? {
    AdyenWebhook.endpoint().judge(request, at: AdyenWebhook.now).rejection?.code
  }
}
