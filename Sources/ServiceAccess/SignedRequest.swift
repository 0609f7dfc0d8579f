// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation

/// A request that its sender signed with its key, so that nobody on the way can change it or send it again.
///
/// Two header fields: `Crier-Timestamp`, the seconds since 1970, and `Crier-Signature`, `v1=` and 64 hexadecimal digits
/// of HMAC-SHA256 over `TIMESTAMP.METHOD TARGET\nBODY`. The target is the path with its query, as it is sent. The
/// HMAC's key is ``APIKey/digest``: the service keeps no more of a key than that.
public struct SignedRequest: Sendable, Hashable {
  public static let timestampField = "Crier-Timestamp"
  public static let signatureField = "Crier-Signature"
  /// So many seconds may lie between the sender's clock and the service's, either way.
  public static let window: Int64 = 300

  /// Seconds since 1970, by the sender's clock.
  public let timestamp: Int64
  /// 32 bytes.
  public let signature: Data

  /// Reads the two header fields.
  ///
  /// - Throws: ``AccessError`` with `signatureMissing` or `signatureMalformed`.
  public init(timestamp: String?, signature: String?) throws(AccessError) {
    guard let timestamp, let signature else { throw AccessError(.signatureMissing) }
    guard let time = WholeSeconds(timestamp), let bytes = Self.bytes(of: signature) else {
      throw AccessError(.signatureMalformed)
    }
    self.timestamp = time.seconds
    self.signature = bytes
  }

  /// Signs a request, as a sender does.
  public init(
    signing method: String, _ target: String, body: Data, with keyDigest: Data, at timestamp: Int64
  ) {
    let message = Self.message(timestamp, method, target, body)
    self.timestamp = timestamp
    signature = Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: keyDigest)))
  }

  /// The two header fields.
  public var headerFields: [(name: String, value: String)] {
    let digits = signature.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return [(name: Self.timestampField, value: String(timestamp)), (name: Self.signatureField, value: "v1=\(digits)")]
  }

  /// Checks that this request was signed, with this key, within the window; returning means that it was. Whether it
  /// came before is ``ReplayGuard``'s to say, and after this alone: else others could fill it.
  ///
  /// - Parameters:
  ///   - method: as it was sent, in capitals.
  ///   - target: path and query as they were sent.
  ///   - body: every byte of it, as it was sent.
  /// - Throws: ``AccessError`` with `timestampOutsideWindow` or `signatureInvalid`.
  public func check(
    method: String, target: String, body: Data, keyDigest: Data, at now: Date
  ) throws(AccessError) {
    guard abs(now.timeIntervalSince1970 - Double(timestamp)) <= Double(Self.window) else {
      throw AccessError(.timestampOutsideWindow)
    }
    let message = Self.message(timestamp, method, target, body)
    guard
      HMAC<SHA256>.isValidAuthenticationCode(
        signature, authenticating: message, using: SymmetricKey(data: keyDigest))
    else { throw AccessError(.signatureInvalid) }
  }

  private static func message(_ timestamp: Int64, _ method: String, _ target: String, _ body: Data) -> Data {
    Data("\(timestamp).\(method) \(target)\n".utf8) + body
  }

  private static func bytes(of field: String) -> Data? {
    let letters = Array(field.utf8)
    guard letters.count == 67, letters.starts(with: "v1=".utf8) else { return nil }
    let digits = letters.dropFirst(3).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 64 else { return nil }
    return Data(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}
