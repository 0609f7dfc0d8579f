// SPDX-License-Identifier: Apache-2.0

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

  @Test("packs are listed in the order of the folders, then by name, and the first folder wins")
  func precedence() throws {
    try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    try second.write(VoicesFolder.manifest("alpha", tokens: ["one"]))
    try second.write(VoicesFolder.manifest("shop", tokens: ["one", "two"]))
    let shelf = shelf
    #expect(shelf.ids == ["shop", "alpha"])
    #expect(try shelf.pack(id: "shop").manifest.tokens.count == 1)
  }

  @Test("folders that are missing, unfinished or not packs are skipped")
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

  @Test("a broken pack is an error of its own, and the others remain usable")
  func broken() throws {
    try first.write(VoicesFolder.manifest("good", tokens: ["one"]))
    let clipless = try first.write(VoicesFolder.manifest("clipless", tokens: ["one"]))
    try FileManager.default.removeItem(at: clipless.appending(path: "one.wav"))
    let garbled = try first.write(VoicesFolder.manifest("garbled", tokens: ["one"]))
    try Data("?".utf8).write(to: garbled.appending(path: PackManifest.fileName))
    let shelf = shelf
    #expect(shelf.ids == ["clipless", "garbled", "good"])
    #expect(shelf.ids(for: "en-US") == ["clipless", "good"])
    let packs = shelf.packs(for: "en-US")
    #expect(packs.map { try? $0.get().manifest.id } == [nil, "good"])
    #expect(throws: VoicePackError.self) { try packs[0].get() }
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

  @Test("a shelf keeps its results, and a new shelf sees the current files")
  func remembered() throws {
    let directory = try first.write(VoicesFolder.manifest("shop", tokens: ["one"]))
    let clip = directory.appending(path: "one.wav")
    let good = try Data(contentsOf: clip)
    try Data().write(to: clip)
    let shelf = shelf
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == .clipInvalid)
    try good.write(to: clip)
    try first.write(VoicesFolder.manifest("late", tokens: ["one"]))
    #expect(code { () throws(VoicePackError) in _ = try shelf.pack(id: "shop") } == .clipInvalid)
    #expect(shelf.ids == ["shop"])
    #expect(self.shelf.ids == ["late", "shop"])
    #expect(code { () throws(VoicePackError) in _ = try self.shelf.pack(id: "shop") } == nil)
  }

  @Test(
    "an unknown id is not found, and a path is refused", arguments: ["other", "../shop", "", "."])
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
