// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import TextFormats

/// Texts that show whether two nodes of a cluster have the same things, and nothing else about these things.
///
/// Everybody who may read the ledger sees the fingerprints, and some of the things are secrets, or could be guessed: a
/// password, a path, a number. A plain digest would let a reader check each guess. A fingerprint is therefore an
/// HMAC-SHA256 with a key that is derived from the signing secret, which is in no ledger. The signing secret itself has
/// at least 256 random bits, so nobody can guess it; its fingerprint tells as much about it as any signed URL does, which
/// phones have.
public struct NodeFingerprints: Sendable {
  /// The number of bytes of a fingerprint: enough that two things never have the same one by chance.
  private static let byteCount = 12

  private let key: SymmetricKey

  /// - Parameter secret: The signing secret.
  /// - Throws: ``AccessError`` with `secretTooShort`.
  public init(secret: Data) throws(AccessError) {
    guard secret.count >= SignedURL.secretBytes else { throw AccessError(.secretTooShort) }
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Data("crier fingerprints of nodes".utf8),
      outputByteCount: 32)
  }

  /// Returns the fingerprint of a thing, as 16 letters, digits, hyphens and underscores.
  ///
  /// - Parameters:
  ///   - thing: The name of the thing. Things with different names have different fingerprints.
  ///   - content: The bytes that are the same on two nodes exactly if the thing is the same.
  public func text(of thing: String, _ content: Data) -> String {
    var code = HMAC<SHA256>(key: key)
    code.update(data: Data("\(thing.utf8.count):\(thing)".utf8))
    code.update(data: content)
    return Base64URL.text(of: code.finalize().prefix(Self.byteCount))
  }
}
