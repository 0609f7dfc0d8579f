// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The form in which Alipay sends a notice. Its values are bytes, because they may be written in GBK.
struct AlipayForm {
  private static let ampersand = UInt8(ascii: "&")
  private static let equalsSign = UInt8(ascii: "=")

  private let values: [String: Data]

  /// Reads a form and decodes its percent-encoding and its plus signs.
  ///
  /// - Throws: `.malformed` if the body is not a form with keys such as Alipay's; `.headerRepeated` for a key that
  ///   occurs twice.
  init(_ body: Data) throws(ProviderRejection) {
    var values: [String: Data] = [:]
    for field in body.split(separator: Self.ampersand, omittingEmptySubsequences: false) {
      let parts = field.split(separator: Self.equalsSign, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let key = FormFields.bytes(of: parts[0], plusIsSpace: true),
        let value = FormFields.bytes(of: parts[1], plusIsSpace: true), !key.isEmpty, key.allSatisfy(Self.belongsToKey)
      else { throw ProviderRejection(.malformed, "The body is not a form such as Alipay sends.") }
      guard values.updateValue(Data(value), forKey: String(decoding: key, as: UTF8.self)) == nil else {
        throw ProviderRejection(.headerRepeated, "A key of the form occurs twice.")
      }
    }
    self.values = values
  }

  /// Returns whether the form has a value for a key. An empty value counts as missing, because it may be unsigned.
  func has(_ key: String) -> Bool { values[key]?.isEmpty == false }

  /// The value of a key if it is printable ASCII; nil for any other value, and if the key has no value.
  subscript(_ key: String) -> String? {
    guard let value = values[key], !value.isEmpty, value.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    return String(decoding: value, as: UTF8.self)
  }

  /// The texts that Alipay may have signed. Its libraries and documents disagree on whether an empty value and
  /// `alipay_cert_sn` belong to the text, and messages of the open platform keep `sign_type`.
  var signedTexts: [Data] {
    var texts: [Data] = []
    for keepsType in [false, true] {
      for keepsCertificate in [false, true] {
        for keepsEmpty in [true, false] {
          let fields = values.filter { key, value in
            switch key {
            case "sign": false
            case "sign_type": keepsType
            case "alipay_cert_sn": keepsCertificate
            default: keepsEmpty || !value.isEmpty || !Self.mayBeEmpty.contains(key)
            }
          }
          let text = fields.sorted { $0.key < $1.key }.map { Data("\($0.key)=".utf8) + $0.value }
            .joined(separator: [Self.ampersand])
          if !texts.contains(Data(text)) { texts.append(Data(text)) }
        }
      }
    }
    return texts
  }

  /// The keys that may be missing from the signed text if their value is empty. Every other key belongs to the signed
  /// text even with an empty value, so that nobody can rename a key.
  private static let mayBeEmpty: Set<String> = [
    "auth_app_id", "body", "buyer_id", "buyer_logon_id", "buyer_open_id", "buyer_pay_amount", "fund_bill_list",
    "gmt_close", "gmt_create", "gmt_payment", "gmt_refund", "invoice_amount", "merchant_app_id", "out_biz_no",
    "out_trade_no", "passback_params", "point_amount", "receipt_amount", "refund_fee", "seller_email", "seller_id",
    "send_back_fee", "subject", "voucher_detail_list",
  ]

  /// Whether the signed text could be cut into other keys and values. Nothing in it is escaped: with a subject of
  /// `tea&total_amount=9`, anybody who has the notice could make another notice with the same signature.
  var isAmbiguous: Bool {
    values.values.contains { value in
      value.split(separator: Self.ampersand, omittingEmptySubsequences: false).dropFirst().contains { part in
        guard let end = part.firstIndex(of: Self.equalsSign), end > part.startIndex else { return false }
        return part[..<end].allSatisfy(Self.belongsToKey)
      }
    }
  }

  private static func belongsToKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
