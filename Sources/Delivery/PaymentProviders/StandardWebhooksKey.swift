// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// A key of a sender that signs by Standard Webhooks: a shared secret, or a public key of Ed25519.
package struct StandardWebhooksKey: Sendable {
  private enum Kind: Sendable {
    case shared(Data)
    case ed25519(Curve25519.Signing.PublicKey)
  }

  /// The allowed numbers of bytes of a shared secret.
  package static let sizes = 24...64

  private let kind: Kind

  /// Reads a key: 24 to 64 bytes in base64, with or without `whsec_` before them, or `whpk_` and the 32 bytes of a
  /// public key in base64. The padding may be left out, as the libraries of Standard Webhooks allow.
  ///
  /// - Returns: nil for any other text.
  package init?(_ secret: ProviderSecret) {
    let text = secret.text
    if text.hasPrefix("whpk_") {
      guard let bytes = Self.bytes(text.dropFirst(5)),
        let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
      else { return nil }
      kind = .ed25519(key)
    } else {
      guard let bytes = Self.bytes(text.hasPrefix("whsec_") ? text.dropFirst(6) : text[...]),
        Self.sizes.contains(bytes.count)
      else { return nil }
      kind = .shared(bytes)
    }
  }

  private static func bytes(_ base64: Substring) -> Data? {
    let digits =
      base64.hasSuffix("=") ? base64 : base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    return Data(base64Encoded: String(digits))
  }

  /// The bytes of a shared secret; nil for a public key.
  var sharedBytes: Data? { if case .shared(let bytes) = kind { bytes } else { nil } }

  /// Returns whether a signature was made with the key; false for a shared secret.
  func isSignature(_ signature: Data, of message: Data) -> Bool {
    if case .ed25519(let key) = kind { key.isValidSignature(signature, for: message) } else { false }
  }
}
