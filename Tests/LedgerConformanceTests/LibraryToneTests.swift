// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Tones in the library of the ledger", .removesLedgers)
struct LibraryToneTests {
  private func changes(
    after anchor: LibraryAnchor? = nil, account: String = "shop", group: String = "group.crier",
    in ledger: any Ledger.Store
  ) async throws -> [String] {
    let page = try await ledger.libraryChanges(account: account, group: group, after: anchor)
    return page?.changes.map { "\($0.change) \($0.kind) \($0.name)" } ?? ["expired"]
  }

  @Test(
    "the tones of an app group are in the group's library for all accounts, and not in another group's library",
    arguments: LedgerUnderTest.all)
  func groups(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(
      try await ledger.setLibraryTones([
        libraryClip("chime.wav"), libraryClip("bell.wav", "b"), libraryClip("chime.wav", "c", group: "group.tills"),
      ]))
    for account in ["shop", "bank"] {
      #expect(try await changes(account: account, in: ledger) == ["added tone chime.wav", "added tone bell.wav"])
    }
    #expect(try await changes(group: "group.tills", in: ledger) == ["added tone chime.wav"])
    #expect(try await changes(group: "group.other", in: ledger).isEmpty)
    let digest = String(repeating: "c", count: 64)
    #expect(try await ledger.libraryTone(sha256: digest, group: "group.tills") == "chime.wav")
    #expect(try await ledger.libraryTone(sha256: digest, group: "group.crier") == nil)
    #expect(try await ledger.libraryClip(sha256: digest, account: "shop", group: "group.tills") == nil)
  }

  @Test(
    "a tone with the same bytes gives no change of the library, and other bytes or a missing tone give a change",
    arguments: LedgerUnderTest.all)
  func life(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.setLibraryTones([libraryClip("chime.wav"), libraryClip("bell.wav")])
    let anchor = try #require(try await ledger.libraryChanges(account: "shop", group: "group.crier")?.anchor)
    #expect(try await !ledger.setLibraryTones([libraryClip("bell.wav"), libraryClip("chime.wav")]))
    #expect(try await changes(after: anchor, in: ledger).isEmpty)
    #expect(try await ledger.setLibraryTones([libraryClip("chime.wav", "f")]))
    #expect(try await changes(after: anchor, in: ledger) == ["changed tone chime.wav", "removed tone bell.wav"])
    #expect(try await ledger.libraryTone(sha256: String(repeating: "a", count: 64), group: "group.crier") == nil)
    #expect(try await !ledger.setLibraryTones([libraryClip("chime.wav", "f")]), "what is removed is not removed again")
    #expect(try await ledger.setLibraryTones([libraryClip("chime.wav", "f"), libraryClip("bell.wav")]))
    #expect(try await changes(after: anchor, in: ledger) == ["changed tone chime.wav", "added tone bell.wav"])
  }

  @Test("the tones of a group whose folder cannot be read stay in the library", arguments: LedgerUnderTest.all)
  func unreadable(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.setLibraryTones([libraryClip("chime.wav"), libraryClip("bell.wav", group: "group.tills")])
    #expect(try await ledger.setLibraryTones([], unreadable: ["group.crier"]))
    #expect(try await changes(in: ledger) == ["added tone chime.wav"])
    #expect(try await changes(group: "group.tills", in: ledger).isEmpty)
  }

  @Test(
    "the ledger names the groups whose tones changed, separately from changes of voice packs",
    arguments: LedgerUnderTest.all)
  func news(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.setLibraryTones([libraryClip("chime.wav", group: "group.tills")])
    let news = try #require(try await ledger.libraryNews(after: nil))
    #expect(news.tones == ["group.tills"] && news.clips.isEmpty && !news.hasPacks)
    try await ledger.setLibraryPacks([LibraryPack(id: "wang", sha256: String(repeating: "1", count: 64), bytes: 200)])
    let later = try #require(try await ledger.libraryNews(after: news.position))
    #expect(later.tones.isEmpty && later.hasPacks)
    let both = try #require(try await ledger.libraryNews(after: nil))
    #expect(both.tones == ["group.tills"] && both.hasPacks)
  }

  @Test(
    "a tone without a name, a group or a digest is refused, and the library does not change",
    arguments: LedgerUnderTest.all)
  func invalid(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.setLibraryTones([libraryClip("chime.wav")])
    for (name, digit, group) in [("", "a", "group.crier"), ("x.wav", "x", "group.crier"), ("x.wav", "a", "")] {
      let error = await #expect(throws: LedgerError.self) {
        try await ledger.setLibraryTones([libraryClip(name, Character(digit), group: group)])
      }
      #expect(error?.code == .invalidValue)
    }
    #expect(try await changes(in: ledger) == ["added tone chime.wav"])
  }
}
