// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import TextFormats

/// URLs that can be fetched without a key until they expire, for a phone that is to play a clip.
///
/// A signed URL is `PATH?expires=SECONDS&signature=SIGNATURE`. `SECONDS` is the time of expiry in seconds since 1970.
/// `SIGNATURE` is an HMAC-SHA256 in base64url of `GET`, the path and the seconds, separated by line feeds.
///
/// A URL that is signed for `GET` is valid for `HEAD` too.
public struct SignedURL: Sendable {
  /// The minimum size of a secret in bytes: the length of SHA-256's result (RFC 2104, section 3).
  public static let secretBytes = 32

  private let secret: SymmetricKey

  /// Creates a signer and checker of URLs.
  ///
  /// - Parameter secret: Random bytes, at least ``secretBytes``; the same for signing and checking.
  /// - Throws: ``AccessError`` with `secretTooShort`.
  public init(secret: Data) throws(AccessError) {
    guard secret.count >= Self.secretBytes else { throw AccessError(.secretTooShort) }
    self.secret = SymmetricKey(data: secret)
  }

  /// Returns the path with its time of expiry and its signature.
  ///
  /// - Parameters:
  ///   - path: The path as it will be sent: absolute, percent-encoded, without a query.
  ///   - expiry: The time from which the URL is refused, with a precision of one second.
  /// - Throws: ``AccessError`` with `notSignable`.
  public func signed(_ path: String, until expiry: Date) throws(AccessError) -> String {
    guard Self.isSignable(path), let seconds = Int64(exactly: expiry.timeIntervalSince1970.rounded(.down)),
      let time = WholeSeconds(seconds)
    else { throw AccessError(.notSignable) }
    let code = HMAC<SHA256>.authenticationCode(for: Self.message(path, time), using: secret)
    return "\(path)?expires=\(time.text)&signature=\(Base64URL.text(of: code))"
  }

  /// Checks a signed URL. If the call returns without an error, the path may be fetched.
  ///
  /// - Parameters:
  ///   - path: The path as it was sent, still percent-encoded, without its query.
  ///   - expires: The query's `expires`; nil when it has none.
  ///   - signature: The query's `signature`; nil when it has none.
  /// - Throws: ``AccessError`` with `signatureMissing`, `signatureMalformed`, `signatureInvalid`, or, for a valid
  ///   signature whose time is over, `signatureExpired`.
  public func check(path: String, expires: String?, signature: String?, at now: Date) throws(AccessError) {
    guard let expires, let signature else { throw AccessError(.signatureMissing) }
    guard let time = WholeSeconds(expires), let code = Base64URL.bytes(of: signature), code.count == 32 else {
      throw AccessError(.signatureMalformed)
    }
    guard Self.isSignable(path),
      HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.message(path, time), using: secret)
    else { throw AccessError(.signatureInvalid) }
    guard now.timeIntervalSince1970 < Double(time.seconds) else { throw AccessError(.signatureExpired) }
  }

  private static func message(_ path: String, _ time: WholeSeconds) -> Data {
    Data("GET\n\(path)\n\(time.text)".utf8)
  }

  /// Returns whether a path can be signed. Line ends are refused because a path with a line end could be read as
  /// another path and time. A query is refused because the signature's query must be the only one.
  private static func isSignable(_ path: String) -> Bool {
    path.utf8.first == UInt8(ascii: "/")
      && path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  }
}

/// A time in seconds since 1970 as it is sent: 1 to 12 digits, without a sign or leading zeros, so that each time has
/// exactly one text.
struct WholeSeconds: Sendable, Hashable {
  let seconds: Int64
  var text: String { String(seconds) }

  init?(_ seconds: Int64) {
    guard (0..<1_000_000_000_000).contains(seconds) else { return nil }
    self.seconds = seconds
  }

  init?(_ text: String) {
    guard let seconds = Int64(text), String(seconds) == text else { return nil }
    self.init(seconds)
  }
}
