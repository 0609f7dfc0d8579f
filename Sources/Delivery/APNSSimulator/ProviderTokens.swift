// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import Foundation

/// The check of provider tokens: JSON web tokens signed with ES256 (RFC 7515, RFC 7518).
///
/// A verified token is remembered, so that only its age is checked when it comes again.
final class ProviderTokens: Sendable {
  /// The age at which a token expires, in seconds.
  private static let longestAge: Int64 = 3_600
  /// How far a token may be ahead of the simulator's clock, in seconds.
  private static let clockTolerance: Int64 = 60
  /// The number of remembered tokens at which expired tokens are removed.
  private static let manyTokens = 1_000

  private struct Verified {
    var issuedAt: Int64
    var key: ProviderKey?
  }

  private struct State {
    var verified: [String: Verified] = [:]
    /// The time of the last new token of each key, in milliseconds since 1970.
    var updates: [String: Int64] = [:]
  }

  private let keys: [String: ProviderKey]?
  private let updateInterval: Int64
  private let state = Locked(State())

  /// - Parameter updateInterval: The shortest time between two new tokens of a key, in seconds.
  init(_ keys: APNSSimulator.Keys, updateInterval: Int) {
    switch keys {
    case .any: self.keys = nil
    case .listed(let keys): self.keys = Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    }
    self.updateInterval = Int64(updateInterval)
  }

  /// Checks the value of the header field `authorization`.
  ///
  /// - Parameter now: The time, in milliseconds since 1970.
  /// - Returns: The key of the token. `nil` if any key is accepted.
  func check(_ authorization: String?, now: Int64) throws(Refusal) -> ProviderKey? {
    guard let authorization, authorization.prefix(7).lowercased() == "bearer ", authorization.utf8.count > 7 else {
      throw Refusal(403, "MissingProviderToken")
    }
    let verified: Verified
    if let known = state.withLock({ $0.verified[authorization] }) {
      verified = known
    } else {
      let token = try Self.parse(authorization.dropFirst(7))
      verified = try verify(token)
      try Self.checkAge(of: verified, now: now)
      try remember(verified, authorization, keyID: token.header.kid, now: now)
      return verified.key
    }
    try Self.checkAge(of: verified, now: now)
    return verified.key
  }

  private static func checkAge(of token: Verified, now: Int64) throws(Refusal) {
    let age = now / 1000 - token.issuedAt
    guard age <= longestAge else { throw Refusal(403, "ExpiredProviderToken") }
    guard age >= -clockTolerance else { throw Refusal(403, "InvalidProviderToken") }
  }

  private func verify(_ token: Token) throws(Refusal) -> Verified {
    guard let keys else { return Verified(issuedAt: token.claims.iat, key: nil) }
    guard let key = keys[token.header.kid], key.team == token.claims.iss,
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
      key.publicKey.isValidSignature(signature, for: token.signed)
    else { throw Refusal(403, "InvalidProviderToken") }
    return Verified(issuedAt: token.claims.iat, key: key)
  }

  private func remember(
    _ token: Verified, _ authorization: String, keyID: String, now: Int64
  ) throws(Refusal) {
    let isTooEarly = state.withLock { state in
      // Another connection may have brought the same token in the meantime.
      if state.verified[authorization] != nil { return false }
      if let last = state.updates[keyID], now - last < updateInterval * 1000 { return true }
      state.updates[keyID] = now
      if state.verified.count >= Self.manyTokens {
        state.verified = state.verified.filter { now / 1000 - $0.value.issuedAt <= Self.longestAge }
      }
      state.verified[authorization] = token
      return false
    }
    guard !isTooEarly else { throw Refusal(429, "TooManyProviderTokenUpdates") }
  }

  private struct Token {
    struct Header: Decodable {
      var alg: String
      var kid: String
    }

    struct Claims: Decodable {
      var iss: String
      /// The time of issue, in seconds since 1970.
      var iat: Int64
    }

    var header: Header
    var claims: Claims
    var signature: Data
    /// The bytes that are signed.
    var signed: Data
  }

  private static func parse(_ text: Substring) throws(Refusal) -> Token {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = data(parts[0]), let claims = data(parts[1]), let signature = data(parts[2]),
      let header = try? JSONDecoder().decode(Token.Header.self, from: header),
      let claims = try? JSONDecoder().decode(Token.Claims.self, from: claims),
      header.alg == "ES256", claims.iat >= 0
    else { throw Refusal(403, "InvalidProviderToken") }
    return Token(
      header: header, claims: claims, signature: signature, signed: Data("\(parts[0]).\(parts[1])".utf8))
  }

  /// Decodes base64url without padding, as RFC 7515 has it.
  private static func data(_ text: Substring) -> Data? {
    guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
    var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
    base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
    return Data(base64Encoded: base64)
  }
}
