// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import VoicePacks
import Waveforms

/// A new `Voices` folder, which is removed after the test.
final class VoicesFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "voices-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func directory(_ id: String) -> URL { url.appending(path: id, directoryHint: .isDirectory) }

  /// Returns a manifest in which each token has a clip `<token>.wav` with the token's words.
  static func manifest(_ id: String = "demo", locale: String = "en-US", tokens: [String]) -> PackManifest {
    var manifest = PackManifest(id: id, locale: locale, speaker: "Ada", licence: "CC0-1.0")
    for token in tokens {
      manifest.tokens[token] = .init(plain: "\(token).wav")
      manifest.clips["\(token).wav"] = .init(text: token, sha256: "")
    }
    return manifest
  }

  /// Writes a pack: its manifest, and for each clip 100 ms of a constant that equals the clip's place in the alphabet.
  @discardableResult
  func write(_ manifest: PackManifest, folder: String? = nil) throws -> URL {
    let directory = directory(folder ?? manifest.id)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (index, file) in manifest.clips.keys.sorted().enumerated() {
      try write([Int16](repeating: Int16(index + 1), count: 2205), as: file, in: directory)
    }
    try manifest.json.write(to: directory.appending(path: PackManifest.fileName))
    return directory
  }

  func write(_ samples: [Int16], rate: Int = 22_050, as file: String, in directory: URL) throws {
    let bytes = WAVFile.encode(Waveform(samples: samples, sampleRate: rate))
    try Data(bytes).write(to: directory.appending(path: file))
  }
}

/// Returns the reason why the pack in a folder cannot be used; `nil` when it can be used.
func loadingError(_ directory: URL) -> VoicePackError? {
  do throws(VoicePackError) {
    _ = try VoicePack(directory: directory)
    return nil
  } catch {
    return error
  }
}
