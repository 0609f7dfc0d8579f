// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePacks

@Suite("ChosenPacks: the packs that somebody chose to speak")
struct ChosenPacksTests {
  @Test("a locale has one chosen pack, in any letter case, and the JSON of the choices reads back as written")
  func roundTrip() throws {
    var choices = ChosenPacks()
    choices["en-US"] = "a"
    choices["EN-us"] = "b"
    choices["zh-CN"] = "wang"
    #expect(choices["en-us"] == "b" && choices.all.map(\.id) == ["b", "wang"])
    #expect(try ChosenPacks(json: choices.json, name: "packs.json") == choices)
    choices["en-US"] = nil
    #expect(choices.all.map(\.locale) == ["zh-CN"])
  }

  @Test(
    "a file that does not contain choices of packs is an error that names the file",
    arguments: [
      "", "{", "[]", "{}", #"{"packs": ["a"]}"#, #"{"packs": {"en-US": "../a"}}"#, #"{"packs": {"a": null}}"#,
    ])
  func invalid(text: String) {
    let error = #expect(throws: VoicePackError.self) { try ChosenPacks(json: Data(text.utf8), name: "packs.json") }
    #expect(error?.code == .choicesUnreadable && error?.subject == "packs.json")
  }

  @Test("a missing file means no chosen packs, and a folder in its place is an error")
  func files() throws {
    let folder = try VoicesFolder()
    #expect(try ChosenPacks(file: folder.url.appending(path: "packs.json")).all.isEmpty)
    #expect(throws: VoicePackError.self) { try ChosenPacks(file: folder.url) }
  }
}
