// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import PaymentProviders

/// A notice of WeChat Pay that the tests sign and encrypt with their own keys.
struct WeChatNotice {
  static let serial = "7F0000000000000000000000000000000000000A"
  static let decryptionKey = "a-key-of-thirty-two-ascii-bytes."
  static let now = Date(timeIntervalSince1970: 1_790_000_000)

  /// Returns an endpoint that has the keys of the notices.
  static func endpoint() throws -> ProviderEndpoint {
    var endpoint = ProviderEndpoint(id: "till", provider: .wechatpay, account: "shop")
    endpoint.publicKeys = [serial: try RSATestKey.shared().pem]
    endpoint.apiV3Key = ProviderSecret(decryptionKey)
    return endpoint
  }

  static let payment = """
    {"mchid":"1600000001","transaction_id":"4200001234202611200000000001","trade_state":"SUCCESS",\
    "success_time":"2026-11-20T20:23:58+08:00","amount":{"total":1250,"payer_total":1000,"currency":"CNY"}}
    """
  static let refund = """
    {"mchid":"1600000001","transaction_id":"4200001234202611200000000001","refund_id":"50300001232026112000000000002",\
    "refund_status":"SUCCESS","success_time":"2026-11-21T09:00:00+08:00","amount":{"total":1250,"refund":300}}
    """

  var type = "TRANSACTION.SUCCESS"
  /// The object that is encrypted.
  var object = payment
  /// The text that is authenticated together with the encrypted text, as JSON; nil if the notice has no such key.
  var associatedData: String? = "transaction"
  /// The whole body, if it differs from that of a notice.
  var body: Data?
  var time = "1790000000"
  var nonce = "n0nce-of-the-request"
  var serial = WeChatNotice.serial

  func request() throws -> ProviderRequest {
    let body = try body ?? encryptedBody()
    let signed = Data("\(time)\n\(nonce)\n".utf8) + body + Data("\n".utf8)
    return ProviderRequest(
      headers: [
        ("Wechatpay-Serial", serial), ("Wechatpay-Timestamp", time), ("Wechatpay-Nonce", nonce),
        ("Wechatpay-Signature", try RSATestKey.shared().signature(of: signed)),
        ("Wechatpay-Signature-Type", "WECHATPAY2-SHA256-RSA2048"),
      ], body: body)
  }

  func judgement(by endpoint: ProviderEndpoint? = nil, at now: Date = now) throws -> ProviderJudgement {
    try (endpoint ?? Self.endpoint()).judge(request(), at: now)
  }

  private func encryptedBody() throws -> Data {
    let nonce = "12-ascii-ok!"
    let box = try AES.GCM.seal(
      Data(object.utf8), using: SymmetricKey(data: Data(Self.decryptionKey.utf8)),
      nonce: AES.GCM.Nonce(data: Data(nonce.utf8)), authenticating: Data((associatedData ?? "").utf8))
    let sealed = (box.ciphertext + box.tag).base64EncodedString()
    let extra = associatedData.map { #","associated_data":"\#($0)""# } ?? ""
    return Data(
      #"""
      {"id":"event-1","event_type":"\#(type)","resource_type":"encrypt-resource","resource":\#
      {"algorithm":"AEAD_AES_256_GCM","ciphertext":"\#(sealed)","nonce":"\#(nonce)"\#(extra)}}
      """#.utf8)
  }
}
