// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Testing
import VoicePacks

@Suite("VoicePackShelf: the packs of a machine")
struct VoicePackShelfTests {
  private let first: VoicesFolder
  private let second: VoicesFolder

  init() throws {
    first = try VoicesFolder()
    second = try VoicesFolder()
  }

  private var shelf: VoicePackShelf { VoicePackShelf(folders: [first.url, second.url]) }

  /// A shelf that looks for changes at every call.
  private var watchful: VoicePackShelf {
    VoicePackShelf(folders: [first.url, second.url], storage: .copied, interval: .zero)
  }

  @Test(
    "packs are listed in the order of their folders, then by name; of packs with the same name, the first is used")
  func precedence() throws {
    try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    try second.write(VoicesFolder.manifest("alpha", tokens: ["one"]))
    try second.write(VoicesFolder.manifest("shop", tokens: ["one", "two"]))
    let shelf = shelf
    #expect(shelf.ids == ["shop", "alpha"])
    #expect(try shelf.pack(id: "shop").manifest.tokens.count == 1)
  }

  @Test("folders that are missing, unfinished or not packs are left out of the list of packs")
  func noPacks() throws {
    try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    try first.write(VoicesFolder.manifest("shop", tokens: ["one"]), folder: ".shop.new")
    try FileManager.default.createDirectory(at: first.directory("empty"), withIntermediateDirectories: true)
    try Data().write(to: first.url.appending(path: "README"))
    let missing = first.url.appending(path: "not-there")
    #expect(VoicePackShelf(folders: [missing, first.url]).ids == ["shop"])
    #expect(VoicePackShelf(folders: []).ids == [])
  }

  @Test("the packs of a locale are found in any letter case, without loading a clip")
  func locales() throws {
    let manifest = VoicesFolder.manifest("shop", locale: "en-US", tokens: ["one"])
    let directory = try first.write(manifest)
    try first.write(VoicesFolder.manifest("dian", locale: "zh-CN", tokens: ["yi"]))
    try FileManager.default.removeItem(at: directory.appending(path: "one.wav"))
    let shelf = shelf
    #expect(shelf.ids(for: "EN-us") == ["shop"])
    #expect(shelf.ids(for: "en") == [])
    #expect(try shelf.manifest(id: "shop") == manifest)
  }

  @Test("a broken pack is an error, and the other packs remain usable")
  func broken() throws {
    try first.write(VoicesFolder.manifest("good", tokens: ["one"]))
    let clipless = try first.write(VoicesFolder.manifest("clipless", tokens: ["one"]))
    try FileManager.default.removeItem(at: clipless.appending(path: "one.wav"))
    let garbled = try first.write(VoicesFolder.manifest("garbled", tokens: ["one"]))
    try Data("?".utf8).write(to: garbled.appending(path: PackManifest.fileName))
    let shelf = shelf
    #expect(shelf.ids == ["clipless", "garbled", "good"])
    #expect(shelf.ids(for: "en-US") == ["clipless", "good"])
    #expect(try shelf.pack(id: "good").manifest.id == "good")
    #expect(throws: VoicePackError.self) { try shelf.pack(id: "clipless") }
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "garbled") } == .manifestUnreadable)
  }

  @Test("a pack is loaded once, also if many threads ask at the same time")
  func once() async throws {
    try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    let shelf = shelf
    let packs = try await withThrowingTaskGroup(of: VoicePack.self, returning: [VoicePack].self) { group in
      for _ in 0..<16 { group.addTask { try shelf.pack(id: "shop") } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(packs.map(ObjectIdentifier.init)).count == 1)
  }

  @Test("the list of packs is checked for changes at most once in its interval")
  func remembered() throws {
    let directory = try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    let clip = directory.appending(path: "one.wav")
    let good = try Data(contentsOf: clip)
    try Data().write(to: clip)
    let clock = SteppedClock()
    let shelf = VoicePackShelf(folders: [first.url], interval: .seconds(2)) { clock.now }
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == .clipInvalid)
    try good.write(to: clip)
    try first.write(VoicesFolder.manifest("late", tokens: ["one"]))
    clock.advance(.milliseconds(1999))
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == .clipInvalid)
    #expect(shelf.ids == ["shop"])
    clock.advance(.milliseconds(1))
    #expect(shelf.ids == ["late", "shop"])
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == nil)
  }

  @Test("a pack that was added, removed or replaced is noticed at the next check for changes")
  func followed() throws {
    let shelf = watchful
    #expect(shelf.ids == [])
    let directory = try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    #expect(shelf.ids(for: "en-US") == ["shop"])
    let earlier = try shelf.pack(id: "shop")
    try first.write(VoicesFolder.manifest("shop", tokens: ["one", "two"]), folder: ".new")
    try FileManager.default.moveItem(at: directory, to: first.directory(".old"))
    try FileManager.default.moveItem(at: first.directory(".new"), to: directory)
    #expect(try shelf.pack(id: "shop").manifest.tokens.count == 2)
    #expect(earlier.manifest.tokens.count == 1, "a pack in use stays as it is")
    try FileManager.default.removeItem(at: directory)
    #expect(shelf.ids == [])
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == .notFound)
  }

  @Test("a pack that did not change is not loaded again")
  func unchanged() throws {
    try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    let shelf = watchful
    let pack = try shelf.pack(id: "shop")
    try first.write(VoicesFolder.manifest("other", tokens: ["one"]))
    #expect(try shelf.pack(id: "shop") === pack)
  }

  @Test("the generation increases only if a pack that was read, the list of packs, or the choices change")
  func generations() throws {
    let choices = first.url.appending(path: "packs.json")
    let shelf = VoicePackShelf(folders: [first.url], choices: choices, interval: .zero)
    func step(_ change: () throws -> Void) throws -> Int {
      let before = shelf.generation
      try change()
      _ = shelf.ids
      return shelf.generation - before
    }
    _ = shelf.ids
    #expect(try step {} == 0)
    #expect(try step { try first.write(VoicesFolder.manifest("shop", tokens: ["one"])) } == 1)
    let clip = first.directory("shop").appending(path: "one.wav")
    let bytes = try Data(contentsOf: clip)
    #expect(try step { try bytes.dropLast(2).write(to: clip) } == 0, "nothing of the pack was read yet")
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == .clipInvalid)
    #expect(try step { try bytes.write(to: clip) } == 1)
    _ = try shelf.pack(id: "shop")
    #expect(try step {} == 0)
    #expect(try step { try Data(#"{"packs": {"en-US": "shop"}}"#.utf8).write(to: choices) } == 1)
    #expect(try step { try FileManager.default.removeItem(at: first.directory("shop")) } == 1)
  }

  @Test(
    "a copied pack stays as it was if a clip is changed in place, and the next check for changes reads the new clip")
  func changedInPlace() throws {
    let directory = try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    let clip = directory.appending(path: "one.wav")
    let shelf = watchful
    let pack = try shelf.pack(id: "shop")
    let before = pack.bytes(ofClip: "one.wav")
    let file = try FileHandle(forWritingTo: clip)
    try file.truncate(atOffset: 0)
    #expect(pack.bytes(ofClip: "one.wav") == before)
    #expect(before?.count == 44 + 2 * 2205)
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == .clipInvalid)
    try file.write(contentsOf: before ?? Data())
    try file.close()
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == nil)
  }

  @Test(
    "an unknown id of a pack is not found, and a path in its place is refused",
    arguments: ["other", "../shop", "", "."])
  func unknown(id: String) throws {
    try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    let expected: VoicePackError.Code = id == "other" ? .notFound : .idInvalid
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: id) } == expected)
    #expect(code { () throws(VoicePackError) in _ = try shelf.manifest(id: id) } == expected)
  }

  private func code(_ action: () throws(VoicePackError) -> Void) -> VoicePackError.Code? {
    do throws(VoicePackError) {
      try action()
      return nil
    } catch {
      return error.code
    }
  }
}

/// A clock that a test sets.
private final class SteppedClock: Sendable {
  private let time = Locked(Duration.zero)

  var now: Duration { time.withLock { $0 } }
  func advance(_ duration: Duration) { time.withLock { $0 += duration } }
}
