// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import TextFormats
public import VoicePacks

/// Checks that a voice pack's bytes match the digests in its manifest. Without this check, a clip could be stored under
/// the name of another clip and say a wrong amount.
public enum PackIntegrity {
  /// Returns the SHA-256 digest of bytes as 64 lower-case hexadecimal digits.
  public static func sha256(_ bytes: some DataProtocol) -> String { SHA256.hash(data: bytes).hexadecimal }

  /// Returns the value that ``PackManifest/digest`` must have, which is the SHA-256 digest of
  /// ``PackManifest/digestInput``.
  ///
  /// - Throws: the errors of `JSONEncoder`. None occurs for a manifest that was read or written earlier.
  public static func digest(of manifest: PackManifest) throws -> String { sha256(try manifest.digestInput) }

  /// Reads and checks every byte of a pack. This takes some milliseconds for a pack with the vocabulary of one locale.
  ///
  /// - Throws: `VoicePackIntegrityError`. If the manifest does not match its digest, the error is about the manifest.
  ///   Otherwise the error is about the first clip, by file name, that does not match the manifest.
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

/// An error that reports bytes of a voice pack that do not match the manifest's digests.
public struct VoicePackIntegrityError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The manifest does not match the digest in it.
    case manifestChanged = "manifest_changed"
    /// A clip does not match its digest in the manifest.
    case clipChanged = "clip_changed"
  }

  public var code: Code

  /// The pack's id.
  public var pack: String

  /// The name of the clip's file; `nil` if the manifest itself was changed.
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
