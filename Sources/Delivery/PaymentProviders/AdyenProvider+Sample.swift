// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension AdyenProvider {
  /// Returns the signature of an item.
  ///
  /// - Parameter fields: The eight signed fields in Adyen's order: `pspReference`, `originalReference`,
  ///   `merchantAccountCode`, `merchantReference`, `value`, `currency`, `eventCode`, `success`.
  /// - Returns: nil if the secret is not in hexadecimal digits.
  package static func signature(of fields: [String], with secret: ProviderSecret) -> String? {
    SignatureEncoding.hex.bytes(of: secret.text).map { key in
      let code = SignatureChecks.code(of: Data(fields.joined(separator: ":").utf8), key: key, .sha256)
      return SignatureEncoding.base64.text(of: code)
    }
  }

  package func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest? {
    // The references of test webhooks begin with `test_`.
    let id = (endpoint.isLive ? "" : "test_") + id
    let (event, original) = endpoint.awaitsCapture ? ("CAPTURE", id) : ("AUTHORISATION", "")
    let reference = endpoint.awaitsCapture ? id + "-capture" : id
    let merchant = endpoint.merchants.min() ?? "Sample"
    let fields = [reference, original, merchant, "sample", "100", "EUR", event, "true"]
    guard let secret = endpoint.secrets.first, let signature = Self.signature(of: fields, with: secret) else {
      return nil
    }
    let item: [String: any Sendable] = [
      "pspReference": reference, "originalReference": original, "merchantAccountCode": merchant,
      "merchantReference": "sample", "amount": ["value": 100, "currency": "EUR"] as [String: any Sendable],
      "eventCode": event, "success": "true", "eventDate": now.formatted(.iso8601),
      "additionalData": ["hmacSignature": signature],
    ]
    let body = SampleBody.json([
      "live": endpoint.isLive ? "true" : "false", "notificationItems": [["NotificationRequestItem": item]],
    ])
    return SampleBody.request(body, [])
  }
}
