// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation

/// A request that its sender signed with its key, so that nobody on the way can change it or send it again.
///
/// Two header fields: `Crier-Timestamp`, the seconds since 1970, and `Crier-Signature`, `v2=` and 64 hexadecimal digits
/// of HMAC-SHA256 over these lines, each with a line feed behind it, and the body behind them:
///
///     v2
///     TIMESTAMP
///     METHOD
///     TARGET
///     IDEMPOTENCY-KEY
///     CONTENT-TYPE
///
/// The target is the path with its query, as it is sent. The last two are the values of the header fields of these names,
/// as they are sent and without blanks around them; the line is empty for a field that is not sent, and a field that is
/// sent with no value cannot be signed. None of the lines can hold a line feed, so that one message has one reading. The
/// HMAC's key is ``APIKey/digest``: the service keeps no more of a key than that.
///
/// Version 1, `v1=`, is over `TIMESTAMP.METHOD TARGET\nBODY`. It is checked where nothing is sent that it does not cover:
/// no `Idempotency-Key`, and no `Content-Type` but `application/json`.
public struct SignedRequest: Sendable, Hashable {
  /// What of a request is signed, beside its time.
  public struct Content: Sendable, Hashable {
    /// In capitals.
    public var method: String
    /// Path and query as they are sent.
    public var target: String
    /// The value of `Idempotency-Key`; nil when it is not sent.
    public var idempotencyKey: String?
    /// The value of `Content-Type`; nil when it is not sent.
    public var contentType: String?
    /// Every byte of the body as it is sent.
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

  /// Which message is signed.
  public enum Version: String, Sendable, Hashable, CaseIterable {
    case one = "v1"
    case two = "v2"
  }

  public static let timestampField = "Crier-Timestamp"
  public static let signatureField = "Crier-Signature"
  /// So many seconds may lie between the sender's clock and the service's, either way.
  public static let window: Int64 = 300

  public let version: Version
  /// Seconds since 1970, by the sender's clock.
  public let timestamp: Int64
  /// 32 bytes.
  public let signature: Data

  /// Reads the two header fields.
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
    let digits = signature.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return [
      (name: Self.timestampField, value: String(timestamp)),
      (name: Self.signatureField, value: "\(version.rawValue)=\(digits)"),
    ]
  }

  /// Checks that this request was signed, with this key, within the window; returning means that it was. Whether it
  /// came before is another question, to be asked after this alone: else others could fill the memory of it.
  ///
  /// - Parameter content: as it was sent.
  /// - Throws: ``AccessError`` with `timestampOutsideWindow`, `signatureOutdated` or `signatureInvalid`.
  public func check(_ content: Content, keyDigest: Data, at now: Date) throws(AccessError) {
    guard abs(now.timeIntervalSince1970 - Double(timestamp)) <= Double(Self.window) else {
      throw AccessError(.timestampOutsideWindow)
    }
    guard version != .one || Self.isCoveredByFirst(content) else { throw AccessError(.signatureOutdated) }
    // An empty line is a field that is not sent.
    guard content.idempotencyKey?.isEmpty != true, content.contentType?.isEmpty != true else {
      throw AccessError(.signatureInvalid)
    }
    let message = Self.message(version, timestamp, content)
    guard
      HMAC<SHA256>.isValidAuthenticationCode(
        signature, authenticating: message, using: SymmetricKey(data: keyDigest))
    else { throw AccessError(.signatureInvalid) }
  }

  /// Whether nothing is sent that version 1 does not cover and that means something.
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

  /// - Parameter field: a version of two letters, `=`, and the digits.
  private static func bytes(of field: String) -> Data? {
    let letters = Array(field.utf8)
    guard letters.count == 67, letters[2] == UInt8(ascii: "=") else { return nil }
    let digits = letters.dropFirst(3).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 64 else { return nil }
    return Data(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}
