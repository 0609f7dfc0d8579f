// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation

/// An RSA key of the tests, which signs as providers do: with SHA-256 and PKCS #1 v1.5.
struct RSATestKey: Sendable {
  private let key: _RSA.Signing.PrivateKey

  private static let made = Result { try RSATestKey() }

  /// Returns one key for all tests, because making one takes long.
  static func shared() throws -> RSATestKey { try made.get() }

  init(bits: Int = 2_048) throws { key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits)) }

  /// The public key in PEM.
  var pem: String { key.publicKey.pemRepresentation }
  /// The public key as the bare base64 of its DER, as Alipay's console shows it.
  var base64: String { key.publicKey.derRepresentation.base64EncodedString() }

  /// Returns the signature of a message in base64.
  func signature(of message: Data) throws -> String {
    try key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5).rawRepresentation
      .base64EncodedString()
  }

  /// Returns a certificate of the key in PEM, signed by the key itself.
  func certificate() throws -> String {
    let algorithm = der(0x30, [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B, 0x05, 0x00])
    let commonName = der(0x30, [0x06, 0x03, 0x55, 0x04, 0x03] + der(0x0C, Array("Test".utf8)))
    let name = der(0x30, der(0x31, commonName))
    let validity = der(0x30, der(0x17, Array("260101000000Z".utf8)) + der(0x17, Array("360101000000Z".utf8)))
    let version = der(0xA0, [0x02, 0x01, 0x02])
    let content = version + [0x02, 0x01, 0x7F] + algorithm + name + validity + name
    let body = der(0x30, content + Array(key.publicKey.derRepresentation))
    let signature = try key.signature(for: SHA256.hash(data: body), padding: .insecurePKCS1v1_5).rawRepresentation
    let certificate = der(0x30, body + algorithm + der(0x03, [0x00] + Array(signature)))
    return "-----BEGIN CERTIFICATE-----\n\(Data(certificate).base64EncodedString(options: .lineLength64Characters))\n"
      + "-----END CERTIFICATE-----\n"
  }

  /// Returns a value of ASN.1 in DER, with a content of less than 64 KiB.
  private func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    return switch count {
    case ..<0x80: [tag, UInt8(count)] + content
    case ..<0x100: [tag, 0x81, UInt8(count)] + content
    default: [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + content
    }
  }
}
