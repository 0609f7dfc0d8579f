// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SoundLibrary

private let group = SoundPlace.groupContainer("group.crier")
private let shop = SoundPlace.groupContainer("group.shop")

@Suite("Names of sounds that collide")
struct NameCollisionsTests {
  private func collisions(_ places: [(SoundPlace, [(String, SoundListing.Kind)])]) -> [NameCollisions.Collision] {
    NameCollisions(places.map { SoundListing($0, $1) }).collisions
  }

  @Test("a sound's name that is in only one place does not collide")
  func none() {
    #expect(collisions([]).isEmpty)
    #expect(
      collisions([
        (.appContainer, [("a.wav", .file)]), (group, [("b.wav", .file), ("a.caf", .file)]),
        (.bundle, [("c.wav", .file)]),
      ]).isEmpty)
  }

  @Test("a sound's name that is in several places collides, and the file in the first place is heard")
  func places() throws {
    let places: [SoundPlace] = [.appContainer, group, shop, .bundle]
    for first in places.indices {
      for second in places.indices where second > first {
        let found = collisions([first, second].map { (places[$0], [("tone.wav", .file)]) })
        try #require(found.map(\.name) == ["tone.wav"])
        #expect(found[0].kinds == [.severalPlaces])
        #expect(found[0].heard.rule == .found(places[first]))
        #expect(found[0].others.count == 1 && found[0].others.first != found[0].heard.url)
      }
    }
  }

  @Test("a name collides even if the file in the first place is empty, and then the system's sound is heard")
  func empty() throws {
    let found = collisions([(group, [("tone.wav", .emptyFile)]), (.bundle, [("tone.wav", .file)])])
    try #require(found.count == 1)
    #expect(found[0].heard.rule == .system)
    #expect(found[0].others.map(\.path) == ["/groups/group.crier/Library/Sounds/tone.wav", "/Shop.app/tone.wav"])
  }

  @Test("a name that one place has in two Unicode normal forms collides with itself")
  func normalForms() throws {
    let (composed, decomposed) = ("caf\u{E9}.wav", "cafe\u{301}.wav")
    let found = collisions([(group, [(decomposed, .file), (composed, .file)])])
    try #require(found.count == 1)
    #expect(found[0].kinds == [.normalForms])
    #expect(found[0].name.utf8.elementsEqual(decomposed.utf8))
    try #require(found[0].others.count == 1)
    #expect(found[0].others[0].lastPathComponent.utf8.elementsEqual(composed.utf8))
    let places = collisions([(group, [(decomposed, .file)]), (.bundle, [(composed, .file)])])
    #expect(places.map(\.kinds) == [[.severalPlaces]])
  }

  @Test("names of sounds that differ only in letter case collide, and a phone plays each file by its own name")
  func letterCase() throws {
    let found = collisions([(group, [("Tone.wav", .file)]), (.bundle, [("tone.wav", .file)])])
    try #require(found.map(\.name) == ["Tone.wav", "tone.wav"])
    #expect(found.map(\.kinds) == [[.letterCase], [.letterCase]])
    #expect(found.map(\.heard.rule) == [.found(.groupContainer("group.crier")), .found(.bundle)])
    #expect(found[0].others == [found[1].heard.url])
    #expect(found[1].others == [found[0].heard.url])
  }

  @Test("one name of a sound can have collisions of every kind")
  func all() {
    let found = collisions([
      (.appContainer, [("caf\u{E9}.wav", .file), ("cafe\u{301}.wav", .file)]), (.bundle, [("CAF\u{C9}.wav", .file)]),
      (shop, [("caf\u{E9}.wav", .file)]),
    ])
    #expect(found.map(\.kinds) == [[.letterCase], NameCollisions.Kind.allCases])
  }

  @Test("links count for collisions, because iOS may follow them, and folders and hidden files do not count")
  func kinds() {
    let link = collisions([(group, [("tone.wav", .symbolicLink)]), (.bundle, [("tone.wav", .file)])])
    #expect(link.map(\.heard.rule) == [.found(.bundle)])
    #expect(collisions([(group, [("tone.wav", .folder)]), (.bundle, [("tone.wav", .file)])]).isEmpty)
    #expect(collisions([(group, [(".DS_Store", .file)]), (.bundle, [(".DS_Store", .file)])]).isEmpty)
  }

  @Test("if none of the colliding files can be heard, the fallback is heard")
  func fallback() throws {
    let found = collisions([
      (group, [("tone.wav", .symbolicLink)]), (.bundle, [("tone.wav", .symbolicLink), ("default.wav", .file)]),
    ])
    try #require(found.map(\.heard.rule) == [.fallback(.bundle)])
    #expect(found[0].others.count == 2)
  }

  @Test("the name default.wav collides like any other name")
  func fallbackCollides() {
    let found = collisions([(group, [("default.wav", .file)]), (.bundle, [("default.wav", .file)])])
    #expect(found.map(\.name) == ["default.wav"])
    #expect(found.map(\.heard.rule) == [.found(.groupContainer("group.crier"))])
  }

  @Test("collisions are listed in the order of their names, whatever the order of the folders")
  func order() {
    let names = (0..<50).map { "tone-\($0).wav" }
    for names in [names, names.reversed()] {
      let found = collisions([(group, names.map { ($0, .file) }), (.bundle, names.map { ($0, .file) })])
      #expect(found.map(\.name) == names.sorted())
    }
  }
}
