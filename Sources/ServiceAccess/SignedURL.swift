// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation

/// URLs that may be fetched without a key until their time is over, for a phone that is to play a clip:
/// `PATH?expires=SECONDS&signature=SIGNATURE`, the seconds since 1970 and HMAC-SHA256 in base64url over
/// `GET`, the path and the seconds, with line ends between them.
///
/// A `HEAD` is allowed what the `GET` is.
public struct SignedURL: Sendable {
  /// A secret has at least so many bytes, the length of SHA-256's result (RFC 2104, section 3).
  public static let secretBytes = 32

  private let secret: SymmetricKey

  /// - Parameter secret: random bytes, at least ``secretBytes``; the same for signing and checking.
  /// - Throws: ``AccessError`` with `secretTooShort`.
  public init(secret: Data) throws(AccessError) {
    guard secret.count >= Self.secretBytes else { throw AccessError(.secretTooShort) }
    self.secret = SymmetricKey(data: secret)
  }

  /// The path with its signature.
  ///
  /// - Parameters:
  ///   - path: as it will be sent: absolute, percent-encoded, without a query.
  ///   - expiry: the moment from which it is refused, to the second.
  /// - Throws: ``AccessError`` with `notSignable`.
  public func signed(_ path: String, until expiry: Date) throws(AccessError) -> String {
    guard Self.isSignable(path), let seconds = Int64(exactly: expiry.timeIntervalSince1970.rounded(.down)),
      let time = WholeSeconds(seconds)
    else { throw AccessError(.notSignable) }
    let code = HMAC<SHA256>.authenticationCode(for: Self.message(path, time), using: secret)
    return "\(path)?expires=\(time.text)&signature=\(Base64URL.text(of: code))"
  }

  /// Checks what was sent; returning means that it may be fetched.
  ///
  /// - Parameters:
  ///   - path: as it was sent, still percent-encoded, without its query.
  ///   - expires: the query's `expires`, nil when it has none.
  ///   - signature: the query's `signature`, nil when it has none.
  /// - Throws: ``AccessError`` with `signatureMissing`, `signatureMalformed`, `signatureInvalid`, or, for a signature
  ///   that is right, `signatureExpired`.
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

  /// No line ends, or one path and time could read as another's; no query, or ours would not be the only one.
  private static func isSignable(_ path: String) -> Bool {
    path.utf8.first == UInt8(ascii: "/")
      && path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  }
}

/// Seconds since 1970 as they are sent: 1 to 12 digits, no sign, no 0 in front, so that one time has one text.
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
