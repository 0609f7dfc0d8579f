// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Ledger

/// A provider token with its time of issue, as programs and nodes share it.
struct IssuedToken: Sendable, Hashable, Codable {
  var text: String
  /// The token's `iat`, in seconds since 1970.
  var issuedAt: Int

  var date: Date { Date(timeIntervalSince1970: Double(issuedAt)) }
}

extension ProviderKey {
  /// The name under which the token of this key is shared. Two keys with the same ids have two names. With one name, the
  /// token of a wrong key would replace that of the right key, and APNs would refuse a new token of the right key for 20
  /// minutes.
  var sharedName: String { "\(team)-\(id)-\(fingerprint)" }

  /// Encrypts a token for the other nodes of a ledger. Only a node that has this key can read it: whoever reads the
  /// database could otherwise send pushes for an hour.
  func seal(_ token: IssuedToken) throws -> Data {
    let box = try AES.GCM.seal(
      try JSONEncoder().encode(token), using: sealingKey, authenticating: Data(sharedName.utf8))
    // The usual nonce has 12 bytes, so there is a combined form.
    return box.combined ?? Data()
  }

  /// Decrypts a token that a node with this key has encrypted.
  ///
  /// - Returns: Nil if the bytes are anything else.
  func open(_ sealed: Data) -> IssuedToken? {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let bytes = try? AES.GCM.open(box, using: sealingKey, authenticating: Data(sharedName.utf8))
    else { return nil }
    return try? JSONDecoder().decode(IssuedToken.self, from: bytes)
  }
}
