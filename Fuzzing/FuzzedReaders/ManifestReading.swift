// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import VoicePacks

/// Checks that the manifest of a voice pack is refused, or names only files in its own folder.
enum ManifestReading {
  @Sendable static func check(_ bytes: [UInt8]) {
    guard let manifest = try? PackManifest(json: Data(bytes), id: "pack") else { return }
    for file in manifest.clips.keys {
      require(PackManifest.isFileName(file) && !file.contains("/"), "a clip's file lies in the pack's folder")
    }
    let alternates = manifest.tokens.values + manifest.phrases.map(\.clips)
    for file in alternates.lazy.flatMap({ [$0.plain, $0.rising, $0.final].compactMap(\.self) }) {
      require(manifest.clips[file] != nil, "a token names existing clips")
    }
    guard let json = try? manifest.json, let again = try? PackManifest(json: json, id: "pack") else {
      fatalError("Broken rule: a manifest that was written can be read")
    }
    require((try? again.digestInput) == (try? manifest.digestInput), "a manifest keeps its digest when written")
  }
}
