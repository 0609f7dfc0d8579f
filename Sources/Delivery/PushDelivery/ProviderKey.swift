// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import Foundation
import TextFormats

/// A key with which provider tokens for APNs are signed: the content of a `.p8` file from Apple's developer account,
/// with the ids under which Apple knows it.
///
/// The private key is in memory only. Descriptions and dumps do not contain it.
public struct ProviderKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The id of the key: ten letters and digits.
  public let id: String
  /// The id of the team: ten letters and digits.
  public let team: String
  private let key: P256.Signing.PrivateKey

  /// Creates a key from the text of a `.p8` file.
  ///
  /// - Parameter pem: The key in PEM, as PKCS #8.
  /// - Throws: ``ProviderKeyError`` with `keyIDInvalid`, `teamInvalid` or `notAKey`.
  public init(pem: String, id: String, team: String) throws(ProviderKeyError) {
    guard Self.isAppleID(id) else { throw ProviderKeyError(.keyIDInvalid) }
    guard Self.isAppleID(team) else { throw ProviderKeyError(.teamInvalid) }
    guard let block = Self.block(of: pem) else { throw ProviderKeyError(.notAKey, .noBlock) }
    guard let der = Data(base64Encoded: block) else { throw ProviderKeyError(.notAKey, .damaged) }
    guard let key = try? P256.Signing.PrivateKey(derRepresentation: der) else {
      throw ProviderKeyError(.notAKey, .otherKind)
    }
    self.key = key
    self.id = id
    self.team = team
  }

  /// Reads a `.p8` file. Only its owner may be able to read the file, because whoever has the key can send pushes to
  /// all devices of the team's apps.
  ///
  /// - Throws: ``ProviderKeyError``.
  public init(file: URL, id: String, team: String) throws(ProviderKeyError) {
    // Errors name the path as the user typed it.
    let path = file.relativePath
    let text: String
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        throw ProviderKeyError(.unreadable, file: path)
      }
      guard let mode = attributes[.posixPermissions] as? Int, mode & 0o077 == 0 else {
        throw ProviderKeyError(.readableByOthers, file: path)
      }
      // A key has 250 bytes. A larger file is a mistake.
      guard let size = attributes[.size] as? Int, size <= 16 << 10 else {
        throw ProviderKeyError(.notAKey, .noBlock, file: path)
      }
      guard let content = String(data: try Data(contentsOf: file), encoding: .utf8) else {
        throw ProviderKeyError(.notAKey, .noBlock, file: path)
      }
      text = content
    } catch let error as ProviderKeyError {
      throw error
    } catch {
      throw ProviderKeyError(.unreadable, file: path)
    }
    do throws(ProviderKeyError) {
      self = try ProviderKey(pem: text, id: id, team: team)
    } catch {
      throw ProviderKeyError(error.code, error.damage, file: path)
    }
  }

  /// Returns the text between the first and the last line of a private key in PEM, without white space; nil if there is
  /// no such text. The lines may have any length, because line breaks are often lost where people store keys, for
  /// example in environment variables.
  private static func block(of pem: String) -> String? {
    let block = /-----BEGIN (?:EC )?PRIVATE KEY-----([^\-]+)-----END (?:EC )?PRIVATE KEY-----/
    return pem.firstMatch(of: block).map { String($0.1.filter { !$0.isWhitespace }) }
  }

  /// Apple's ids of keys and teams have ten capital letters and digits. Lower-case letters are accepted, because a test
  /// server may use them.
  private static func isAppleID(_ text: String) -> Bool {
    text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
  }

  /// Returns a provider token: a JSON Web Token (RFC 7519) signed with ES256 (RFC 7518, section 3.4), with the header
  /// and the claims that Apple's page "Establishing a token-based connection to APNs" asks for.
  ///
  /// - Parameter time: The token's `iat`. APNs accepts a token for one hour after this time.
  public func token(issuedAt time: Date) throws -> String {
    let signed = signedPart(issuedAt: time)
    let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
    return signed + "." + Base64URL.text(of: signature)
  }

  private func signedPart(issuedAt time: Date) -> String {
    let header = #"{"alg":"ES256","kid":"\#(id)"}"#
    let claims = #"{"iat":\#(Int(time.timeIntervalSince1970)),"iss":"\#(team)"}"#
    return Base64URL.text(of: header.utf8) + "." + Base64URL.text(of: claims.utf8)
  }

  /// Returns whether this key has signed the token, with this time of issue.
  func hasSigned(_ token: String, issuedAt time: Date) -> Bool {
    let signed = signedPart(issuedAt: time)
    guard token.hasPrefix(signed + "."), let bytes = Base64URL.bytes(of: String(token.dropFirst(signed.count + 1))),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes)
    else { return false }
    return key.publicKey.isValidSignature(signature, for: Data(signed.utf8))
  }

  /// The key with which the token is encrypted for other nodes. It is derived from the private key, which every node has
  /// that sends pushes.
  var sealingKey: SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key.rawRepresentation), info: Data("crier shared provider token".utf8),
      outputByteCount: 32)
  }

  /// The public key that verifies tokens.
  public var publicKey: P256.Signing.PublicKey { key.publicKey }

  /// Eight characters that stand for the public key, for the name of a file. A different key with the same ids, for
  /// example after a mix-up, has another fingerprint.
  var fingerprint: String {
    Base64URL.text(of: SHA256.hash(data: publicKey.rawRepresentation).prefix(6))
  }

  public var description: String { "the provider key \(id) of the team \(team)" }

  public var customMirror: Mirror { Mirror(self, children: ["id": id, "team": team]) }
}

/// The error of a provider key that cannot be used. It contains no part of the key.
public struct ProviderKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    case keyIDInvalid = "key_id_invalid"
    case notAKey = "key_invalid"
    case readableByOthers = "key_readable_by_others"
    case teamInvalid = "team_invalid"
    case unreadable = "key_unreadable"
  }

  /// The fault of a text that should be a key.
  public enum Damage: Sendable, Hashable {
    /// The text has no private key in PEM.
    case noBlock
    /// The text of the key is not base64.
    case damaged
    /// The base64 text is incomplete, or a key of another kind than P-256.
    case otherKind
  }

  public let code: Code
  /// The fault of the key's text; nil if the code alone is enough.
  public let damage: Damage?
  /// The path of the key's file as it was given; nil if the key did not come from a file.
  public let file: String?

  init(_ code: Code, _ damage: Damage? = nil, file: String? = nil) {
    self.code = code
    self.damage = damage
    self.file = file
  }

  public var description: String {
    let subject = file.map { "\($0): The provider key" } ?? "The provider key"
    return switch code {
    case .keyIDInvalid: "The id of the provider key must have ten letters and digits, as in Apple's developer account."
    case .teamInvalid: "The id of the team must have ten letters and digits, as in Apple's developer account."
    case .notAKey: "\(subject) \(problem). Give the .p8 file from Apple's developer account, unchanged."
    case .readableByOthers:
      "\(subject) can be read by other users. Run this, and try again: chmod 600 \(Shell.quoted(file ?? "FILE"))"
    case .unreadable:
      "\(subject) cannot be read. Check the path, and that the file belongs to the user of this program."
    }
  }

  private var problem: String {
    switch damage {
    case .noBlock: "has no text from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----"
    case .damaged: "is damaged: the text between its first and its last line is not base64"
    case .otherKind, nil: "is not a P-256 key in PEM, or a part of it is missing"
    }
  }
}
