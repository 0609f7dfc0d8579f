// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import TextFormats

/// The key with which a backend calls the service: `crier_`, the key's id, `_`, and 32 random bytes in base64url.
///
/// The key is shown once, when it is made. The service stores only its ``digest``. The secret has 256 random bits,
/// which cannot be guessed by trying, so a slow hash such as passwords need would add no protection. Text output of a
/// key (`print`, string interpolation, `dump`) contains its id but not its secret.
public struct APIKey: Sendable, Hashable {
  /// The 8 letters and digits that name the key in lists and logs. They are not secret.
  public let id: String
  /// The whole key. Anyone who has it has all rights of the key.
  public let text: String

  static let start = "crier_"
  static let idLength = 8
  /// Crockford's base 32 in lower case. It leaves out `i`, `l`, `o` and `u`, which are easily confused with other
  /// letters when read aloud.
  static let idLetters = Array("0123456789abcdefghjkmnpqrstvwxyz")
  static let secretBytes = 32
  /// The length of the whole key in bytes. Base64url encodes 32 bytes in 43 letters.
  static let length = start.utf8.count + idLength + 1 + 43

  /// Makes a new key.
  ///
  /// - Parameter generator: A source of unpredictable random numbers, such as `SystemRandomNumberGenerator`.
  public static func make(using generator: inout some RandomNumberGenerator) -> APIKey {
    let id = letters(idLength, using: &generator)
    let secret = (0..<secretBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return APIKey(id: id, text: "\(start)\(id)_\(Base64URL.text(of: secret))")
  }

  /// Returns random letters and digits of ``idLetters``.
  static func letters(_ count: Int, using generator: inout some RandomNumberGenerator) -> String {
    String((0..<count).map { _ in idLetters[Int(generator.next() & 31)] })
  }

  /// Makes a new key from the system's random numbers.
  public static func make() -> APIKey {
    var generator = SystemRandomNumberGenerator()
    return make(using: &generator)
  }

  /// Parses the text of a key. It does not check whether the service knows the key.
  ///
  /// - Throws: ``AccessError`` with `keyMalformed`; the error contains no part of the text.
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

  /// Returns whether a text has the form of a key's id.
  public static func isID(_ text: String) -> Bool {
    text.unicodeScalars.count == idLength && text.allSatisfy(idLetters.contains)
  }

  /// The SHA-256 digest of the whole key's UTF-8, 32 bytes. The service stores it and looks the key up by it.
  ///
  /// An index compares digests byte by byte. Looking up the digest in an index is safe nevertheless, because an
  /// attacker without the key cannot choose the digest that is looked up.
  public var digest: Data { Data(SHA256.hash(data: Data(text.utf8))) }

  /// Returns whether a digest is this key's, in constant time.
  public func hasDigest(_ digest: Data) -> Bool { SHA256.hash(data: Data(text.utf8)) == digest }

  /// Returns whether two keys are equal. The time does not depend on the other key's secret.
  public static func == (one: APIKey, other: APIKey) -> Bool { one.hasDigest(other.digest) }
}

extension APIKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "\(Self.start)\(id)_…" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
