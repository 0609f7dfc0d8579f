// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// A key of a team, as the push service knows it: only the public half.
public struct ProviderKey: Sendable {
  /// The id of the key, ten characters: `kid` of its provider tokens.
  public let id: String
  /// The id of the team, ten characters: `iss` of its provider tokens.
  public let team: String
  /// The bundle ids of the apps that the key may push to; `nil` allows those that the simulator allows.
  public let topics: Set<String>?
  let publicKey: P256.Signing.PublicKey

  /// Reads the file `.p8` of a key, and keeps its public half.
  ///
  /// - Parameter pem: The text of the file: a private key in PEM.
  /// - Throws: ``APNSSimulatorError`` with the code `key_invalid`.
  public init(id: String, team: String, pem: String, topics: Set<String>? = nil) throws(APNSSimulatorError) {
    // The lines may have any length, because Crier's push client accepts such keys too.
    let block = /-----BEGIN (?:EC )?PRIVATE KEY-----([A-Za-z0-9+\/=\s]+)-----END/
    let der = pem.firstMatch(of: block).flatMap { Data(base64Encoded: $0.1.filter { !$0.isWhitespace }) }
    guard let der, let key = try? P256.Signing.PrivateKey(derRepresentation: der) else {
      throw APNSSimulatorError(
        code: .keyInvalid,
        description: "key: the text is not a P-256 private key in PEM; give the file AuthKey_….p8 from Apple, or make "
          + "one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256.")
    }
    (self.id, self.team, self.topics, publicKey) = (id, team, topics, key.publicKey)
  }
}
