// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing
import VoicePacks

@testable import VoicePackMaking

@Suite("ListedClip: the clips of a pack in the order of the sheet")
struct ListedClipTests {
  private var manifest: PackManifest {
    var manifest = PackManifest(id: "shop", locale: "en-US", speaker: "Ada", licence: "CC0-1.0")
    for (file, text) in [
      ("two.wav", "two"), ("two-final.wav", "two"), ("one.wav", "one"), ("zebra.wav", "zebra"),
      ("dollars-final.wav", "dollars"), ("both.wav", "two dollars"),
    ] {
      manifest.clips[file] = .init(text: text, sha256: "")
    }
    manifest.tokens = [
      "two": .init(plain: "two.wav", final: "two-final.wav"), "one": .init(plain: "one.wav"),
      "zebra": .init(plain: "zebra.wav"), "dollars": .init(plain: "dollars-final.wav", final: "dollars-final.wav"),
    ]
    manifest.phrases = [.init(tokens: ["two", "dollars"], clips: .init(plain: "both.wav"))]
    return manifest
  }

  @Test("words come in the order of the sheet, then other words, then phrases, each file once")
  func order() throws {
    let clips = ListedClip.clips(of: manifest, vocabulary: try Templates.writer("en-US").vocabulary())
    #expect(
      clips.map(\.file) == [
        "one.wav", "two.wav", "two-final.wav", "dollars-final.wav", "zebra.wav", "both.wav",
      ])
    #expect(clips.map(\.position) == [.plain, .plain, .final, .final, .plain, .plain])
    #expect(ListedClip.clips(of: manifest, vocabulary: nil).count == 6)
  }

  @Test("a clip is found by its token or phrase, in any letter case, with spaces or underscores")
  func says() {
    let clips = ListedClip.clips(of: manifest, vocabulary: nil)
    #expect(clips.filter { $0.says("TWO") }.map(\.file) == ["two.wav", "two-final.wav"])
    #expect(clips.filter { $0.says("two_dollars") }.map(\.file) == ["both.wav"])
    #expect(clips.filter { $0.says("two dol") }.isEmpty)
  }
}
