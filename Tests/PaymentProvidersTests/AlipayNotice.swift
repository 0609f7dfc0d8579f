// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders

/// A notice of Alipay that the tests sign with their own key.
struct AlipayNotice {
  static let now = Date(timeIntervalSince1970: 1_790_000_000)

  /// Returns an endpoint that has the key of the notices.
  static func endpoint() throws -> ProviderEndpoint {
    var endpoint = ProviderEndpoint(id: "till", provider: .alipay, account: "shop")
    endpoint.publicKeys = ["any name": try RSATestKey.shared().base64]
    return endpoint
  }

  /// The keys and values, without the signature.
  var fields: [String: Data] = [
    "app_id": "2021000000000001", "charset": "utf-8", "gmt_payment": "2026-11-20 20:23:58",
    "notify_time": "2026-11-20 20:24:01", "notify_type": "trade_status_sync", "refund_fee": "0.00",
    "seller_id": "2088000000000001", "subject": "Tee & Gebäck", "total_amount": "12.50",
    "trade_no": "2026112022001400000000000001", "trade_status": "TRADE_SUCCESS", "sign_type": "RSA2",
  ].mapValues { Data($0.utf8) }
  /// The keys that are not signed, beside `sign`.
  var unsigned: Set<String> = ["sign_type"]
  /// Whether empty values are signed.
  var signsEmptyValues = true

  init(_ changes: [String: String?] = [:]) {
    for (key, value) in changes { fields[key] = value.map { Data($0.utf8) } }
  }

  func request() throws -> ProviderRequest {
    let signed = fields.filter { !unsigned.contains($0.key) && (signsEmptyValues || !$0.value.isEmpty) }
      .sorted { $0.key < $1.key }.map { Data("\($0.key)=".utf8) + $0.value }.joined(separator: Data("&".utf8))
    let signature = try RSATestKey.shared().signature(of: Data(signed))
    return Self.request(fields.map { ($0.key, $0.value) } + [("sign", Data(signature.utf8))])
  }

  func judgement(by endpoint: ProviderEndpoint? = nil) throws -> ProviderJudgement {
    try (endpoint ?? Self.endpoint()).judge(request(), at: Self.now)
  }

  /// Returns a request with a form of keys and values, in the order of their keys.
  static func request(_ fields: [(key: String, value: Data)]) -> ProviderRequest {
    let body = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\(escaped($0.value))" }.joined(separator: "&")
    return ProviderRequest(
      headers: [("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")], body: Data(body.utf8))
  }

  private static func escaped(_ value: Data) -> String {
    value.map { byte in
      switch byte {
      case 0x20: "+"
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        String(decoding: [byte], as: UTF8.self)
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}
