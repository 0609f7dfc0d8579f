// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Foundation
import PaymentProviders

/// A standard webhook of Adyen that the tests sign with their own key.
struct AdyenWebhook {
  static let key = "0A1b2C3d4E5f60718293a4B5c6D7e8F90A1b2C3d4E5f60718293a4B5c6D7e8F9"
  static let now = Date(timeIntervalSince1970: 1_790_000_000)

  /// Returns an endpoint that has the key of the webhooks.
  static func endpoint() -> ProviderEndpoint {
    var endpoint = ProviderEndpoint(id: "till", provider: .adyen, account: "shop")
    endpoint.secrets = [ProviderSecret(key)]
    endpoint.kinds = [.received, .refunded, .failed]
    return endpoint
  }

  /// Returns the code of a message in base64.
  static func code(of message: Data) -> String {
    let key = SymmetricKey(data: SignatureEncoding.hex.bytes(of: Self.key) ?? Data())
    return Data(HMAC<SHA256>.authenticationCode(for: message, using: key)).base64EncodedString()
  }

  /// An item of a webhook.
  struct Item {
    var pspReference = "NC6HT9CRT65ZGN82"
    /// The payment that a refund or another change is about; nil if the item has no such field.
    var originalReference: String?
    var account = "ShopAccount"
    var reference = "order-17"
    /// The sum as JSON.
    var value = "1250"
    var currency = "EUR"
    var event = "AUTHORISATION"
    /// Whether the event succeeded, as JSON.
    var success = #""true""#
    /// Further fields, which are not signed, as JSON.
    var unsigned = #""eventDate":"2026-11-20T20:23:58+01:00","paymentMethod":"visa","reason":"""#

    /// The message that is signed.
    var message: Data {
      let fields = [pspReference, originalReference ?? "", account, reference, value, currency, event, success]
      return Data(fields.joined(separator: ":").replacing("\"", with: "").utf8)
    }

    /// The item as JSON.
    ///
    /// - Parameter code: Its signature; nil for the right one.
    func json(code: String? = nil) -> String {
      let original = originalReference.map { #""originalReference":"\#($0)","# } ?? ""
      let reference = reference.replacing(#"\"#, with: #"\\"#)
      return #"""
        {"NotificationRequestItem":{"pspReference":"\#(pspReference)",\#(original)"merchantAccountCode":"\#(account)",\#
        "merchantReference":"\#(reference)","amount":{"value":\#(value),"currency":"\#(currency)"},\#
        "eventCode":"\#(event)","success":\#(success),\#(unsigned),\#
        "additionalData":{"hmacSignature":"\#(code ?? AdyenWebhook.code(of: message))"}}}
        """#
    }
  }

  /// Returns a request with items.
  static func request(_ items: [String]) -> ProviderRequest {
    ProviderRequest(
      headers: [("Content-Type", "application/json")],
      body: Data(#"{"live":"true","notificationItems":[\#(items.joined(separator: ","))]}"#.utf8))
  }

  static func judgement(_ items: [Item], by endpoint: ProviderEndpoint = endpoint()) -> ProviderJudgement {
    endpoint.judge(request(items.map { $0.json() }), at: now)
  }
}
