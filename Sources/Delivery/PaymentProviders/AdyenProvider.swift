// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Adyen: the standard webhook, and the events of its platforms.
///
/// According to Adyen's documents and libraries, every item of a standard webhook carries an HMAC with SHA-256 over
/// eight of its fields. Nothing else is signed, so nothing else is used. A platform's event has an HMAC over the whole
/// body in the header `HmacSignature`. The key is written in hexadecimal digits.
package struct AdyenProvider: PaymentProvider {
  private static let header = "HmacSignature"
  /// The largest body, in bytes. It is parsed before it is verified, because the signatures are in it.
  private static let largestBody = 64 * 1_024

  /// Adyen counts CLP and ISK in hundredths, and CVE and IDR in whole units, unlike ISO 4217. BIF is missing on Adyen's
  /// page "Currency codes and minor units". Adyen's Java library counts BIF in hundredths, unlike ISO 4217.
  static let minorUnits = MinorUnitDigits(["CLP": 2, "ISK": 2, "CVE": 0, "IDR": 0], unclear: ["BIF"])

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    guard request.body.count <= Self.largestBody else {
      throw ProviderRejection(.malformed, "The body is larger than any webhook of Adyen.")
    }
    let header = try request.header(Self.header)
    let keys = endpoint.secrets.compactMap { SignatureEncoding.hex.bytes(of: $0.text) }
    func isSigned(_ message: Data, by signature: String) -> Bool {
      guard let code = SignatureEncoding.base64.bytes(of: signature) else { return false }
      return SignatureChecks.isAnyCode([code], of: message, keys: keys, .sha256)
    }
    // Only the signed fields of this body are used. A body that is not strict JSON is verified first and refused
    // afterwards. Adyen then gets a successful answer, because it sends nothing else to the endpoint while one webhook
    // fails.
    let body = JSONFields(request.body) ?? JSONFields(JSONFields.withoutHalfPairs(request.body))
    guard let items = body?["notificationItems"] else {
      guard let header, !header.isEmpty else {
        throw ProviderRejection(
          .signatureMissing,
          "The webhook has no signature: its body has no readable notificationItems, and \(Self.header) is missing.")
      }
      guard isSigned(request.body, by: header) else { throw .wrongSignature(Self.header) }
      return VerifiedWebhook(request)
    }
    guard let elements = items.elements, !elements.isEmpty else {
      throw ProviderRejection(.malformed, "The webhook has no items.")
    }
    for element in elements {
      guard let item = AdyenItem(element) else {
        throw ProviderRejection(.malformed, "An item does not have the form that Adyen documents.")
      }
      guard let signature = item.signature, !signature.isEmpty else {
        throw ProviderRejection(
          .signatureMissing, "An item has no hmacSignature. Generate the webhook's HMAC key in the Customer Area.")
      }
      guard isSigned(item.message, by: signature) else { throw .wrongSignature("An item's hmacSignature") }
    }
    return VerifiedWebhook(request)
  }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let event = JSONFields(webhook.body) else { return [.refused("The body is not strict JSON.")] }
    guard let items = event["notificationItems"]?.elements else {
      return [.ignored(event["type"]?.text ?? "an event of Adyen for Platforms")]
    }
    return items.map { AdyenItem($0).map { outcome(of: $0, for: endpoint) } ?? .refused("An item is malformed.") }
  }

  package func answer(to verdict: ProviderVerdict, for endpoint: ProviderEndpoint) -> ProviderAnswer {
    guard verdict == .accepted else { return ProviderAnswer(status: verdict.status) }
    // Webhooks that were set up long ago require this body in the answer.
    return ProviderAnswer(status: 200, contentType: "text/plain", body: "[accepted]")
  }

  private func outcome(of item: AdyenItem, for endpoint: ProviderEndpoint) -> ProviderOutcome {
    let succeeded: Bool
    switch item.success {
    case "true": succeeded = true
    case "false": succeeded = false
    default: return .refused("\(item.eventCode): success is neither true nor false.")
    }
    switch item.eventCode {
    case "AUTHORISATION":
      guard succeeded else { return item.payment(item.pspReference, .failed) }
      guard !endpoint.awaitsCapture else { return .ignored("AUTHORISATION, but the endpoint waits for CAPTURE") }
      return item.payment(item.pspReference, .received)
    case "CAPTURE":
      guard endpoint.awaitsCapture else { return .ignored("CAPTURE, but the endpoint does not wait for it") }
      return succeeded ? item.payment(item.originalReference, .received) : .ignored("CAPTURE, not successful")
    case "REFUND":
      return succeeded ? item.payment(item.pspReference, .refunded) : .ignored("REFUND, not successful")
    case "REFUND_FAILED", "REFUNDED_REVERSED", "CAPTURE_FAILED":
      // An earlier announcement may have said the opposite. No kind of payment can withdraw it, and "received" would
      // sound like a new sale. A person therefore has to look at the event.
      return .refused("\(item.eventCode) may take back a payment that was announced. Look at the payment in Adyen.")
    case "CANCEL_OR_REFUND":
      // Terminals send this event for a refund (Adyen's page "Outcome of a refund"); other senders use it for a
      // cancellation.
      return succeeded
        ? .refused("CANCEL_OR_REFUND: the part that says whether money was refunded is not signed.")
        : .ignored("CANCEL_OR_REFUND, not successful")
    default: return .ignored(item.eventCode)
    }
  }
}

/// The signed fields of an item, each as it is signed. A field that is absent counts as empty.
private struct AdyenItem {
  let pspReference: String
  let originalReference: String
  let merchantAccountCode: String
  let merchantReference: String
  let value: String
  let currency: String
  let eventCode: String
  let success: String
  let signature: String?

  /// - Returns: nil if a field is not a text, a number or a boolean, or if a field other than the shop's own reference
  ///   has a colon. In the signed text, colons separate the fields, and nothing is escaped. If two fields could have
  ///   colons, an attacker could make an item with another id and the same signature.
  init?(_ element: JSONFields) {
    guard let item = element["NotificationRequestItem"] else { return nil }
    func signed(_ field: JSONFields?, mayHaveColon: Bool = false) -> String? {
      guard let field else { return "" }
      let text = field.boolean.map { $0 ? "true" : "false" } ?? field.characters
      guard let text, mayHaveColon || !text.utf8.contains(UInt8(ascii: ":")) else { return nil }
      return text
    }
    guard let pspReference = signed(item["pspReference"]), let originalReference = signed(item["originalReference"]),
      let merchantAccountCode = signed(item["merchantAccountCode"]),
      let merchantReference = signed(item["merchantReference"], mayHaveColon: true),
      let value = signed(item["amount", "value"]), let currency = signed(item["amount", "currency"]),
      let eventCode = signed(item["eventCode"]), let success = signed(item["success"])
    else { return nil }
    (self.pspReference, self.originalReference) = (pspReference, originalReference)
    (self.merchantAccountCode, self.merchantReference) = (merchantAccountCode, merchantReference)
    (self.value, self.currency, self.eventCode, self.success) = (value, currency, eventCode, success)
    signature = item["additionalData", "hmacSignature"]?.text
  }

  var message: Data {
    let fields = [
      pspReference, originalReference, merchantAccountCode, merchantReference, value, currency, eventCode, success,
    ]
    return Data(fields.joined(separator: ":").utf8)
  }

  func payment(_ reference: String, _ kind: Payment.Kind) -> ProviderOutcome {
    guard let id = JSONFields(.string(reference)).id else { return .refused("\(eventCode) has no reference.") }
    guard let units = JSONFields(.string(value)).wholeNumber else {
      return .refused("\(eventCode) has no sum in whole minor units.")
    }
    return ProviderOutcome(id: id, kind, minor: units, currency, AdyenProvider.minorUnits).with { payment in
      payment.merchant = merchantAccountCode.isEmpty ? nil : merchantAccountCode
      // `live` is not signed. The test webhooks of the Customer Area have signed references such as
      // `test_AUTHORISATION_1` (a test of Adyen's Java library uses such a reference).
      if pspReference.hasPrefix("test_") { payment.isLive = false }
    }
  }
}
