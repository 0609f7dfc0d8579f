// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import VoicePacks

/// The manifest of a voice pack: it is refused, or it names files of its own folder alone.
enum ManifestReading {
  @Sendable static func check(_ bytes: [UInt8]) {
    guard let manifest = try? PackManifest(json: Data(bytes), id: "pack") else { return }
    for file in manifest.clips.keys {
      require(PackManifest.isFileName(file) && !file.contains("/"), "a clip's file lies in the pack's folder")
    }
    let alternates = manifest.tokens.values + manifest.phrases.map(\.clips)
    for file in alternates.lazy.flatMap({ [$0.plain, $0.rising, $0.final].compactMap(\.self) }) {
      require(manifest.clips[file] != nil, "a token names clips that there are")
    }
    guard let json = try? manifest.json, let again = try? PackManifest(json: json, id: "pack") else {
      fatalError("Broken rule: a manifest that was written can be read")
    }
    require((try? again.digestInput) == (try? manifest.digestInput), "a manifest that is written has the same digest")
  }
}
