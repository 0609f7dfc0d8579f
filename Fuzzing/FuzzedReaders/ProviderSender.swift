// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import CryptoExtras
import Foundation
import PaymentProviders
import ProviderSettings

/// A provider that signs with keys which each process makes anew.
struct ProviderSender {
  var endpoint: ProviderEndpoint
  /// Whether the signature covers every byte of the body, so that any body can be signed and none can be changed.
  var signsAnyBody = true
  /// Whether a signature covers the payments. If there is only a token or a secret in the URL, any body is accepted.
  var isSigned = true
  var signsTime = false
  /// Returns a signed request. Its body is the given one, or one that the provider makes from it. Nil if the body
  /// cannot be signed.
  var sign: @Sendable (Data) -> ProviderRequest?

  static var all: [String: ProviderSender] {
    guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { fatalError("no RSA key can be made") }
    var senders = [
      "stripe": stripe, "razorpay": razorpay, "square": square, "standard-webhooks": standardWebhooks, "adyen": adyen,
      "wechatpay": wechatPay(key), "alipay": alipay(key),
    ]
    for name in ["shopify", "midtrans", "pix", "paystack", "omise", "xendit", "sepay", "cashfree"] {
      senders[name] = mapping(name)
    }
    return senders
  }

  private static func bytes(_ count: Int) -> Data { Data((0..<count).map { _ in UInt8.random(in: 0...255) }) }

  private static func endpoint(_ provider: ProviderName, _ secret: ProviderSecret? = nil) -> ProviderEndpoint {
    var endpoint = ProviderEndpoint(id: "till", provider: provider, account: "shop")
    endpoint.secrets = secret.map { [$0] } ?? []
    endpoint.kinds = [.received, .pending, .refunded, .withdrawn, .failed]
    endpoint.speaksPayer = true
    return endpoint
  }

  private static func randomSecret() -> ProviderSecret { ProviderSecret(SignatureEncoding.hex.text(of: bytes(24))) }

  private static var stripe: ProviderSender {
    let secret = randomSecret()
    return ProviderSender(endpoint: endpoint(.stripe, secret), signsTime: true) { body in
      ProviderRequest(headers: StripeProvider.headers(signing: body, with: secret, at: ProviderReading.now), body: body)
    }
  }

  private static var razorpay: ProviderSender {
    let secret = randomSecret()
    return ProviderSender(endpoint: endpoint(.razorpay, secret)) { body in
      ProviderRequest(headers: RazorpayProvider.headers(signing: body, with: secret), body: body)
    }
  }

  private static var square: ProviderSender {
    let (secret, url) = (randomSecret(), "https://shop.example/square")
    var endpoint = endpoint(.square, secret)
    endpoint.url = url
    return ProviderSender(endpoint: endpoint) { body in
      ProviderRequest(headers: SquareProvider.headers(signing: body, url: url, with: secret), body: body)
    }
  }

  private static var standardWebhooks: ProviderSender {
    let secret = ProviderSecret("whsec_" + bytes(32).base64EncodedString())
    return ProviderSender(endpoint: endpoint(.standardWebhooks, secret), signsTime: true) { body in
      StandardWebhooksProvider.headers(signing: body, id: "msg_1", with: secret, at: ProviderReading.now)
        .map { ProviderRequest(headers: $0, body: body) }
    }
  }

  /// The body's lines are the eight signed fields of an item. A field with a colon cannot be signed.
  private static var adyen: ProviderSender {
    let secret = randomSecret()
    return ProviderSender(endpoint: endpoint(.adyen, secret), signsAnyBody: false) { body in
      let fields = String(decoding: body, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        .map(String.init)
      guard fields.count >= 8, let signature = AdyenProvider.signature(of: Array(fields.prefix(8)), with: secret) else {
        return nil
      }
      let item: [String: Any] = [
        "pspReference": fields[0], "originalReference": fields[1], "merchantAccountCode": fields[2],
        "merchantReference": fields[3], "amount": ["value": fields[4], "currency": fields[5]], "eventCode": fields[6],
        "success": fields[7], "additionalData": ["hmacSignature": signature],
      ]
      return json(["notificationItems": [["NotificationRequestItem": item]]]).map {
        ProviderRequest(headers: [], body: $0)
      }
    }
  }

  /// The body is the plain text that the sender encrypts.
  private static func wechatPay(_ key: _RSA.Signing.PrivateKey) -> ProviderSender {
    let secret = bytes(16)
    let text = SignatureEncoding.hex.text(of: secret)
    var endpoint = endpoint(.wechatpay)
    endpoint.apiV3Key = ProviderSecret(text)
    endpoint.publicKeys = ["7F01": key.publicKey.pemRepresentation]
    return ProviderSender(endpoint: endpoint, signsTime: true) { body in
      guard let nonce = try? AES.GCM.Nonce(data: Data("twelve-bytes".utf8)),
        let box = try? AES.GCM.seal(
          body, using: SymmetricKey(data: Data(text.utf8)), nonce: nonce, authenticating: Data("a".utf8)),
        let notice = json([
          "event_type": body.count.isMultiple(of: 7) ? "REFUND.SUCCESS" : "TRANSACTION.SUCCESS",
          "resource": [
            "algorithm": "AEAD_AES_256_GCM", "nonce": "twelve-bytes", "associated_data": "a",
            "ciphertext": (box.ciphertext + box.tag).base64EncodedString(),
          ],
        ])
      else { return nil }
      let time = String(Int64(ProviderReading.now.timeIntervalSince1970))
      return signature(of: Data("\(time)\nn\n".utf8) + notice + Data("\n".utf8), key).map { signature in
        ProviderRequest(
          headers: [
            ("Wechatpay-Serial", "7F01"), ("Wechatpay-Timestamp", time), ("Wechatpay-Nonce", "n"),
            ("Wechatpay-Signature", signature),
          ], body: notice)
      }
    }
  }

  /// The body has the form's keys and values, neither of them encoded.
  private static func alipay(_ key: _RSA.Signing.PrivateKey) -> ProviderSender {
    var endpoint = endpoint(.alipay)
    endpoint.publicKeys = ["any": key.publicKey.pemRepresentation]
    return ProviderSender(endpoint: endpoint, signsAnyBody: false) { body in
      var fields: [String: Data] = [:]
      for pair in body.split(separator: UInt8(ascii: "&")) {
        let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { fields[String(decoding: parts[0], as: UTF8.self)] = Data(parts[1]) }
      }
      (fields["sign"], fields["sign_type"]) = (nil, nil)
      let text = fields.sorted { $0.key < $1.key }.map { Data("\($0.key)=".utf8) + $0.value }
        .joined(separator: Data("&".utf8))
      guard let sign = signature(of: Data(text), key) else { return nil }
      (fields["sign"], fields["sign_type"]) = (Data(sign.utf8), Data("RSA2".utf8))
      let form = fields.map {
        "\($0.key)=\($0.value.map { "%" + SignatureEncoding.hex.text(of: Data([$0])) }.joined())"
      }
      return ProviderRequest(headers: [], body: Data(form.joined(separator: "&").utf8))
    }
  }

  private static func mapping(_ name: String) -> ProviderSender {
    let secret = ProviderSecret(name == "omise" ? bytes(24).base64EncodedString() : randomSecret().text)
    var endpoint = endpoint(.mapping, secret)
    guard let file = try? MappingFile(contentsOf: URL(filePath: "Providers/\(name).yaml")) else {
      fatalError("Providers/\(name).yaml cannot be read")
    }
    endpoint.mapping = file.mapping
    let mapping = file.mapping
    let isHMAC = mapping.verification.scheme == .hmac
    return ProviderSender(
      endpoint: endpoint, signsAnyBody: isHMAC, isSigned: mapping.isSigned,
      signsTime: isHMAC && mapping.verification.time != nil
    ) { body in
      // The topic is not signed, but an order is accepted only with this topic.
      let headers = name == "shopify" ? [(name: "X-Shopify-Topic", value: "orders/paid")] : []
      return mapping.signed(ProviderRequest(headers: headers, body: body), with: secret, at: ProviderReading.now)
    }
  }

  private static func signature(of message: Data, _ key: _RSA.Signing.PrivateKey) -> String? {
    try? key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5).rawRepresentation
      .base64EncodedString()
  }

  private static func json(_ object: [String: Any]) -> Data? {
    try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
  }
}
