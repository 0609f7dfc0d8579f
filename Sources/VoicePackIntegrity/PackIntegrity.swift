// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
public import VoicePacks

/// Whether a voice pack's bytes are those that its manifest promises: a clip under another's name would say another
/// amount.
public enum PackIntegrity {
  /// SHA-256 of bytes, 64 lower-case hexadecimal digits.
  public static func sha256(_ bytes: some DataProtocol) -> String { SHA256.hash(data: bytes).hexadecimal }

  /// What ``PackManifest/digest`` should be: SHA-256 over its ``PackManifest/digestInput``.
  ///
  /// - Throws: what `JSONEncoder` throws; it does not for any manifest that was read or written.
  public static func digest(of manifest: PackManifest) throws -> String { sha256(try manifest.digestInput) }

  /// Reads every byte of a pack: some ms for a locale's vocabulary.
  ///
  /// - Throws: `VoicePackIntegrityError`, for the manifest or else for the first clip, by file name, that is not the
  ///   manifest's.
  public static func verify(_ pack: VoicePack) throws(VoicePackIntegrityError) {
    let manifest = pack.manifest
    guard let digest = try? digest(of: manifest), digest == manifest.digest else {
      throw VoicePackIntegrityError(.manifestChanged, pack: manifest.id)
    }
    for (file, clip) in manifest.clips.sorted(by: { $0.key < $1.key }) {
      guard let bytes = pack.bytes(ofClip: file), sha256(bytes) == clip.sha256 else {
        throw VoicePackIntegrityError(.clipChanged, pack: manifest.id, file: file)
      }
    }
  }
}

/// Bytes of a voice pack are not those that its manifest promises.
public struct VoicePackIntegrityError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The manifest's digest is not that of the manifest.
    case manifestChanged = "manifest_changed"
    /// A clip's digest is not the manifest's.
    case clipChanged = "clip_changed"
  }

  public var code: Code

  /// The pack's id.
  public var pack: String

  /// The clip's file, if it is a clip's.
  public var file: String?

  init(_ code: Code, pack: String, file: String? = nil) {
    self.code = code
    self.pack = pack
    self.file = file
  }

  public var description: String {
    let subject = file ?? PackManifest.fileName
    return "voice pack \(pack): \(subject) was changed after the pack was made; make or copy the pack again."
  }
}

extension Sequence<UInt8> {
  /// Two lower-case hexadecimal digits a byte.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
