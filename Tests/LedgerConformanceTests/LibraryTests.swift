// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

private func pack(_ id: String, _ digit: Character = "1") -> LibraryPack {
  LibraryPack(id: id, sha256: String(repeating: digit, count: 64), bytes: 200)
}

@Suite("The library of sounds in the ledger", .removesLedgers)
struct LibraryTests {
  private func announce(_ id: String, _ clips: LibrarySound..., account: String = "shop", in ledger: any Ledger.Store)
    async throws
  {
    _ = try await ledger.accept(
      answer: NewAnswer(
        account: account, key: "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data(),
        clip: clips.first.map { PublishedClip(name: $0.name, group: $0.group) }), playing: nil, pushing: [],
      publishing: clips)
  }

  private func page(
    after anchor: LibraryAnchor? = nil, account: String = "shop", group: String = "group.crier", limit: Int = 200,
    in ledger: any Ledger.Store
  ) async throws -> LibraryPage? {
    try await ledger.libraryChanges(account: account, group: group, after: anchor, limit: limit)
  }

  private func changes(after anchor: LibraryAnchor? = nil, account: String = "shop", in ledger: any Ledger.Store)
    async throws -> [String]
  {
    try await page(after: anchor, account: account, in: ledger)?.changes.map { "\($0.change) \($0.name)" } ?? [
      "expired"
    ]
  }

  // MARK: - Changes

  @Test(
    "changes of the library are listed in order with names, digests and sizes, and survive reopening the ledger",
    arguments: LedgerUnderTest.all)
  func order(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.setLibraryPacks([pack("wang", "7")])
    try await announce("A", libraryClip("a.wav"), libraryClip("a-zh.wav", "b"), in: ledger)
    place.clock.advance(by: 60)
    try await announce("B", libraryClip("b.wav", "c"), in: ledger)
    for ledger in [ledger, try await place.open()] {
      let page = try #require(try await ledger.libraryChanges(account: "shop", group: "group.crier"))
      #expect(page.isComplete && page.changes.map(\.name) == ["wang", "a.wav", "a-zh.wav", "b.wav"])
      #expect(page.changes.map(\.kind) == [.pack, .clip, .clip, .clip])
      #expect(page.changes.map(\.bytes) == [200, 1_000, 1_000, 1_000])
      #expect(page.changes.map(\.sha256) == "7abc".map { String(repeating: $0, count: 64) })
      #expect(page.changes.allSatisfy { $0.change == .added })
      #expect(page.changes.last?.changedAt == place.clock.now && page.changes[0].changedAt < place.clock.now)
      let again = try #require(
        try await ledger.libraryChanges(
          account: "shop", group: "group.crier", after: LibraryAnchor(page.anchor.description)))
      #expect(again.changes.isEmpty && again.isComplete && again.anchor == page.anchor)
    }
  }

  @Test(
    "each name is listed once, in the order of its latest change, and publishing the same file is not a change",
    arguments: LedgerUnderTest.all)
  func compaction(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await announce("A", libraryClip("a.wav"), in: ledger)
    try await announce("B", libraryClip("b.wav"), in: ledger)
    let anchor = try #require(try await page(in: ledger)?.anchor)
    try await announce("A2", libraryClip("a.wav"), in: ledger)
    #expect(try await changes(after: anchor, in: ledger).isEmpty)
    try await announce("A3", libraryClip("a.wav", "f"), in: ledger)
    #expect(try await changes(after: anchor, in: ledger) == ["changed a.wav"])
    #expect(try await changes(in: ledger) == ["added b.wav", "changed a.wav"])
    #expect(try await ledger.removeFromLibrary(clip: "a.wav", group: "group.crier"))
    #expect(try await !ledger.removeFromLibrary(clip: "a.wav", group: "group.crier"))
    #expect(try await changes(after: anchor, in: ledger) == ["removed a.wav"])
    #expect(try await changes(in: ledger) == ["added b.wav"], "a list of what is there has no removed files")
    try await announce("A4", libraryClip("a.wav", "f"), in: ledger)
    #expect(try await changes(after: anchor, in: ledger) == ["added a.wav"])
    for round in 0..<50 {
      try await announce("C\(round)", libraryClip("c.wav", round.isMultiple(of: 2) ? "1" : "2"), in: ledger)
    }
    #expect(try await changes(after: anchor, in: ledger) == ["added a.wav", "changed c.wav"])
    #expect(try await changes(in: ledger).count == 3)
  }

  @Test(
    "pages of any size give every change once, even if clips are changed and removed between two pages",
    arguments: LedgerUnderTest.all)
  func pages(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for number in 0..<10 { try await announce("\(number)", libraryClip("\(number).wav"), in: ledger) }
    try await ledger.removeFromLibrary(clip: "9.wav", group: "group.crier")
    for limit in [1, 3, 9, 10] {
      var found: [String] = []
      var anchor: LibraryAnchor?
      while true {
        let page = try #require(try await page(after: anchor, limit: limit, in: ledger))
        #expect(page.changes.count <= limit)
        found += page.changes.map(\.name)
        anchor = page.anchor
        if page.isComplete { break }
      }
      #expect(found == (0..<9).map { "\($0).wav" }, "\(limit)")
    }
    let first = try #require(try await page(limit: 4, in: ledger))
    #expect(first.changes.map(\.name) == ["0.wav", "1.wav", "2.wav", "3.wav"] && !first.isComplete)
    try await ledger.removeFromLibrary(clip: "1.wav", group: "group.crier")
    try await announce("new", libraryClip("new.wav"), in: ledger)
    try await announce("2b", libraryClip("2.wav", "e"), in: ledger)
    #expect(
      try await changes(after: first.anchor, in: ledger) == ["4", "5", "6", "7", "8"].map { "added \($0).wav" } + [
        "removed 1.wav", "added new.wav", "changed 2.wav",
      ])
  }

  @Test(
    "an anchor expires when a removal after it is forgotten, and an up-to-date reader never has an expired anchor",
    arguments: LedgerUnderTest.all)
  func expiry(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for number in 0..<5 { try await announce("\(number)", libraryClip("\(number).wav"), in: ledger) }
    let early = try #require(try await page(limit: 2, in: ledger)?.anchor)
    let known = try #require(try await page(in: ledger)?.anchor)
    try await ledger.removeFromLibrary(clip: "3.wav", group: "group.crier")
    let late = try #require(try await page(after: known, in: ledger)?.anchor)
    let listing = try #require(try await page(limit: 2, in: ledger)?.anchor)
    place.clock.advance(by: 100)
    #expect(try await ledger.prune(finishedBefore: place.clock.now.addingTimeInterval(-100)).libraryChanges == 0)
    #expect(try await changes(after: known, in: ledger) == ["removed 3.wav"])
    #expect(try await ledger.prune(finishedBefore: place.clock.now).libraryChanges == 1)
    for anchor in [early, known] { #expect(try await page(after: anchor, in: ledger) == nil) }
    #expect(try await changes(after: late, in: ledger).isEmpty)
    #expect(
      try await changes(after: listing, in: ledger) == ["added 2.wav", "added 4.wav"], "a list that began later goes on"
    )
    #expect(try await changes(in: ledger) == ["added 0.wav", "added 1.wav", "added 2.wav", "added 4.wav"])
    // The record of an existing file never expires.
    place.clock.advance(by: 1e9)
    try await ledger.prune(finishedBefore: place.clock.now)
    #expect(try await changes(after: late, in: ledger).isEmpty)
    #expect(try await page(in: ledger)?.changes.count == 4)
  }

  @Test("an anchor of another library, or of a newer ledger, is not accepted", arguments: LedgerUnderTest.all)
  func foreignAnchors(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await announce("A", libraryClip("a.wav"), in: ledger)
    let anchor = try #require(try await page(in: ledger)?.anchor)
    #expect(try await page(after: anchor, account: "kiosk", in: ledger) == nil)
    #expect(try await page(after: anchor, group: "group.tills", in: ledger) == nil)
    let other = try await kind.makePlace(isCopy: false)
    #expect(try await other.open().libraryChanges(account: "shop", group: "group.crier", after: anchor) == nil)
    let future = LibraryAnchor(position: anchor.position + 1, since: anchor.since, feed: anchor.feed)
    #expect(try await page(after: future, in: ledger) == nil)
    for text in [
      "", "1", "1-1", "1-1-1", "-1-1-0123456789abcdef", "1-1-0123456789ABCDEF", "1-1-0123456789abcdef-1",
      "99999999999999999999-1-0123456789abcdef", "１-1-0123456789abcdef", "1-1-0123456789abcde",
    ] { #expect(LibraryAnchor(text) == nil, "\(text)") }
    #expect(LibraryAnchor(anchor.description) == anchor)
  }

  // MARK: - The accounts of files

  @Test(
    "an account sees only its own clips of an app group, even of a clip that several accounts have",
    arguments: LedgerUnderTest.all)
  func isolation(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await announce("A", libraryClip("a.wav"), in: ledger)
    try await announce("K", libraryClip("k.wav", "b"), account: "kiosk", in: ledger)
    try await announce("A", libraryClip("a.wav"), account: "kiosk", in: ledger)
    try await announce("T", libraryClip("t.wav", "c", group: "group.tills"), in: ledger)
    #expect(try await changes(in: ledger) == ["added a.wav"])
    #expect(try await changes(account: "kiosk", in: ledger) == ["added k.wav", "added a.wav"])
    #expect(try await page(group: "group.tills", in: ledger)?.changes.map(\.name) == ["t.wav"])
    for (account, group) in [("kiosk", "group.tills"), ("shop\0", "group.crier"), ("", "group.crier"), ("shop", "")] {
      #expect(try await page(account: account, group: group, in: ledger)?.changes.isEmpty ?? true)
    }
    let (a, b) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
    #expect(try await ledger.libraryClip(sha256: a, account: "shop", group: "group.crier") == "a.wav")
    #expect(try await ledger.libraryClip(sha256: a, account: "shop", group: "group.tills") == nil)
    #expect(try await ledger.libraryClip(sha256: b, account: "shop", group: "group.crier") == nil)
    // The file is gone for all of them.
    try await ledger.removeFromLibrary(clip: "a.wav", group: "group.crier")
    for account in ["shop", "kiosk"] {
      #expect(try await changes(account: account, in: ledger).contains("added a.wav") == false)
    }
    #expect(try await ledger.libraryClip(sha256: a, account: "shop", group: "group.crier") == nil)
  }

  @Test(
    "a removed announcement's clip leaves only its account's library, and only if no other announcement has it",
    arguments: LedgerUnderTest.all)
  func removal(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await announce("A", libraryClip("a.wav"), in: ledger)
    try await announce("A2", libraryClip("a.wav"), in: ledger)
    try await announce("A", libraryClip("a.wav"), account: "kiosk", in: ledger)
    let anchor = try #require(try await page(in: ledger)?.anchor)
    _ = try await ledger.remove(account: "shop", id: "A")
    #expect(try await changes(after: anchor, in: ledger).isEmpty)
    _ = try await ledger.remove(account: "shop", id: "A2")
    #expect(try await changes(after: anchor, in: ledger) == ["removed a.wav"])
    #expect(try await changes(account: "kiosk", in: ledger) == ["added a.wav"])
  }

  @Test(
    "the library has the clips of a batch, and can list the clips of all accounts in pages",
    arguments: LedgerUnderTest.all)
  func batches(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.note(
      clips: ["a.wav", "b.wav"], ofBatch: "b-1", account: "shop", files: [libraryClip("a.wav"), libraryClip("b.wav")])
    try await announce("C", libraryClip("c.wav", group: "group.tills"), account: "kiosk", in: ledger)
    try await ledger.setLibraryPacks([pack("wang")])
    try await ledger.removeFromLibrary(clip: "a.wav", group: "group.crier")
    #expect(try await changes(in: ledger) == ["added b.wav", "added wang"])
    let first = try await ledger.libraryClips(after: 0, limit: 1)
    #expect(first.map(\.clip) == [PublishedClip(name: "b.wav", group: "group.crier")])
    let rest = try await ledger.libraryClips(after: first[0].position, limit: 5_000)
    #expect(rest.map(\.clip) == [PublishedClip(name: "c.wav", group: "group.tills")])
    let bad = [
      libraryClip(""), libraryClip("a\0"), libraryClip("a", group: ""), libraryClip("a", "g"), libraryClip("a", "A"),
      LibrarySound(name: "a", group: "g", sha256: "ab", bytes: 1),
      LibrarySound(name: "a", group: "g", sha256: String(repeating: "a", count: 64), bytes: -1),
    ]
    for clip in bad {
      await #expect(throws: LedgerError.self) {
        try await ledger.note(clips: ["a"], ofBatch: "b-1", account: "shop", files: [clip])
      }
      await #expect(throws: LedgerError.self) { try await announce("bad", clip, in: ledger) }
    }
  }

  // MARK: - Packs

  @Test(
    "packs are added, changed and removed for all accounts, and a broken pack stays in the library as it was",
    arguments: LedgerUnderTest.all)
  func packs(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(try await ledger.setLibraryPacks([pack("li"), pack("wang")]))
    #expect(try await !ledger.setLibraryPacks([pack("wang"), pack("li")]))
    let anchor = try #require(try await page(in: ledger)?.anchor)
    #expect(try await !ledger.setLibraryPacks([pack("wang")], broken: ["li"]))
    #expect(try await changes(after: anchor, in: ledger).isEmpty)
    #expect(try await ledger.setLibraryPacks([pack("wang", "2")]))
    #expect(try await changes(after: anchor, in: ledger) == ["changed wang", "removed li"])
    #expect(try await !ledger.setLibraryPacks([pack("wang", "2")], broken: ["new"]))
    #expect(try await ledger.setLibraryPacks([pack("wang", "2"), pack("li")]))
    #expect(try await changes(after: anchor, in: ledger) == ["changed wang", "added li"])
    #expect(try await changes(account: "kiosk", in: ledger) == ["changed wang", "added li"])
    await #expect(throws: LedgerError.self) { try await ledger.setLibraryPacks([pack("", "1")]) }
  }

  // MARK: - News

  @Test(
    "the ledger names the groups whose library changed since a position, and the position survives a restart",
    arguments: LedgerUnderTest.all)
  func news(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    #expect(try await ledger.libraryNews(after: nil) == nil)
    try await announce("A", libraryClip("a.wav"), in: ledger)
    try await announce("B", libraryClip("b.wav"), in: ledger)
    try await announce("K", libraryClip("k.wav", group: "group.tills"), account: "kiosk", in: ledger)
    let groups: Set<Ledger.LibraryNews.Group> = [
      .init(account: "shop", group: "group.crier"), .init(account: "kiosk", group: "group.tills"),
    ]
    let news = try #require(try await ledger.libraryNews(after: nil))
    #expect(news.clips == groups && !news.hasPacks)
    try await ledger.setLibraryPacks([pack("wang")])
    let later = try #require(try await ledger.libraryNews(after: news.position))
    #expect(later.clips.isEmpty && later.hasPacks && later.position > news.position)
    #expect(try await ledger.libraryNews(after: later.position) == nil)
    try await ledger.noteLibraryPushed(upTo: news.position, under: nil)
    try await ledger.noteLibraryPushed(upTo: 1, under: nil)
    #expect(try await place.open().libraryNews(after: nil) == later)
  }
}
