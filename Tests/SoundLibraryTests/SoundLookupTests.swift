// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SoundLibrary

private let group = SoundPlace.groupContainer("group.crier")
private let shop = SoundPlace.groupContainer("group.shop")

@Suite("Which sound iOS plays")
struct SoundLookupTests {
  private let three: [SoundPlace] = [.appContainer, group, .bundle]

  /// Resolves a name among places of which each has some files.
  private func resolve(_ name: String, _ files: [(SoundPlace, [String])]) -> SoundResolution {
    SoundLookup(files.map { place, names in SoundListing(place, names.map { ($0, .file) }) }).resolve(name)
  }

  /// Each row says which places have the sound, which of them have `default.wav`, and what is heard.
  private static let table: [(sound: [SoundPlace], fallback: Bool, rule: SoundResolution.Rule)] = [
    ([], false, .system),
    ([], true, .fallback(.bundle)),
    ([.bundle], false, .found(.bundle)),
    ([.bundle], true, .found(.bundle)),
    ([group], false, .found(group)),
    ([group], true, .found(group)),
    ([group, .bundle], false, .found(group)),
    ([group, .bundle], true, .found(group)),
    ([.appContainer], false, .found(.appContainer)),
    ([.appContainer], true, .found(.appContainer)),
    ([.appContainer, .bundle], false, .found(.appContainer)),
    ([.appContainer, .bundle], true, .found(.appContainer)),
    ([.appContainer, group], false, .found(.appContainer)),
    ([.appContainer, group], true, .found(.appContainer)),
    ([.appContainer, group, .bundle], false, .found(.appContainer)),
    ([.appContainer, group, .bundle], true, .found(.appContainer)),
  ]

  @Test("a sound is searched in app container, group and bundle; then default.wav; then the system's sound is heard")
  func table() throws {
    for row in Self.table {
      let home = try TemporaryPlaces()
      for place in row.sound { try home.put("tone.wav", in: place) }
      if row.fallback { try home.put("default.wav", in: .bundle) }
      let result = try home.resolve("tone.wav")
      #expect(result.rule == row.rule, "\(row)")
      #expect(result.isNamedSound == !row.sound.isEmpty, "\(row)")
      let name = row.sound.isEmpty ? "default.wav" : "tone.wav"
      let expected = row.rule.place.map { home.folder($0).appending(path: name).path }
      #expect(result.url?.path == expected, "\(row)")
      #expect(result.remarks == (row.sound.isEmpty ? [.notFound(TemporaryPlaces.all)] : []), "\(row)")
    }
  }

  @Test("if several files are named default.wav, the first that the search finds is the fallback")
  func fallbacks() {
    for sound in 0..<8 {
      for fallback in 0..<8 {
        func has(_ set: Int, _ index: Int) -> Bool { set >> index & 1 == 1 }
        let result = resolve(
          "tone.wav",
          three.enumerated().map { index, place in
            (place, (has(sound, index) ? ["tone.wav"] : []) + (has(fallback, index) ? ["default.wav"] : []))
          })
        let named = three.indices.first { has(sound, $0) }
        let instead = three.indices.first { has(fallback, $0) }
        #expect(result.rule.place == (named ?? instead).map { three[$0] })
        #expect(result.isNamedSound == (named != nil))
        #expect((result.rule == .system) == (named == nil && instead == nil))
      }
    }
  }

  @Test("whatever entries the places have, the first regular file decides, and is heard only if it is readable")
  func kinds() {
    let kinds: [SoundListing.Kind?] = [nil, .file, .emptyFile, .unreadableFile, .folder, .symbolicLink, .special]
    for app in kinds {
      for own in kinds {
        for bundle in kinds {
          let given = [app, own, bundle]
          let result = SoundLookup(
            zip(three, given).map { SoundListing($0, $1.map { [("tone.wav", $0)] } ?? []) }
          ).resolve("tone.wav")
          let first = given.firstIndex { $0 == .file || $0 == .emptyFile || $0 == .unreadableFile }
          if let first, given[first] == .file {
            #expect(result.rule == .found(three[first]))
            #expect(result.url?.lastPathComponent == "tone.wav")
          } else {
            #expect(result.rule == .system)
            #expect(result.url == nil)
          }
          let searched = first.map { Array(given[...$0]) } ?? given
          #expect(result.remarks.contains { $0.code == "folder" } == searched.contains(.folder))
          #expect(result.remarks.contains { $0.code == "symbolic_link" } == searched.contains(.symbolicLink))
          #expect(result.remarks.contains { $0.code == "special_file" } == searched.contains(.special))
          #expect(result.remarks.contains { $0.code == "empty_file" } == (first.map { given[$0] } == .emptyFile))
          #expect(
            result.remarks.contains { $0.code == "unreadable_file" } == (first.map { given[$0] } == .unreadableFile))
        }
      }
    }
  }

  @Test("if the first file is empty or unreadable, neither default.wav nor a file in a later place replaces it")
  func broken() throws {
    for (kind, code) in [(SoundListing.Kind.emptyFile, "empty_file"), (.unreadableFile, "unreadable_file")] {
      let listings = [
        SoundListing(group, [("tone.wav", kind)]),
        SoundListing(.bundle, [("tone.wav", .file), ("default.wav", .file)]),
      ]
      let result = SoundLookup(listings).resolve("tone.wav")
      #expect(result.rule == .system && result.url == nil && !result.isNamedSound)
      #expect(result.remarks.map(\.code) == [code])
      let message = try #require(result.remarks.first).message
      #expect(message.hasPrefix("tone.wav in the group container group.crier is found first and "))
    }
  }

  @Test("an empty default.wav ends the search for a sound, and the system's sound is heard")
  func brokenFallback() {
    let result = SoundLookup([
      SoundListing(.appContainer, [("default.wav", .emptyFile)]), SoundListing(.bundle, [("default.wav", .file)]),
    ]).resolve("tone.wav")
    #expect(result.rule == .system && result.url == nil)
    #expect(result.remarks == [.notFound([.appContainer, .bundle]), .emptyFile("default.wav", .appContainer)])
  }

  @Test("the name 'default' means the system's sound, even if files have this name")
  func reserved() {
    let result = resolve("default", [(.bundle, ["default", "default.wav"])])
    #expect(result.rule == .reserved && result.url == nil && result.isNamedSound && result.remarks.isEmpty)
  }

  @Test("default.wav can be searched by its own name, and is then not its own fallback")
  func fallbackByName() {
    #expect(resolve("default.wav", [(.bundle, ["default.wav"])]).rule == .found(.bundle))
    let missing = SoundLookup([SoundListing(.bundle, [("default.wav", .folder)])]).resolve("default.wav")
    #expect(missing.rule == .system)
    #expect(missing.remarks == [.folder("default.wav", .bundle), .notFound([.bundle])])
  }

  @Test("names of sounds are compared with letter case, and a name in another case gets a remark")
  func letterCase() throws {
    let missing = resolve("tone.wav", [(group, ["Tone.wav"]), (.bundle, [])])
    #expect(missing.rule == .system)
    #expect(missing.remarks == [.otherCase("Tone.wav", group), .notFound([group, .bundle])])
    let message = try #require(missing.remarks.first).message
    #expect(message.contains("Tone.wav in the group container group.crier differs in letter case"))
    let found = resolve("tone.wav", [(.appContainer, ["TONE.WAV"]), (.bundle, ["tone.wav"])])
    #expect(found.rule == .found(.bundle) && found.remarks == [.otherCase("TONE.WAV", .appContainer)])
    #expect(resolve("straße.wav", [(.bundle, ["STRASSE.wav"])]).remarks.first == .otherCase("STRASSE.wav", .bundle))
  }

  @Test(
    "names in different Unicode normal forms count as the same name, and a name with the same bytes takes precedence")
  func normalForms() throws {
    let (composed, decomposed) = ("caf\u{E9}.wav", "cafe\u{301}.wav")
    for (name, other) in [(composed, decomposed), (decomposed, composed)] {
      let only = resolve(name, [(.bundle, [other])])
      #expect(only.rule == .found(.bundle) && only.remarks == [.otherNormalForm(.bundle)])
      #expect(only.url?.lastPathComponent.utf8.elementsEqual(other.utf8) == true)
      for names in [[name, other], [other, name]] {
        let both = resolve(name, [(.bundle, names)])
        #expect(both.url?.lastPathComponent.utf8.elementsEqual(name.utf8) == true)
        #expect(both.remarks.isEmpty)
      }
      // The order of the places goes before the form of the name.
      let earlier = resolve(name, [(group, [other]), (.bundle, [name])])
      #expect(earlier.rule == .found(.groupContainer("group.crier")))
    }
    // Two marks in both orders, and the form with precomposed letters: the first in byte order wins.
    let forms = ["a\u{323}\u{302}.wav", "\u{1EA1}\u{302}.wav"]
    for names in [forms, forms.reversed()] {
      let result = resolve("\u{1EAD}.wav", [(.bundle, names)])
      #expect(result.url?.lastPathComponent.utf8.elementsEqual(forms[0].utf8) == true)
    }
    // Compatible characters are different characters for the file system.
    #expect(resolve("ﬁ.wav", [(.bundle, ["fi.wav"])]).rule == .system)
  }

  @Test(
    "a sound's name that no file can have finds no file and gets a remark",
    arguments: [
      "../tone.wav", "a/tone.wav", "/Shop.app/tone.wav", "..", ".", "", "tone.wav\u{0}", "to\nne.wav", "\u{7F}.wav",
      String(repeating: "a", count: 252) + ".wav",
    ])
  func invalid(_ name: String) {
    let listings = [SoundListing(.bundle, [(name, .file), ("tone.wav", .file)])]
    let result = SoundLookup(listings).resolve(name)
    #expect(result.rule == .system && result.url == nil && result.remarks == [.invalidName])
  }

  @Test("no name of a sound leads out of the folders, even if the file exists there")
  func escape() throws {
    let home = try TemporaryPlaces()
    try home.put("default.wav", in: .bundle)
    try Data([1]).write(to: home.root.appending(path: "secret.wav"))
    for name in ["../secret.wav", "../../../secret.wav", home.root.path + "/secret.wav", "./default.wav"] {
      let result = try home.resolve(name)
      #expect(result.rule == .fallback(.bundle))
      #expect(result.url?.path == home.folder(.bundle).appending(path: "default.wav").path)
    }
  }

  @Test(
    "a sound's name without an extension is found only unchanged, and similar names with an extension are suggested")
  func noExtension() {
    let missing = resolve("tone", [(group, ["tone.wav"]), (.bundle, ["tone.caf", "tone.wav", "tones.wav"])])
    #expect(missing.rule == .system)
    #expect(missing.remarks.first == .noExtension(similar: ["tone.caf", "tone.wav"]))
    #expect(missing.remarks.first?.message.hasSuffix("Did you mean tone.caf or tone.wav?") == true)
    let found = resolve("tone", [(.bundle, ["tone"])])
    #expect(found.rule == .found(.bundle) && found.remarks == [.noExtension(similar: [])])
  }

  @Test("if several app groups have the sound, the first in the given order is taken, and a remark says so")
  func groups() {
    for order in [[group, shop], [shop, group]] {
      let result = resolve("tone.wav", order.map { ($0, ["tone.wav"]) })
      #expect(result.rule == .found(order[0]))
      #expect(result.remarks.map(\.code) == ["several_groups"])
    }
    let below = resolve(
      "tone.wav", [(.appContainer, ["tone.wav"]), (group, ["tone.wav"]), (shop, ["tone.wav"])])
    #expect(below.rule == .found(.appContainer) && below.remarks.isEmpty)
  }

  @Test("for a search, only names similar to the searched name, and default.wav, are relevant")
  func relevance() {
    let isRelevant = SoundLookup.relevance(to: ["tone", "cafe\u{301}.wav"])
    for name in ["tone", "Tone.wav", "caf\u{E9}.wav", "CAF\u{C9}.WAV", "default.wav"] { #expect(isRelevant(name)) }
    for name in ["tones.wav", "other.wav", "Info.plist"] { #expect(!isRelevant(name)) }
  }

  @Test("every rule and remark of a search has a code, and the text of every remark is a sentence")
  func texts() {
    #expect(SoundResolution.Rule.fallback(.bundle).code == "fallback" && SoundResolution.Rule.system.code == "system")
    #expect(SoundResolution.Rule.found(.appContainer).code == "app_container")
    #expect(SoundResolution.Rule.found(.bundle).code == "bundle")
    #expect(SoundResolution.Rule.found(.groupContainer("group.a")).code == "group_container")
    #expect(SoundResolution.Rule.reserved.code == "default")
    let remarks: [SoundResolution.Remark] = [
      .invalidName, .noExtension(similar: []), .notFound([]), .notFound([group, .bundle]), .otherCase("A.wav", .bundle),
      .otherNormalForm(.bundle), .folder("a.wav", .bundle), .symbolicLink("a.wav", .bundle), .special("a.wav", .bundle),
      .emptyFile("a.wav", .bundle), .unreadableFile("a.wav", .bundle), .severalGroups("a.wav", ["group.a", "group.b"]),
    ]
    #expect(Set(remarks.map(\.code)).count == remarks.count - 1)
    #expect(remarks.allSatisfy { $0.message.hasSuffix(".") })
  }
}
