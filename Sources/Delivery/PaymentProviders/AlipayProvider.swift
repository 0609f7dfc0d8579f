// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Alipay: the notices of trades.
///
/// According to Alipay's libraries, `sign` is an RSA signature with SHA-256 (RSA2) over the form's decoded values,
/// sorted by their keys. The signature has no time window. The payment's own time, `gmt_payment`, is signed.
package struct AlipayProvider: PaymentProvider {
  /// The largest body, in bytes. A notice has a few kilobytes, and its signature may have to be checked several times.
  private static let largestBody = 64 * 1_024

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    guard request.body.count <= Self.largestBody else {
      throw ProviderRejection(.malformed, "The body is larger than any notice of Alipay.")
    }
    let form = try AlipayForm(request.body)
    guard let sign = form["sign"] else { throw ProviderRejection(.signatureMissing, "The form has no sign.") }
    guard form["sign_type"] == "RSA2" else {
      throw ProviderRejection(
        .signatureInvalid, "The sign_type is not RSA2. Set the app's signature to RSA2 in the open platform.")
    }
    let certificate = form["alipay_cert_sn"]
    let known = endpoint.rsaKeys
    let named = certificate.flatMap { known[$0] }
    let keys = named.map { [$0] } ?? Array(known.values)
    if let signature = SignatureEncoding.base64.bytes(of: sign) {
      for text in form.signedTexts where keys.contains(where: { $0.isSignature(signature, of: text, .sha256) }) {
        return VerifiedWebhook(request)
      }
    }
    guard !keys.isEmpty, certificate == nil || named != nil else {
      throw ProviderRejection(
        .keyUnknown,
        "The notice is signed with a key that the endpoint does not have, or cannot read. Add Alipay's public key to "
          + "public_keys. If Alipay signs with a certificate, add the certificate under its alipay_cert_sn.")
    }
    throw .wrongSignature("sign")
  }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let form = try? AlipayForm(webhook.body) else { return [.refused("The body is not a form.")] }
    return [outcome(of: form)]
  }

  /// Alipay accepts only the body `success` as an answer, whatever the status, and sends the notice again after any
  /// other body. The status is for people who read the proxy's log.
  package func answer(to verdict: ProviderVerdict, for endpoint: ProviderEndpoint) -> ProviderAnswer {
    ProviderAnswer(
      status: verdict.status, contentType: "text/plain", body: verdict == .accepted ? "success" : "fail")
  }

  private func outcome(of form: AlipayForm) -> ProviderOutcome {
    guard !form.isAmbiguous else {
      return .refused("A value looks like further keys and values, so it is not clear what was signed.")
    }
    guard let status = form["trade_status"] else { return .ignored("a message without trade_status") }
    guard !isRefund(form) else {
      // `refund_fee` is the sum of all refunds so far, and the notice does not say which of them is new.
      return .ignored("a refund, but the notice has only the sum of all refunds")
    }
    // A product without refunds sends only TRADE_FINISHED. If TRADE_SUCCESS came before, both notices have the same id.
    guard ["TRADE_SUCCESS", "TRADE_FINISHED"].contains(status) else { return .ignored(status) }
    guard form["notify_type"] ?? "trade_status_sync" == "trade_status_sync" else {
      return .ignored("\(status), in a message that is not a notice of a trade")
    }
    guard let id = JSONFields(.string(form["trade_no"] ?? "")).id else {
      return .refused("The notice has no trade_no.")
    }
    guard let amount = form["total_amount"] else { return .refused("The notice has no total_amount in ASCII.") }
    // A trade in another currency names it in `trans_currency` (not confirmed for notices). A `currency` belongs to
    // another product of Alipay.
    guard form["currency"] ?? "CNY" == "CNY", form.has("currency") == (form["currency"] != nil),
      form.has("trans_currency") == (form["trans_currency"] != nil)
    else { return .refused("It is not clear in which currency total_amount is.") }
    return ProviderOutcome(id: id, .received, major: amount, form["trans_currency"] ?? "CNY").with { payment in
      payment.channel = "alipay"
      payment.occurredAt = form["gmt_payment"].flatMap(Self.date)
      // If a notice does not name the seller, the app's id is used instead. The endpoint's merchants must then list the
      // app's id.
      payment.merchant = form["seller_id"] ?? form["app_id"]
    }
  }

  /// Returns whether a notice reports a refund. Plain notices have a `refund_fee` too, of `0.00`.
  private func isRefund(_ form: AlipayForm) -> Bool {
    if form.has("gmt_refund") { return true }
    guard form.has("refund_fee") else { return false }
    return form["refund_fee"]?.allSatisfy { $0 == "0" || $0 == "." } != true
  }

  /// Reads a time such as `2026-11-20 20:23:58`, in China's time zone.
  private static func date(_ text: String) -> Date? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    return parts.count == 2 ? Timestamp.date("\(parts[0])T\(parts[1])+08:00") : nil
  }
}
