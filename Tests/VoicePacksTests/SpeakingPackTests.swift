// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePacks

@Suite("SpeakingPack: the pack that speaks a locale")
struct SpeakingPackTests {
  private static func manifest(_ id: String, _ locale: String = "en-US", isSynthesized: Bool = false) -> PackManifest {
    PackManifest(id: id, locale: locale, speaker: "Ada", licence: "CC0-1.0", isSynthesized: isSynthesized)
  }

  private let manifests = [
    manifest("built", isSynthesized: true), manifest("wang", "zh-CN"), manifest("a"), manifest("b"),
  ]

  private func speaking(_ locale: String, chosen: String? = nil, isSetting: Bool = false) -> [String?] {
    let pack = SpeakingPack(for: locale, among: manifests, chosen: chosen, isSetting: isSetting)
    return [pack.id, pack.reason?.rawValue]
  }

  @Test("the chosen pack speaks, even if it was built, and otherwise the first recorded pack of the locale")
  func rule() {
    #expect(speaking("en-US") == ["a", "first"])
    #expect(speaking("EN-us", chosen: "b") == ["b", "chosen"])
    #expect(speaking("en-US", chosen: "built") == ["built", "chosen"])
    #expect(speaking("en-US", chosen: "b", isSetting: true) == ["b", "setting"])
    #expect(speaking("hi-IN") == [nil, nil], "the engine speaks")
  }

  @Test("a choice of a pack that is missing or speaks another locale has no effect")
  func withoutEffect() {
    for chosen in ["gone", "wang"] {
      #expect(speaking("en-US", chosen: chosen) == ["a", "first"])
      #expect(speaking("en-US", chosen: chosen, isSetting: true) == ["a", "first"])
    }
  }

  @Test("a choice of a pack in the settings takes precedence over the file of choices")
  func settings() throws {
    let folder = try VoicesFolder()
    for id in ["a", "b", "c"] {
      let place = folder.url.appending(path: id)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Self.manifest(id).json.write(to: place.appending(path: PackManifest.fileName))
    }
    let file = folder.url.appending(path: "packs.json")
    try Data(#"{"packs": {"en-US": "b"}}"#.utf8).write(to: file)
    var settled = ChosenPacks()
    let chosen = VoicePackShelf(folders: [folder.url], choices: file)
    #expect(SpeakingPack(for: "en-US", on: chosen).reason == .chosen)
    settled["en-US"] = "c"
    let pack = SpeakingPack(
      for: "en-US", on: VoicePackShelf(folders: [folder.url], choices: file, settled: settled))
    #expect(pack.id == "c" && pack.reason == .setting)
  }
}
