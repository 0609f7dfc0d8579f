// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePackIntegrity
import VoicePacks
import Waveforms

@Suite("PackIntegrity: a pack's bytes match the digests in its manifest")
struct PackIntegrityTests {
  @Test("SHA-256 digests match the examples of FIPS 180-4, in lower-case hexadecimal")
  func sha256() {
    #expect(
      PackIntegrity.sha256(Data("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      PackIntegrity.sha256([UInt8]()) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test("the digest of a manifest covers everything in the manifest except itself")
  func digest() throws {
    let manifest = PackManifest(id: "shop", locale: "en-US", speaker: "Ada", licence: "CC0-1.0")
    let digest = try PackIntegrity.digest(of: manifest)
    var sealed = manifest
    sealed.digest = digest
    #expect(try PackIntegrity.digest(of: sealed) == digest)
    for change: (inout PackManifest) -> Void in [
      { $0.speaker = "Eve" }, { $0.sampleRate = 8000 }, { $0.locale = "en-GB" },
      { $0.clips["a.wav"] = .init(text: "a", sha256: "") },
      { $0.phrases = [.init(tokens: ["a", "b"], clips: .init(plain: "a.wav"))] },
    ] {
      var changed = manifest
      change(&changed)
      #expect(try PackIntegrity.digest(of: changed) != digest)
    }
  }

  @Test("an unmodified pack is verified")
  func untouched() throws {
    let folder = try SealedPack()
    let pack = try VoicePack(directory: folder.directory)
    #expect(throws: Never.self) { try PackIntegrity.verify(pack) }
  }

  @Test("the error for changed clips names the first one by its file name")
  func changedClips() throws {
    let folder = try SealedPack()
    for file in ["c.wav", "b.wav"] {
      try folder.write([9, 9], as: file)
      let error = try #require(try folder.verificationError())
      #expect(error.code == .clipChanged && error.file == file && error.pack == "shop")
      #expect(
        error.description
          == "voice pack shop: \(file) was changed after the pack was made; make or copy the pack again.")
    }
  }

  @Test("the check finds two clips that were exchanged")
  func swapped() throws {
    let folder = try SealedPack()
    try folder.write([1, 1], as: "b.wav")
    try folder.write([2, 2], as: "a.wav")
    #expect(try folder.verificationError()?.file == "a.wav")
  }

  @Test("a manifest with changed words is reported before its clips")
  func changedManifest() throws {
    let folder = try SealedPack()
    try folder.write([9], as: "a.wav")
    var manifest = folder.manifest
    manifest.clips["a.wav"]?.text = "ten"
    try manifest.json.write(to: folder.directory.appending(path: PackManifest.fileName))
    let error = try #require(try folder.verificationError())
    #expect(error.code == .manifestChanged && error.file == nil)
  }

  @Test("a digest in upper case, or an empty digest, does not match", arguments: [true, false])
  func otherDigest(isUpperCase: Bool) throws {
    let folder = try SealedPack()
    var manifest = folder.manifest
    manifest.digest = isUpperCase ? manifest.digest.uppercased() : ""
    try manifest.json.write(to: folder.directory.appending(path: PackManifest.fileName))
    #expect(try folder.verificationError()?.code == .manifestChanged)
  }
}

/// A pack with correct digests in a new folder, which is removed after the test.
private final class SealedPack {
  let root: URL
  let directory: URL
  private(set) var manifest = PackManifest(id: "shop", locale: "en-US", speaker: "Ada", licence: "CC0-1.0")

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "pack-integrity-\(UUID().uuidString)")
    directory = root.appending(path: "shop", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (value, file) in zip(Int16(1)..., ["a.wav", "b.wav", "c.wav"]) {
      let bytes = try write([value, value], as: file)
      manifest.clips[file] = .init(text: file, sha256: PackIntegrity.sha256(bytes))
      manifest.tokens[file] = .init(plain: file)
    }
    manifest.digest = try PackIntegrity.digest(of: manifest)
    try manifest.json.write(to: directory.appending(path: PackManifest.fileName))
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  @discardableResult
  func write(_ samples: [Int16], as file: String) throws -> [UInt8] {
    let bytes = WAVFile.encode(Waveform(samples: samples, sampleRate: 22_050))
    try Data(bytes).write(to: directory.appending(path: file))
    return bytes
  }

  /// Loads the pack again and verifies it.
  func verificationError() throws -> VoicePackIntegrityError? {
    let pack = try VoicePack(directory: directory)
    do throws(VoicePackIntegrityError) {
      try PackIntegrity.verify(pack)
      return nil
    } catch {
      return error
    }
  }
}
