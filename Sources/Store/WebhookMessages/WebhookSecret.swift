// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation

/// The secret with which the messages to an endpoint are signed, as Standard Webhooks defines it (version 1.0.0, the
/// symmetric scheme): `whsec_` and 24 to 64 bytes in base64. The signature is an HMAC with SHA-256.
public struct WebhookSecret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The allowed numbers of bytes.
  public static let sizes = 24...64
  /// The greatest difference between a message's time and the receiver's, in seconds.
  public static let tolerance = 300

  private static let prefix = "whsec_"
  private static let version = "v1"

  private let bytes: Data

  /// Returns a new secret of 32 random bytes.
  public static func make() -> WebhookSecret {
    WebhookSecret(bytes: SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) })
  }

  private init(bytes: Data) { self.bytes = bytes }

  /// Reads a secret.
  ///
  /// - Throws: ``WebhookError`` with `secretInvalid`.
  public init(_ text: String) throws(WebhookError) {
    guard text.hasPrefix(Self.prefix), let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
      Self.sizes.contains(bytes.count)
    else { throw WebhookError(.secretInvalid) }
    self.bytes = bytes
  }

  /// The secret in the form in which a receiver needs it. Never log it.
  public var text: String { Self.prefix + bytes.base64EncodedString() }

  public var description: String { "WebhookSecret" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }

  private func signed(_ id: String, _ timestamp: String, _ body: Data) -> Data {
    Data("\(id).\(timestamp).".utf8) + body
  }

  /// Returns the signature of a message, such as `v1,K5oZ…`.
  ///
  /// - Parameters:
  ///   - id: The message's id, without a period.
  ///   - timestamp: The time of the attempt, in seconds since 1970.
  public func signature(id: String, timestamp: Int64, body: Data) -> String {
    let code = HMAC<SHA256>.authenticationCode(
      for: signed(id, String(timestamp), body), using: SymmetricKey(data: bytes))
    return "\(Self.version),\(Data(code).base64EncodedString())"
  }

  /// Checks a message as a receiver does.
  ///
  /// - Parameters:
  ///   - timestamp: The value of `webhook-timestamp`.
  ///   - signatures: The value of `webhook-signature`: signatures with spaces between them. One valid signature is
  ///     enough, and signatures of other versions are ignored.
  ///   - now: The receiver's time.
  /// - Throws: ``WebhookError`` with `timestampOutsideWindow` or `signatureInvalid`.
  public func verify(
    id: String, timestamp: String, signatures: String, body: Data, at now: Date
  ) throws(WebhookError) {
    guard let seconds = Int64(timestamp), String(seconds) == timestamp,
      abs(now.timeIntervalSince1970 - TimeInterval(seconds)) <= TimeInterval(Self.tolerance)
    else { throw WebhookError(.timestampOutsideWindow) }
    let (key, message) = (SymmetricKey(data: bytes), signed(id, timestamp, body))
    let isGenuine = signatures.split(separator: " ").contains { signature in
      let parts = signature.split(separator: ",", maxSplits: 1)
      guard parts.count == 2, parts[0] == Self.version, let code = Data(base64Encoded: String(parts[1])) else {
        return false
      }
      // The comparison takes the same time whatever the code is.
      return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: key)
    }
    guard isGenuine else { throw WebhookError(.signatureInvalid) }
  }
}
