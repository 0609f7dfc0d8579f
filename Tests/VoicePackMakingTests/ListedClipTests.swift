// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
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

  @Test("a pack's words are listed in the order of the sheet, then other words, then phrases, each file once")
  func order() throws {
    let clips = ListedClip.clips(of: manifest, vocabulary: try Templates.writer("en-US").vocabulary())
    #expect(
      clips.map(\.file) == [
        "one.wav", "two.wav", "two-final.wav", "dollars-final.wav", "zebra.wav", "both.wav",
      ])
    #expect(clips.map(\.position) == [.plain, .plain, .final, .final, .plain, .plain])
    #expect(ListedClip.clips(of: manifest, vocabulary: nil).count == 6)
  }

  @Test("the clips that are compared are the listed clips, in the same order and with the same positions")
  func compared() throws {
    let folder = try TemporaryFolder()
    let waveform = Signals.waveform(Signals.tone(440, 0.3, seconds: 0.1, rate: 22_050))
    let places: [(tokens: [String], position: ClipPosition)] = [
      (["two"], .plain), (["two"], .final), (["dollars"], .final), (["euros"], .rising), (["two", "dollars"], .final),
    ]
    let clips = places.map { place in
      PackClip(
        tokens: place.tokens, position: place.position, text: "\(place.tokens) \(place.position)", waveform: waveform)
    }
    try PackWriter(directory: folder.url).write(
      PackFacts(id: "shop", locale: "en-US", speaker: "Ada", licence: "CC0-1.0"), clips: clips)
    let pack = try VoicePack(directory: folder.url.appending(path: "shop"))
    let recorded = RecordedClips(pack)
    let listed = ListedClip.clips(of: pack.manifest, vocabulary: nil)
    #expect(recorded.files == listed.map(\.file))
    #expect(recorded.clips.map(\.tokens) == listed.map(\.tokens))
    #expect(recorded.clips.map(\.position) == listed.map(\.position))
    #expect(recorded.clips.map(\.position) == [.final, .rising, .plain, .final, .final])
  }

  @Test("a pack's clip is found by its token or phrase, in any letter case, with spaces or underscores")
  func says() {
    let clips = ListedClip.clips(of: manifest, vocabulary: nil)
    #expect(clips.filter { $0.says("TWO") }.map(\.file) == ["two.wav", "two-final.wav"])
    #expect(clips.filter { $0.says("two_dollars") }.map(\.file) == ["both.wav"])
    #expect(clips.filter { $0.says("two dol") }.isEmpty)
  }
}
