// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import TestSupport
import Testing

@Suite("Alipay")
struct AlipayProviderTests {
  // MARK: What notices mean

  @Test(
    "a trade that succeeded or finished is one payment with the number of the trade as its id",
    arguments: ["TRADE_SUCCESS", "TRADE_FINISHED"])
  func payment(status: String) throws {
    let judgement = try AlipayNotice(["trade_status": status]).judgement()
    let payment = try #require(judgement.payments.first)
    #expect(judgement.outcomes.count == 1 && payment.kind == .received)
    #expect(payment.id == "2026112022001400000000000001" && payment.reference == payment.id)
    #expect(payment.amount.decimalText == "12.50" && payment.amount.currency.code == "CNY")
    #expect(payment.channel == "alipay" && payment.merchant == "2088000000000001" && payment.payer == nil)
    #expect(payment.occurredAt == Timestamp.date("2026-11-20T12:23:58Z"))
  }

  @Test("a notice that arrives months later keeps the time of the payment")
  func finishedLater() throws {
    let notice = AlipayNotice(["trade_status": "TRADE_FINISHED", "notify_time": "2027-02-20 20:24:01"])
    #expect(try notice.judgement().payments.first?.occurredAt == Timestamp.date("2026-11-20T12:23:58Z"))
  }

  @Test(
    "a payment whose time is missing or unreadable has no time",
    arguments: [nil, "yesterday", "2026-11-20T20:23:58+08:00"])
  func noTime(time: String?) throws {
    let payment = try #require(try AlipayNotice(["gmt_payment": time]).judgement().payments.first)
    #expect(payment.occurredAt == nil)
  }

  @Test("a trade in any other state is ignored", arguments: ["WAIT_BUYER_PAY", "TRADE_CLOSED", "TRADE_PENDING"])
  func otherStates(status: String) throws {
    #expect(try AlipayNotice(["trade_status": status]).judgement().outcomes == [.ignored(status)])
  }

  @Test("a message that is not a notice of a trade is ignored")
  func otherMessages() throws {
    var message = AlipayNotice(["trade_status": nil, "msg_method": "alipay.some.message", "biz_content": "{}"])
    #expect(try message.judgement().outcomes.first?.ignoredReason != nil)
    message = AlipayNotice(["notify_type": "dut_user_sign"])
    #expect(try message.judgement().outcomes.first?.ignoredReason != nil)
  }

  @Test(
    "a notice of a refund is ignored, because it has only the sum of all refunds",
    arguments: [
      ["refund_fee": "3.00"], ["refund_fee": "0.01"], ["refund_fee": "unclear"],
      ["gmt_refund": "2026-11-21 09:00:00.123"],
      ["refund_fee": "12.50", "gmt_refund": "2026-11-21 09:00:00.123", "trade_status": "TRADE_CLOSED"],
    ])
  func refund(changes: [String: String]) throws {
    let judgement = try AlipayNotice(changes.mapValues { $0 }).judgement()
    #expect(judgement.outcomes.first?.ignoredReason?.contains("refund") == true)
  }

  @Test(
    "a notice whose refund_fee is zero or missing is a payment and not a refund", arguments: ["0.00", "0", "", nil])
  func noRefund(fee: String?) throws {
    #expect(try AlipayNotice(["refund_fee": fee]).judgement().payments.count == 1)
  }

  @Test("a payment without seller_id has the id of the app as its merchant")
  func app() throws {
    let notice = AlipayNotice(["seller_id": nil])
    #expect(try notice.judgement().payments.first?.merchant == "2021000000000001")
    var endpoint = try AlipayNotice.endpoint()
    endpoint.merchants = ["2088000000000001"]
    #expect(try notice.judgement(by: endpoint).outcomes.first?.ignoredReason != nil)
  }

  @Test("a payment in a foreign currency keeps its currency, and a payment with an unclear currency is refused")
  func currencies() throws {
    let payment = try AlipayNotice(["trans_currency": "HKD"]).judgement().payments.first
    #expect(payment?.amount.currency.code == "HKD")
    for changes in [["trans_currency": "XXX"], ["trans_currency": "港币"], ["currency": "USD"], ["currency": "元"]] {
      #expect(try AlipayNotice(changes.mapValues { $0 }).judgement().outcomes.first?.refusedReason != nil)
    }
  }

  @Test(
    "a correctly signed notice with an unclear field is refused, and answered with success",
    arguments: [
      ["total_amount": "12.505"], ["total_amount": "-12.50"], ["total_amount": "1e3"], ["total_amount": "12,50"],
      ["total_amount": "１２"], ["total_amount": ""], ["trade_no": ""], ["trade_no": "2026 1120"], ["trade_no": "交易"],
    ])
  func unclear(changes: [String: String]) throws {
    let judgement = try AlipayNotice(changes.mapValues { $0 }).judgement()
    #expect(judgement.outcomes.first?.refusedReason != nil && judgement.verdict == .accepted)
  }

  @Test("a sum of zero is ignored")
  func zero() throws {
    #expect(try AlipayNotice(["total_amount": "0.00"]).judgement().outcomes.first?.ignoredReason != nil)
  }

  // MARK: Signatures

  @Test("a notice in GBK is verified by its bytes, and its ASCII values are read")
  func gbk() throws {
    var notice = AlipayNotice(["charset": "GBK"])
    notice.fields["subject"] = Data([0xB2, 0xE8, 0xD2, 0xB6])
    #expect(try notice.judgement().payments.first?.amount.decimalText == "12.50")
  }

  @Test("a signature may cover empty values or leave them out", arguments: [true, false])
  func emptyValues(areSigned: Bool) throws {
    var notice = AlipayNotice(["body": "", "passback_params": "a%3Db"])
    notice.signsEmptyValues = areSigned
    #expect(try notice.judgement().payments.count == 1)
  }

  @Test("an added key with an empty value makes the signature invalid")
  func addedKey() throws {
    var request = try AlipayNotice().request()
    request.body.append(Data("&total_fee=".utf8))
    #expect(try rejection(of: request) == .signatureInvalid)
  }

  @Test("a signature may cover sign_type, as in messages of the open platform")
  func signedType() throws {
    var notice = AlipayNotice()
    notice.unsigned = []
    #expect(try notice.judgement().payments.count == 1)
  }

  @Test("a certificate is found by alipay_cert_sn, and a signature by another certificate is refused")
  func certificates() throws {
    var notice = AlipayNotice(["alipay_cert_sn": "0123456789abcdef"])
    notice.unsigned.insert("alipay_cert_sn")
    var endpoint = try AlipayNotice.endpoint()
    #expect(try notice.judgement(by: endpoint).isVerified)
    endpoint.publicKeys["0123456789abcdef"] = try RSATestKey().pem
    #expect(try notice.judgement(by: endpoint).rejection?.code == .signatureInvalid)
    endpoint.publicKeys = ["0123456789abcdef": try RSATestKey.shared().certificate()]
    #expect(try notice.judgement(by: endpoint).isVerified)
    endpoint.publicKeys = ["fedcba9876543210": try RSATestKey().pem]
    #expect(try notice.judgement(by: endpoint).rejection?.code == .keyUnknown)
  }

  @Test("a signature may cover alipay_cert_sn or leave it out", arguments: [true, false])
  func certificateNumber(isSigned: Bool) throws {
    var notice = AlipayNotice(["alipay_cert_sn": "0123456789abcdef"])
    if !isSigned { notice.unsigned.insert("alipay_cert_sn") }
    #expect(try notice.judgement().payments.count == 1)
  }

  @Test("a signature by any key of the endpoint is accepted, and a notice is answered with 500 if no key can be read")
  func severalKeys() throws {
    var endpoint = try AlipayNotice.endpoint()
    endpoint.publicKeys["new"] = try RSATestKey().pem
    #expect(try AlipayNotice().judgement(by: endpoint).isVerified)
    for keys in [[:], ["old": "not a key"]] {
      endpoint.publicKeys = keys
      let judgement = try AlipayNotice().judgement(by: endpoint)
      #expect(judgement.rejection?.code == .keyUnknown && endpoint.answer(to: judgement.verdict).status == 500)
    }
  }

  @Test("a notice whose signature type is missing or is not RSA2 is refused", arguments: ["RSA", "rsa2", "", nil])
  func signatureTypes(type: String?) throws {
    #expect(try AlipayNotice(["sign_type": type]).judgement().rejection?.code == .signatureInvalid)
  }

  @Test("a notice without a signature is refused")
  func noSignature() throws {
    let fields = AlipayNotice().fields.map { ($0.key, $0.value) }
    #expect(try rejection(of: AlipayNotice.request(fields)) == .signatureMissing)
    #expect(try rejection(of: AlipayNotice.request(fields + [("sign", Data())])) == .signatureMissing)
  }

  @Test("a plus in the signature that is not escaped is read as a space, and makes the signature invalid")
  func plus() throws {
    var request = try AlipayNotice().request()
    var number = 0
    while request.body.range(of: Data("%2B".utf8)) == nil {
      number += 1
      request = try AlipayNotice(["out_trade_no": "\(number)"]).request()
    }
    #expect(try rejection(of: request) == nil)
    request.body = Data(String(decoding: request.body, as: UTF8.self).replacing("%2B", with: "+").utf8)
    #expect(try rejection(of: request) == .signatureInvalid)
  }

  @Test("quotation marks that a host has turned into &quot; make the signature invalid")
  func quotationMarks() throws {
    let notice = AlipayNotice(["fund_bill_list": #"[{"amount":"12.50"}]"#])
    var request = try notice.request()
    #expect(try rejection(of: request) == nil)
    let body = String(decoding: request.body, as: UTF8.self).replacing("%22", with: "%26quot%3B")
    request.body = Data(body.utf8)
    #expect(try rejection(of: request) == .signatureInvalid)
  }

  @Test(
    "a key that occurs twice is refused, also if it is percent-encoded or has an empty value",
    arguments: ["total_amount=12.50", "total%5Famount=99", "sign=", "sign_type=RSA2", "subject="])
  func repeatedKey(field: String) throws {
    var request = try AlipayNotice().request()
    request.body.append(Data("&\(field)".utf8))
    #expect(try rejection(of: request) == .headerRepeated)
  }

  @Test(
    "a body that is not an urlencoded form is refused",
    arguments: ["", "&", "a", "=b", "a=%", "a=%2", "a=%zz", "a%26b=c", "a b=c", "{}", "a=b&", "a=b&&c=d", "é=1"])
  func malformed(body: String) throws {
    #expect(try rejection(of: ProviderRequest(headers: [], body: Data(body.utf8))) == .malformed)
  }

  @Test("a body of more than 64 KiB is refused")
  func largeBody() throws {
    let body = Data("a=".utf8) + Data(repeating: UInt8(ascii: "b"), count: 64 * 1_024)
    #expect(try rejection(of: ProviderRequest(headers: [], body: body)) == .malformed)
  }

  @Test("a notice whose signed text can be divided in another way is refused, and the other division makes no payment")
  func ambiguousText() throws {
    let genuine = AlipayNotice(["subject": "tea&total_amount=9999.00&trade_no=1&trade_status=TRADE_SUCCESS&z="])
    let judgement = try genuine.judgement()
    #expect(judgement.isVerified && judgement.outcomes.first?.refusedReason != nil)

    // The same signed text, with the genuine sum hidden in the value of another key.
    var forged = try genuine.request()
    let signature = try RSATestKey.shared().signature(of: signedText(of: genuine))
    var fields = genuine.fields
    fields["subject"] = Data("tea".utf8)
    fields["total_amount"] = Data("9999.00".utf8)
    fields["trade_no"] = Data("1".utf8)
    let hidden = "&total_amount=12.50&trade_no=2026112022001400000000000001&trade_status=TRADE_SUCCESS"
    fields["z"] = Data(hidden.utf8)
    fields["sign"] = Data(signature.utf8)
    forged = AlipayNotice.request(fields.map { ($0.key, $0.value) })
    let forgedJudgement = try AlipayNotice.endpoint().judge(forged, at: AlipayNotice.now)
    #expect(forgedJudgement.isVerified && forgedJudgement.payments.isEmpty)
  }

  /// Keys with an empty value, and `alipay_cert_sn`, may be unsigned. An empty value decides nothing, and
  /// `alipay_cert_sn` decides only which key is tried. This notice has no such key.
  @Test("a change of any byte of the body invalidates the signature")
  func changedBytes() throws {
    let genuine = try AlipayNotice().request()
    let endpoint = try AlipayNotice.endpoint()
    for index in genuine.body.indices {
      var request = genuine
      request.body[index] ^= 1
      let judgement = endpoint.judge(request, at: AlipayNotice.now)
      #expect(!judgement.isVerified && judgement.outcomes.isEmpty, "byte \(index)")
    }
  }

  @Test("3,000 randomly changed requests are refused, or have the outcomes of the unchanged request")
  func randomlyChanged() throws {
    let endpoint = try AlipayNotice.endpoint()
    let genuine = try AlipayNotice().request()
    let outcomes = endpoint.judge(genuine, at: AlipayNotice.now).outcomes
    var changed = ChangedRequests(
      of: ProviderRequest(headers: [], body: genuine.body),
      texts: [
        "&", "=", "%", "+", "%26", "&total_amount=99.00", "&trade_status=TRADE_SUCCESS", "&body=", "&sign_type=RSA",
        "&sign=",
        "&trans_currency=KWD", "&alipay_cert_sn=1",
      ], seed: 2)
    var refused = 0
    for _ in 0..<3_000 {
      let judgement = endpoint.judge(changed.next(), at: AlipayNotice.now)
      if judgement.isVerified { #expect(judgement.outcomes == outcomes) } else { refused += 1 }
    }
    #expect(refused > 2_900)
  }

  // MARK: Answers

  @Test("success is answered with the word 'success' alone, and every other outcome with 'fail'")
  func answers() throws {
    let endpoint = try AlipayNotice.endpoint()
    let accepted = endpoint.answer(to: .accepted)
    #expect(accepted == ProviderAnswer(status: 200, contentType: "text/plain", body: "success"))
    #expect(accepted.body.count == 7)
    let rejected = endpoint.answer(to: .rejected(ProviderRejection(.signatureInvalid, "")))
    #expect(rejected == ProviderAnswer(status: 401, contentType: "text/plain", body: "fail"))
    for status in [429, 500, 503] {
      let failed = endpoint.answer(to: .failed(status: status))
      #expect(failed == ProviderAnswer(status: status, contentType: "text/plain", body: "fail"))
    }
  }

  private func signedText(of notice: AlipayNotice) -> Data {
    Data(
      notice.fields.filter { $0.key != "sign_type" }.sorted { $0.key < $1.key }
        .map { Data("\($0.key)=".utf8) + $0.value }.joined(separator: Data("&".utf8)))
  }

  private func rejection(of request: ProviderRequest) throws -> ProviderRejection.Code? {
    try AlipayNotice.endpoint().judge(request, at: AlipayNotice.now).rejection?.code
  }
}
