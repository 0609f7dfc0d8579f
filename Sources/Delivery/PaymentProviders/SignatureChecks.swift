// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
package import Foundation
import SwiftASN1
import TextFormats
import X509

/// The hash functions of signatures.
package enum SignatureHash: String, Sendable, Hashable, CaseIterable {
  /// SHA-1 is for old signatures of Woovi. An HMAC with SHA-1 is still hard to forge.
  case sha1, sha256, sha512

  fileprivate var function: any HashFunction.Type {
    switch self {
    case .sha1: Insecure.SHA1.self
    case .sha256: SHA256.self
    case .sha512: SHA512.self
    }
  }
}

/// How the bytes of a signature are written.
package enum SignatureEncoding: String, Sendable, Hashable, CaseIterable {
  case hex, base64

  /// Returns the bytes that a text encodes; nil if the text is not in this encoding. Hexadecimal digits may have either
  /// case. Base64 must have its padding, and no character that does not belong to it.
  package func bytes(of text: String) -> Data? {
    switch self {
    case .base64: return Data(base64Encoded: text)
    case .hex: return text.isEmpty ? nil : [UInt8](hexadecimal: text).map { Data($0) }
    }
  }

  /// Returns the text of bytes: lower-case hexadecimal digits, or base64 with its padding.
  package func text(of bytes: Data) -> String {
    switch self {
    case .base64: return bytes.base64EncodedString()
    case .hex: return bytes.hexadecimal
    }
  }
}

/// The checks of signatures. The time of a check does not depend on how much of a signature is right.
package enum SignatureChecks {
  /// Returns whether one of the codes is the HMAC of a message with one of the keys. The message is read once for each
  /// key, however many codes a request brings.
  package static func isAnyCode(_ codes: [Data], of message: Data, keys: [Data], _ hash: SignatureHash) -> Bool {
    keys.contains { isAnyCode(codes, of: message, key: $0, hash.function) }
  }

  private static func isAnyCode<Hash: HashFunction>(
    _ codes: [Data], of message: Data, key: Data, _ hash: Hash.Type
  ) -> Bool {
    let right = HMAC<Hash>.authenticationCode(for: message, using: SymmetricKey(data: key))
    // Comparing two HMAC codes always takes the same time.
    return codes.contains { right == $0 }
  }

  /// Returns the HMAC of a message.
  package static func code(of message: Data, key: Data, _ hash: SignatureHash) -> Data {
    code(of: message, key: key, hash.function)
  }

  private static func code<Hash: HashFunction>(of message: Data, key: Data, _ hash: Hash.Type) -> Data {
    Data(HMAC<Hash>.authenticationCode(for: message, using: SymmetricKey(data: key)))
  }

  /// Returns whether two tokens are equal. The time of the comparison reveals at most their lengths.
  package static func areEqual(_ first: String, _ second: String) -> Bool {
    // The comparison uses an HMAC of each text, with a key of this process. Both codes have the same length, and an
    // attacker learns nothing from the bytes in which they agree.
    let code = HMAC<SHA256>.authenticationCode(for: Data(first.utf8), using: comparisonKey)
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(second.utf8), using: comparisonKey)
  }

  private static let comparisonKey = SymmetricKey(size: .bits256)

  /// Returns the digest of a message.
  package static func digest(of message: Data, _ hash: SignatureHash) -> Data {
    Data(hash.function.hash(data: message))
  }
}

/// A public key of a provider that signs with RSA and PKCS #1 v1.5.
package struct RSAPublicKey: Sendable {
  /// The smallest size of a key that does not count as short, in bits.
  private static let leastBits = 2_048

  private let key: _RSA.Signing.PublicKey

  /// Whether the key has fewer than 2,048 bits.
  package var isShort: Bool { key.keySizeInBits < Self.leastBits }

  /// Reads a public key or a certificate, in PEM or as its bare base64. The key has 2,048 bits at least.
  ///
  /// - Parameter allowsShortKeys: Whether a key of 1,024 bits is read too, though not in a certificate. Woovi signs
  ///   with such a key.
  /// - Returns: nil if the text is neither, or the key is too short.
  package init?(_ text: String, allowsShortKeys: Bool = false) {
    do {
      if text.contains("BEGIN CERTIFICATE") {
        // A certificate with a shorter key cannot be read at all.
        let certificate = try Certificate(pemEncoded: text)
        guard let key = _RSA.Signing.PublicKey(certificate.publicKey) else { return nil }
        self.key = key
        return
      }
      let pem: String
      if text.contains("-----BEGIN") {
        pem = text
      } else {
        let base64 = text.filter { !$0.isWhitespace }
        guard let bytes = Data(base64Encoded: base64) else { return nil }
        pem = PEMDocument(type: "PUBLIC KEY", derBytes: Array(bytes)).pemString
      }
      key =
        allowsShortKeys
        ? try _RSA.Signing.PublicKey(unsafePEMRepresentation: pem) : try _RSA.Signing.PublicKey(pemRepresentation: pem)
    } catch {
      return nil
    }
  }

  /// Returns whether a signature fits a message.
  package func isSignature(_ signature: Data, of message: Data, _ hash: SignatureHash) -> Bool {
    key.isValidSignature(
      _RSA.Signing.RSASignature(rawRepresentation: signature), for: hash.function.hash(data: message),
      padding: .insecurePKCS1v1_5)
  }
}
