// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import TestSupport
import Testing

@Suite("WeChat Pay")
struct WeChatPayProviderTests {
  // MARK: What notices mean

  @Test("a successful transaction is a payment of the order's sum, even if the payer used a coupon")
  func payment() throws {
    let judgement = try WeChatNotice().judgement()
    let payment = try #require(judgement.payments.first)
    #expect(judgement.outcomes.count == 1 && payment.kind == .received)
    #expect(payment.id == "4200001234202611200000000001" && payment.reference == payment.id)
    #expect(payment.amount.decimalText == "12.50" && payment.amount.currency.code == "CNY")
    #expect(payment.channel == "wechatpay" && payment.merchant == "1600000001" && payment.payer == nil)
    #expect(payment.occurredAt == Timestamp.date("2026-11-20T12:23:58Z"))
    #expect(judgement.signedAt == WeChatNotice.now)
  }

  @Test("each part of a combined order is a payment to its own merchant")
  func combinedOrder() throws {
    var notice = WeChatNotice()
    notice.object = """
      {"combine_mchid":"1600000001","sub_orders":[\
      {"mchid":"1600000001","transaction_id":"4200000000000001","trade_state":"SUCCESS",\
      "amount":{"total_amount":10,"payer_amount":5,"currency":"CNY"}},\
      {"mchid":"1600000002","transaction_id":"4200000000000002","trade_state":"SUCCESS",\
      "amount":{"total_amount":20,"currency":"CNY"}},\
      {"mchid":"1600000001","transaction_id":"4200000000000003","trade_state":"NOTPAY",\
      "amount":{"total_amount":30,"currency":"CNY"}}]}
      """
    let judgement = try notice.judgement()
    #expect(judgement.payments.map(\.id) == ["4200000000000001", "4200000000000002"])
    #expect(judgement.payments.map(\.amount.decimalText) == ["0.10", "0.20"])
    #expect(judgement.outcomes.count == 3 && judgement.outcomes[2].ignoredReason != nil)

    var endpoint = try WeChatNotice.endpoint()
    endpoint.merchants = ["1600000002"]
    #expect(try notice.judgement(by: endpoint).payments.map(\.id) == ["4200000000000002"])
  }

  @Test("a payment through a service provider has the shop as its merchant")
  func serviceProvider() throws {
    var notice = WeChatNotice()
    notice.object = notice.object.replacing(#""mchid":"#, with: #""sp_mchid":"1","sub_mchid":"#)
    #expect(try notice.judgement().payments.first?.merchant == "1600000001")
  }

  @Test("a payment to another merchant is ignored if the endpoint names merchants")
  func otherMerchant() throws {
    var endpoint = try WeChatNotice.endpoint()
    endpoint.merchants = ["1600000009"]
    let judgement = try WeChatNotice().judgement(by: endpoint)
    #expect(judgement.isVerified && judgement.outcomes.first?.ignoredReason != nil)
  }

  @Test("a refund is announced with its own sum, in yuan if the notice names no currency")
  func refund() throws {
    var notice = WeChatNotice(type: "REFUND.SUCCESS", object: WeChatNotice.refund, associatedData: "refund")
    let payment = try #require(try notice.judgement().payments.first)
    #expect(payment.kind == .refunded && payment.id == "50300001232026112000000000002")
    #expect(payment.amount.decimalText == "3.00" && payment.amount.currency.code == "CNY")

    notice.object = notice.object.replacing(#""refund":300"#, with: #""refund":300,"currency":"HKD""#)
    #expect(try notice.judgement().payments.first?.amount.currency.code == "HKD")
    notice.object = notice.object.replacing(#""HKD""#, with: "156")
    #expect(try notice.judgement().outcomes.first?.refusedReason != nil)
  }

  @Test(
    "events of other types are ignored without being decrypted",
    arguments: ["REFUND.ABNORMAL", "REFUND.CLOSED", "SECURITY_ECHO.SUCCESS", "PAYSCORE.USER_PAID", "NEW.EVENT"])
  func otherEvents(type: String) throws {
    var endpoint = try WeChatNotice.endpoint()
    endpoint.apiV3Key = nil
    let judgement = try WeChatNotice(type: type).judgement(by: endpoint)
    #expect(judgement.outcomes == [.ignored(type)] && judgement.verdict == .accepted)
  }

  @Test("a transaction or a refund in another state is ignored")
  func otherStates() throws {
    var notice = WeChatNotice()
    notice.object = notice.object.replacing("SUCCESS", with: "REFUND")
    #expect(try notice.judgement().outcomes.first?.ignoredReason != nil)
    notice = WeChatNotice(type: "REFUND.SUCCESS", object: WeChatNotice.refund.replacing("SUCCESS", with: "ABNORMAL"))
    #expect(try notice.judgement().outcomes.first?.ignoredReason != nil)
  }

  @Test("a sum of zero is ignored")
  func zero() throws {
    let notice = WeChatNotice(object: WeChatNotice.payment.replacing(#""total":1250"#, with: #""total":0"#))
    #expect(try notice.judgement().outcomes.first?.ignoredReason != nil)
  }

  @Test(
    "a correctly signed notice with an unclear field is refused, and answered with success",
    arguments: [
      (#""total":1250"#, #""total":-1250"#), (#""total":1250"#, #""total":12.5"#), (#""total":1250"#, #""sum":1250"#),
      (#""total":1250"#, #""total":1250,"total":1"#), (#""currency":"CNY""#, #""currency":"XXX""#),
      (#""currency":"CNY""#, #""payer_currency":"CNY""#), (#""transaction_id""#, #""other_id""#),
      (#""4200001234202611200000000001""#, #""42 00""#), (#""amount""#, #""sub_orders":[],"amount""#),
      (#""amount""#, #""sub_orders":{},"amount""#), ("{", ""),
    ])
  func unclear(text: String, replacement: String) throws {
    let judgement = try WeChatNotice(object: WeChatNotice.payment.replacing(text, with: replacement)).judgement()
    #expect(judgement.outcomes.count == 1 && judgement.outcomes.first?.refusedReason != nil)
    #expect(judgement.verdict == .accepted)
  }

  @Test(
    "a correctly signed body that is not a notice is refused, and answered with success",
    arguments: [
      "", "[]", "{}", #"{"event_type":1}"#, #"{"event_type":"TRANSACTION.SUCCESS"}"#,
      #"{"event_type":"TRANSACTION.SUCCESS","resource":{"algorithm":"AEAD_SM4_GCM","ciphertext":"","nonce":""}}"#,
      #"{"event_type":"TRANSACTION.SUCCESS","resource":{"algorithm":"AEAD_AES_256_GCM","ciphertext":"!","nonce":""}}"#,
    ])
  func noNotice(body: String) throws {
    let judgement = try WeChatNotice(body: Data(body.utf8)).judgement()
    #expect(judgement.isVerified && judgement.outcomes.first?.refusedReason != nil && judgement.verdict == .accepted)
  }

  // MARK: Decryption

  @Test("the associated data of a notice's encryption may be absent or empty", arguments: [nil, "", "transaction"])
  func associatedData(text: String?) throws {
    #expect(try WeChatNotice(associatedData: text).judgement().payments.count == 1)
  }

  @Test(
    "a notice that cannot be decrypted is answered with 500, so that WeChat Pay sends it again after the key is set",
    arguments: [nil, "b-key-of-thirty-two-ascii-bytes.", "short", "a-key-of-sixteen"])
  func undecryptable(key: String?) throws {
    var endpoint = try WeChatNotice.endpoint()
    endpoint.apiV3Key = key.map { ProviderSecret($0) }
    let judgement = try WeChatNotice().judgement(by: endpoint)
    #expect(judgement.isVerified && judgement.fault != nil && judgement.payments.isEmpty)
    let answer = endpoint.answer(to: judgement.verdict)
    #expect(answer.status == 500 && answer.contentType == "application/json")

    endpoint.apiV3Key = ProviderSecret(WeChatNotice.decryptionKey)
    #expect(try WeChatNotice().judgement(by: endpoint).payments.count == 1)
  }

  @Test(
    "an encrypted text that is too short for its tag, or has a short nonce, is a fault and does not crash the program")
  func shortCiphertext() throws {
    for resource in [#""ciphertext":"","nonce":"12-ascii-ok!""#, #""ciphertext":"AAAA","nonce":"""#] {
      let body =
        #"{"event_type":"REFUND.SUCCESS","resource":{"algorithm":"AEAD_AES_256_GCM",\#(resource)}}"#
      #expect(try WeChatNotice(body: Data(body.utf8)).judgement().fault != nil)
    }
  }

  // MARK: Signatures

  @Test("a certificate is accepted in place of the public key")
  func certificate() throws {
    var endpoint = try WeChatNotice.endpoint()
    endpoint.publicKeys = [WeChatNotice.serial: try RSATestKey.shared().certificate()]
    #expect(try WeChatNotice().judgement(by: endpoint).payments.count == 1)
  }

  @Test("the old and the new key are both accepted while one replaces the other")
  func twoKeys() throws {
    var endpoint = try WeChatNotice.endpoint()
    endpoint.publicKeys["PUB_KEY_ID_0001"] = try RSATestKey.shared().base64
    #expect(try WeChatNotice().judgement(by: endpoint).isVerified)
    #expect(try WeChatNotice(serial: "PUB_KEY_ID_0001").judgement(by: endpoint).isVerified)
  }

  @Test("a signature by another key than the named key is refused")
  func otherKey() throws {
    var endpoint = try WeChatNotice.endpoint()
    endpoint.publicKeys["PUB_KEY_ID_0001"] = try RSATestKey().pem
    let judgement = try WeChatNotice(serial: "PUB_KEY_ID_0001").judgement(by: endpoint)
    #expect(judgement.rejection?.code == .signatureInvalid)
  }

  @Test("a notice under a key that is unknown or unreadable is answered with 500, so that WeChat Pay sends it again")
  func unknownKey() throws {
    var endpoint = try WeChatNotice.endpoint()
    let judgement = try WeChatNotice(serial: "PUB_KEY_ID_0002").judgement(by: endpoint)
    #expect(judgement.rejection?.code == .keyUnknown && endpoint.answer(to: judgement.verdict).status == 500)
    endpoint.publicKeys[WeChatNotice.serial] = "not a key"
    #expect(try WeChatNotice().judgement(by: endpoint).rejection?.code == .keyUnknown)
  }

  @Test("a notice is accepted up to 299 seconds before and after its time", arguments: [-299, 299] as [TimeInterval])
  func near(offset: TimeInterval) throws {
    #expect(try WeChatNotice().judgement(at: WeChatNotice.now.addingTimeInterval(offset)).isVerified)
  }

  @Test("a notice is refused 300 seconds before and after its time", arguments: [-300, 300] as [TimeInterval])
  func far(offset: TimeInterval) throws {
    let rejection = try WeChatNotice().judgement(at: WeChatNotice.now.addingTimeInterval(offset)).rejection
    #expect(rejection?.code == .timestampOutsideWindow && rejection?.skew == Int64(-offset))
  }

  @Test("a signature of type SM2 is refused, and a signature without a type is accepted")
  func signatureTypes() throws {
    var request = try WeChatNotice().request()
    request.headers[4].value = "WECHATPAY2-SM2-WITH-SM3"
    #expect(try rejection(of: request) == .signatureInvalid)
    request.headers.removeLast()
    #expect(try WeChatNotice.endpoint().judge(request, at: WeChatNotice.now).payments.count == 1)
  }

  @Test("a probe of WeChat Pay, which has a wrong signature, is refused with the code of a probe")
  func probe() throws {
    var request = try WeChatNotice().request()
    request.headers[3].value = "WECHATPAY/SIGNTEST/" + request.headers[3].value
    #expect(try rejection(of: request) == .probe)
    request.headers[0].value = "unknown"
    #expect(try rejection(of: request) == .probe)
  }

  @Test("a signature header that is missing or occurs twice is refused", arguments: 0..<5)
  func headers(index: Int) throws {
    let genuine = try WeChatNotice().request()
    var request = genuine
    request.headers.append((genuine.headers[index].name.uppercased(), genuine.headers[index].value))
    #expect(try rejection(of: request) == .headerRepeated)
    guard index < 4 else { return }
    request = genuine
    request.headers.remove(at: index)
    #expect(try rejection(of: request) == .signatureMissing)
    request = genuine
    request.headers[index].value = "x"
    #expect(try rejection(of: request) != nil)
  }

  @Test("a nonce with a line break is refused, so that its end cannot be taken for the beginning of the body")
  func lineBreak() throws {
    var request = try WeChatNotice(nonce: "one\r\ntwo").request()
    #expect(try rejection(of: request) == .signatureInvalid)
    request = try WeChatNotice(nonce: "one\ntwo").request()
    #expect(try rejection(of: request) == .signatureInvalid)
  }

  @Test("a change of any byte of the body invalidates the signature")
  func changedBytes() throws {
    let genuine = try WeChatNotice().request()
    let endpoint = try WeChatNotice.endpoint()
    for index in genuine.body.indices {
      var request = genuine
      request.body[index] ^= 1
      #expect(endpoint.judge(request, at: WeChatNotice.now).rejection?.code == .signatureInvalid)
    }
  }

  @Test("3,000 randomly changed requests from WeChat Pay are refused")
  func randomlyChanged() throws {
    let endpoint = try WeChatNotice.endpoint()
    var request = try WeChatNotice().request()
    request.headers.removeLast()  // The type may be absent, so a request without it is valid too.
    var changed = ChangedRequests(
      of: request, texts: ["\n", "{}", #","event_type":"REFUND.SUCCESS""#, "WECHATPAY/SIGNTEST/", "0", "null"], seed: 1)
    for _ in 0..<3_000 {
      let judgement = endpoint.judge(changed.next(), at: WeChatNotice.now)
      #expect(judgement.rejection != nil && judgement.outcomes.isEmpty)
    }
  }

  // MARK: Answers

  @Test("the answers to a webhook have the statuses and bodies that WeChat Pay asks for")
  func answers() throws {
    let endpoint = try WeChatNotice.endpoint()
    #expect(endpoint.answer(to: .accepted) == ProviderAnswer(status: 204))
    let rejected = endpoint.answer(to: .rejected(ProviderRejection(.signatureInvalid, "")))
    #expect(rejected.status == 401 && rejected.contentType == "application/json")
    #expect(
      String(decoding: rejected.body, as: UTF8.self) == #"{"code":"FAIL","message":"the signature was not verified"}"#)
    for status in [429, 500, 503] {
      let failed = endpoint.answer(to: .failed(status: status))
      #expect(failed.status == status && JSONFields(failed.body)?["code"]?.text == "FAIL")
    }
  }

  private func rejection(of request: ProviderRequest) throws -> ProviderRejection.Code? {
    try WeChatNotice.endpoint().judge(request, at: WeChatNotice.now).rejection?.code
  }
}
