// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation

/// The key with which a backend calls the service: `crier_`, the key's id, `_`, and 32 random bytes in base64url.
///
/// It is shown once, when it is made. What is kept is its ``digest``: the secret is 256 random bits, which nobody can
/// try one after another, so that a slow hash, as it is needed for passwords, would add nothing. Texts of it (`print`,
/// string interpolation, `dump`) have its id and not its secret.
public struct APIKey: Sendable, Hashable {
  /// 8 letters and digits that name the key in lists and logs. They are no secret.
  public let id: String
  /// The whole key. Whoever has it may do what the key may.
  public let text: String

  static let start = "crier_"
  static let idLength = 8
  /// Crockford's base 32 in lower case: no `i`, `l`, `o` or `u`, which are taken for others when they are read aloud.
  static let idLetters = Array("0123456789abcdefghjkmnpqrstvwxyz")
  static let secretBytes = 32
  /// Of the whole key; base64url writes 32 bytes in 43 letters.
  static let length = start.utf8.count + idLength + 1 + 43

  /// Makes a new key.
  ///
  /// - Parameter generator: must be one that nobody can foresee, as `SystemRandomNumberGenerator` is.
  public static func make(using generator: inout some RandomNumberGenerator) -> APIKey {
    let id = String((0..<idLength).map { _ in idLetters[Int(generator.next() & 31)] })
    let secret = (0..<secretBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return APIKey(id: id, text: "\(start)\(id)_\(Base64URL.text(of: secret))")
  }

  /// Makes a new key of the system's random numbers.
  public static func make() -> APIKey {
    var generator = SystemRandomNumberGenerator()
    return make(using: &generator)
  }

  /// Reads a key as it was shown. Whether it is known is another question.
  ///
  /// - Throws: ``AccessError`` with `keyMalformed`; the error has nothing of the text.
  public init(_ text: String) throws(AccessError) {
    let bytes = Array(text.utf8)
    let idStart = Self.start.utf8.count
    let idEnd = idStart + Self.idLength
    guard bytes.count == Self.length, text.utf8.starts(with: Self.start.utf8), bytes[idEnd] == UInt8(ascii: "_"),
      case let id = String(decoding: bytes[idStart..<idEnd], as: UTF8.self), Self.isID(id),
      Base64URL.bytes(of: String(decoding: bytes[(idEnd + 1)...], as: UTF8.self))?.count == Self.secretBytes
    else { throw AccessError(.keyMalformed) }
    self.init(id: id, text: text)
  }

  private init(id: String, text: String) {
    self.id = id
    self.text = text
  }

  /// Whether a text can be a key's id.
  public static func isID(_ text: String) -> Bool {
    text.unicodeScalars.count == idLength && text.allSatisfy(idLetters.contains)
  }

  /// SHA-256 of the whole key's UTF-8, 32 bytes: what is kept of it, and how it is found again.
  ///
  /// To look it up by an index is safe, though an index compares byte by byte: who does not have the key cannot choose
  /// its digest.
  public var digest: Data { Data(SHA256.hash(data: Data(text.utf8))) }

  /// Whether a digest is this key's. It takes as long whatever the digest.
  public func hasDigest(_ digest: Data) -> Bool { SHA256.hash(data: Data(text.utf8)) == digest }

  /// Takes as long whatever the other key's secret.
  public static func == (one: APIKey, other: APIKey) -> Bool { one.hasDigest(other.digest) }
}

extension APIKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "\(Self.start)\(id)_…" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
