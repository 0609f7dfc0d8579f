// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import TextFormats

/// A request that its sender signed with a key, so that an attacker on the network can neither change nor repeat it.
///
/// The signature consists of two header fields: `Crier-Timestamp`, the seconds since 1970, and `Crier-Signature`, which
/// is `v2=` and 64 hexadecimal digits. The digits are an HMAC-SHA256 of these lines, each followed by a line feed, and
/// then the body:
///
///     v2
///     TIMESTAMP
///     METHOD
///     TARGET
///     IDEMPOTENCY-KEY
///     CONTENT-TYPE
///
/// The target is the path with its query, as it is sent. The last two lines are the values of the header fields with
/// these names, as they are sent and without surrounding blanks. If a field is not sent, its line is empty, so a field
/// with an empty value cannot be signed. No line can contain a line feed, so each message has only one interpretation.
/// The key of the HMAC is ``APIKey/digest``, which is all that the service stores of a key.
///
/// Version 1, `v1=`, signs `TIMESTAMP.METHOD TARGET\nBODY`. It is accepted only for a request that contains nothing
/// else to sign: no `Idempotency-Key`, and no `Content-Type` other than `application/json`.
public struct SignedRequest: Sendable, Hashable {
  /// The signed parts of a request, except for its time.
  public struct Content: Sendable, Hashable {
    /// The method in capital letters.
    public var method: String
    /// The path and query as they are sent.
    public var target: String
    /// The value of `Idempotency-Key`; nil when the field is not sent.
    public var idempotencyKey: String?
    /// The value of `Content-Type`; nil when the field is not sent.
    public var contentType: String?
    /// The body, byte for byte as it is sent.
    public var body: Data

    public init(
      method: String, target: String, idempotencyKey: String? = nil, contentType: String? = nil, body: Data = Data()
    ) {
      self.method = method
      self.target = target
      self.idempotencyKey = idempotencyKey
      self.contentType = contentType
      self.body = body
    }
  }

  /// The version of the signature, which determines the signed message.
  public enum Version: String, Sendable, Hashable, CaseIterable {
    case one = "v1"
    case two = "v2"
  }

  public static let timestampField = "Crier-Timestamp"
  public static let signatureField = "Crier-Signature"
  /// The maximum difference between the sender's clock and the service's, in seconds, in either direction.
  public static let window: Int64 = 300

  public let version: Version
  /// The time of signing in seconds since 1970, by the sender's clock.
  public let timestamp: Int64
  /// The signature, 32 bytes.
  public let signature: Data

  /// Parses the two header fields.
  ///
  /// - Throws: ``AccessError`` with `signatureMissing` or `signatureMalformed`.
  public init(timestamp: String?, signature: String?) throws(AccessError) {
    guard let timestamp, let signature else { throw AccessError(.signatureMissing) }
    guard let time = WholeSeconds(timestamp), let version = Version(rawValue: String(signature.prefix(2))),
      let bytes = Self.bytes(of: signature)
    else { throw AccessError(.signatureMalformed) }
    self.version = version
    self.timestamp = time.seconds
    self.signature = bytes
  }

  /// Signs a request, as a sender does.
  public init(
    signing content: Content, with keyDigest: Data, at timestamp: Int64, version: Version = .two
  ) {
    let message = Self.message(version, timestamp, content)
    self.version = version
    self.timestamp = timestamp
    signature = Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: keyDigest)))
  }

  /// The two header fields.
  public var headerFields: [(name: String, value: String)] {
    [
      (name: Self.timestampField, value: String(timestamp)),
      (name: Self.signatureField, value: "\(version.rawValue)=\(signature.hexadecimal)"),
    ]
  }

  /// Checks that the content was signed with this key and within the window. If the call returns without an error, the
  /// signature is valid.
  ///
  /// The call does not check whether the same request came before. Check that only after this call; otherwise senders
  /// without the key could fill the memory of known requests.
  ///
  /// - Parameter content: The request's content as it was sent.
  /// - Throws: ``AccessError`` with `timestampOutsideWindow`, `signatureOutdated` or `signatureInvalid`.
  public func check(_ content: Content, keyDigest: Data, at now: Date) throws(AccessError) {
    guard abs(now.timeIntervalSince1970 - Double(timestamp)) <= Double(Self.window) else {
      throw AccessError(.timestampOutsideWindow)
    }
    guard version != .one || Self.isCoveredByFirst(content) else { throw AccessError(.signatureOutdated) }
    // An empty line stands for a field that was not sent, so an empty value cannot be signed.
    guard content.idempotencyKey?.isEmpty != true, content.contentType?.isEmpty != true else {
      throw AccessError(.signatureInvalid)
    }
    let message = Self.message(version, timestamp, content)
    guard
      HMAC<SHA256>.isValidAuthenticationCode(
        signature, authenticating: message, using: SymmetricKey(data: keyDigest))
    else { throw AccessError(.signatureInvalid) }
  }

  /// Returns whether version 1 covers all meaningful parts of the content.
  private static func isCoveredByFirst(_ content: Content) -> Bool {
    let type = content.contentType?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    return content.idempotencyKey == nil && ["application/json", nil].contains(type)
  }

  private static func message(_ version: Version, _ timestamp: Int64, _ content: Content) -> Data {
    switch version {
    case .one: Data("\(timestamp).\(content.method) \(content.target)\n".utf8) + content.body
    case .two:
      Data(
        [
          version.rawValue, String(timestamp), content.method, content.target, content.idempotencyKey ?? "",
          content.contentType ?? "", "",
        ].joined(separator: "\n").utf8) + content.body
    }
  }

  /// Parses the value of the field `Crier-Signature`.
  ///
  /// - Parameter field: A version of two letters, `=`, and 64 hexadecimal digits.
  private static func bytes(of field: String) -> Data? {
    let letters = Array(field.utf8)
    guard letters.count == 67, letters[2] == UInt8(ascii: "=") else { return nil }
    let digits = letters.dropFirst(3).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 64 else { return nil }
    return Data(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}
