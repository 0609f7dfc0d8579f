// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
package import Foundation

/// WeChat Pay, API version 3: the notices of payments, combined orders and refunds.
///
/// According to WeChat Pay's documents and wechatpay-go, requests have an RSA signature with SHA-256 over
/// `timestamp\nnonce\nbody\n`. The header `Wechatpay-Serial` names the key: the serial number of a platform
/// certificate, or `PUB_KEY_ID_…`. While WeChat Pay replaces the certificate with the public key, it signs with either
/// of them. The payment is in `resource`, encrypted with the merchant's APIv3 key.
package struct WeChatPayProvider: PaymentProvider {
  private static let signatureHeader = "Wechatpay-Signature"
  private static let signatureType = "WECHATPAY2-SHA256-RSA2048"
  /// The beginning of wrong signatures that WeChat Pay sends on purpose, to see whether they are refused.
  private static let probePrefix = "WECHATPAY/SIGNTEST/"
  /// The greatest difference in seconds between the signed time and now, as in wechatpay-go. That library refuses a
  /// difference of 300 seconds. Other libraries accept 300.
  private static let window: Int64 = 299

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    let signature = try request.requiredHeader(Self.signatureHeader)
    let serial = try request.requiredHeader("Wechatpay-Serial")
    let time = try request.requiredHeader("Wechatpay-Timestamp")
    let nonce = try request.requiredHeader("Wechatpay-Nonce")
    let type = try request.header("Wechatpay-Signature-Type") ?? Self.signatureType
    guard !signature.hasPrefix(Self.probePrefix) else {
      throw ProviderRejection(.probe, "WeChat Pay tests whether wrong signatures are refused. Nothing is to be done.")
    }
    guard type == Self.signatureType else {
      throw ProviderRejection(
        .signatureInvalid, "The signature is not an RSA signature. Choose RSA instead of SM2 in the merchant platform.")
    }
    guard let key = endpoint.rsaKeys[serial] else {
      throw ProviderRejection(
        .keyUnknown,
        "The request is signed with a key that the endpoint does not have, or cannot read. Set that key in "
          + "public_keys, under its serial number or its PUB_KEY_ID. WeChat Pay sends the request again.")
    }
    // If the time or the nonce had a line break, the same signature would fit a message that is divided differently.
    guard let bytes = SignatureEncoding.base64.bytes(of: signature), !(time + nonce).utf8.contains(0x0A),
      key.isSignature(bytes, of: Data("\(time)\n\(nonce)\n".utf8) + request.body + Data("\n".utf8), .sha256)
    else { throw .wrongSignature(Self.signatureHeader) }
    return VerifiedWebhook(request, signedAt: try SignedTime.date(time, within: Self.window, of: now))
  }

  package func outcomes(
    of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint
  ) throws(ProviderFault) -> [ProviderOutcome] {
    guard let event = JSONFields(webhook.body) else { return [.refused("The body is not strict JSON.")] }
    guard let type = event["event_type"]?.text else { return [.refused("The event has no event_type.")] }
    guard ["TRANSACTION.SUCCESS", "REFUND.SUCCESS"].contains(type) else { return [.ignored(type)] }
    guard let resource = event["resource"], resource["algorithm"]?.text == "AEAD_AES_256_GCM",
      let nonce = resource["nonce"]?.text, let sealed = Data(base64Encoded: resource["ciphertext"]?.text ?? "")
    else { return [.refused("The event \(type) has no resource that is encrypted with AEAD_AES_256_GCM.")] }
    guard let key = endpoint.apiV3Key else {
      throw ProviderFault("The event cannot be decrypted: set api_v3_key. WeChat Pay sends the event again.")
    }
    let extra = resource["associated_data"]?.text ?? ""
    guard let text = Self.opened(sealed, nonce: nonce, authenticating: extra, with: key) else {
      throw ProviderFault(
        "The event cannot be decrypted: api_v3_key is not the APIv3 key of the merchant platform. Correct it. WeChat "
          + "Pay sends the event again.")
    }
    guard let object = JSONFields(text) else { return [.refused("The decrypted \(type) is not strict JSON.")] }
    if type == "REFUND.SUCCESS" { return [refund(object)] }
    guard let orders = object["sub_orders"] else { return [transaction(object, "total")] }
    // A combined order has a payment for each of its parts, and the parts can belong to different merchants.
    guard let orders = orders.elements, !orders.isEmpty else { return [.refused("The combined order has no parts.")] }
    return orders.map { transaction($0, "total_amount") }
  }

  package func answer(to verdict: ProviderVerdict, for endpoint: ProviderEndpoint) -> ProviderAnswer {
    let message: String
    switch verdict {
    case .accepted: return ProviderAnswer(status: 204)
    case .rejected: message = "the signature was not verified"
    case .failed: message = "not accepted now, send it again"
    }
    return ProviderAnswer(
      status: verdict.status, contentType: "application/json", body: #"{"code":"FAIL","message":"\#(message)"}"#)
  }

  /// Returns the outcome of a payment. Its sum is the sum of the order, which the shop receives, and not `payer_total`,
  /// which is lower if the payer used a coupon.
  private func transaction(_ order: JSONFields, _ amount: String) -> ProviderOutcome {
    guard order["trade_state"]?.text == "SUCCESS" else {
      return .ignored("TRANSACTION.SUCCESS, with a trade_state other than SUCCESS")
    }
    guard let id = order["transaction_id"]?.id else { return .refused("The payment has no transaction_id.") }
    guard let units = order["amount", amount]?.wholeNumber, let currency = order["amount", "currency"]?.text else {
      return .refused("The payment has no amount.\(amount) in whole minor units, or no currency.")
    }
    return described(ProviderOutcome(id: id, .received, minor: units, currency), by: order)
  }

  /// Returns the outcome of a refund. In WeChat Pay's documents, its amount has no currency; the currency is then the
  /// yuan.
  private func refund(_ object: JSONFields) -> ProviderOutcome {
    guard object["refund_status"]?.text == "SUCCESS" else {
      return .ignored("REFUND.SUCCESS, with a refund_status other than SUCCESS")
    }
    guard let id = object["refund_id"]?.id else { return .refused("The refund has no refund_id.") }
    guard let units = object["amount", "refund"]?.wholeNumber else {
      return .refused("The refund has no amount.refund in whole minor units.")
    }
    let currency: String
    switch object["amount", "currency"]?.value {
    case nil: currency = "CNY"
    case .string(let code)?: currency = code
    default: return .refused("The refund's currency is not a string.")
    }
    return described(ProviderOutcome(id: id, .refunded, minor: units, currency), by: object)
  }

  private func described(_ outcome: ProviderOutcome, by object: JSONFields) -> ProviderOutcome {
    outcome.with { payment in
      payment.channel = "wechatpay"
      payment.occurredAt = object["success_time"]?.text.flatMap(Timestamp.date)
      // For a service provider, `sub_mchid` is the shop, and `sp_mchid` the service provider.
      payment.merchant = (object["sub_mchid"] ?? object["mchid"] ?? object["sp_mchid"])?.id
    }
  }

  /// Returns the text that was encrypted with AES-GCM; nil if somebody without the key encrypted or changed it.
  ///
  /// - Parameter sealed: The encrypted text with the tag of 16 bytes at its end.
  private static func opened(
    _ sealed: Data, nonce: String, authenticating extra: String, with key: ProviderSecret
  ) -> Data? {
    guard let nonce = try? AES.GCM.Nonce(data: Data(nonce.utf8)),
      let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: sealed.dropLast(16), tag: sealed.suffix(16))
    else { return nil }
    return try? AES.GCM.open(box, using: SymmetricKey(data: key.bytes), authenticating: Data(extra.utf8))
  }
}
