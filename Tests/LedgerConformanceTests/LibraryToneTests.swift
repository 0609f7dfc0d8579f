// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Tones in the library of the ledger")
struct LibraryToneTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private func changes(
    after anchor: LibraryAnchor? = nil, account: String = "shop", group: String = "group.crier",
    in ledger: (SQLiteLedger)? = nil
  ) async throws -> [String] {
    let page = try await (ledger ?? self.ledger).libraryChanges(account: account, group: group, after: anchor)
    return page?.changes.map { "\($0.change) \($0.kind) \($0.name)" } ?? ["expired"]
  }

  @Test("the tones of an app group are in the group's library for all accounts, and not in another group's library")
  func groups() async throws {
    #expect(
      try await ledger.setLibraryTones([
        libraryClip("chime.wav"), libraryClip("bell.wav", "b"), libraryClip("chime.wav", "c", group: "group.tills"),
      ]))
    for account in ["shop", "bank"] {
      #expect(try await changes(account: account) == ["added tone chime.wav", "added tone bell.wav"])
    }
    #expect(try await changes(group: "group.tills") == ["added tone chime.wav"])
    #expect(try await changes(group: "group.other").isEmpty)
    let digest = String(repeating: "c", count: 64)
    #expect(try await ledger.libraryTone(sha256: digest, group: "group.tills") == "chime.wav")
    #expect(try await ledger.libraryTone(sha256: digest, group: "group.crier") == nil)
    #expect(try await ledger.libraryClip(sha256: digest, account: "shop", group: "group.tills") == nil)
  }

  @Test(
    "a tone with the same bytes gives no change of the library, and other bytes or a missing tone give a change")
  func life() async throws {
    try await ledger.setLibraryTones([libraryClip("chime.wav"), libraryClip("bell.wav")])
    let anchor = try #require(try await ledger.libraryChanges(account: "shop", group: "group.crier")?.anchor)
    #expect(try await !ledger.setLibraryTones([libraryClip("bell.wav"), libraryClip("chime.wav")]))
    #expect(try await changes(after: anchor).isEmpty)
    #expect(try await ledger.setLibraryTones([libraryClip("chime.wav", "f")]))
    #expect(try await changes(after: anchor) == ["changed tone chime.wav", "removed tone bell.wav"])
    #expect(try await ledger.libraryTone(sha256: String(repeating: "a", count: 64), group: "group.crier") == nil)
    #expect(try await !ledger.setLibraryTones([libraryClip("chime.wav", "f")]), "what is removed is not removed again")
    #expect(try await ledger.setLibraryTones([libraryClip("chime.wav", "f"), libraryClip("bell.wav")]))
    #expect(try await changes(after: anchor) == ["changed tone chime.wav", "added tone bell.wav"])
  }

  @Test("the tones of a group whose folder cannot be read stay in the library")
  func unreadable() async throws {
    try await ledger.setLibraryTones([libraryClip("chime.wav"), libraryClip("bell.wav", group: "group.tills")])
    #expect(try await ledger.setLibraryTones([], unreadable: ["group.crier"]))
    #expect(try await changes() == ["added tone chime.wav"])
    #expect(try await changes(group: "group.tills").isEmpty)
  }

  @Test("the ledger names the groups whose tones changed, separately from changes of voice packs")
  func news() async throws {
    try await ledger.setLibraryTones([libraryClip("chime.wav", group: "group.tills")])
    let news = try #require(try await ledger.libraryNews(after: nil))
    #expect(news.tones == ["group.tills"] && news.clips.isEmpty && !news.hasPacks)
    try await ledger.setLibraryPacks([LibraryPack(id: "wang", sha256: String(repeating: "1", count: 64), bytes: 200)])
    let later = try #require(try await ledger.libraryNews(after: news.position))
    #expect(later.tones.isEmpty && later.hasPacks)
    let both = try #require(try await ledger.libraryNews(after: nil))
    #expect(both.tones == ["group.tills"] && both.hasPacks)
  }

  @Test("a tone without a name, a group or a digest is refused, and the library does not change")
  func invalid() async throws {
    try await ledger.setLibraryTones([libraryClip("chime.wav")])
    for (name, digit, group) in [("", "a", "group.crier"), ("x.wav", "x", "group.crier"), ("x.wav", "a", "")] {
      let error = await #expect(throws: LedgerError.self) {
        try await ledger.setLibraryTones([libraryClip(name, Character(digit), group: group)])
      }
      #expect(error?.code == .invalidValue)
    }
    #expect(try await changes() == ["added tone chime.wav"])
  }

  @Test("an earlier version's library keeps its changes and its anchors, and can have tones afterwards")
  func migration() async throws {
    let old = try TemporaryLedger()
    let anchor: Int64 = 41
    try FileManager.default.createDirectory(
      at: old.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let queue = try DatabaseQueue(waitingFor: old.file)
    try await queue.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(queue, upTo: "21: receipts of phones, refunds, format of webhooks")
    try await queue.write { database in
      try database.execute(
        sql: """
          INSERT INTO library_changes VALUES (\(anchor), 'shop', 'group.crier', 'clip', 'a.wav', randomblob(32), 1,
            'added', 0);
          INSERT INTO library_changes VALUES (\(anchor + 1), NULL, NULL, 'pack', 'wang', randomblob(32), 1, 'added', 0);
          DELETE FROM library_changes WHERE kind = 'pack';
          """)
    }
    try queue.close()
    let ledger = try old.open()
    #expect(try await changes(in: ledger) == ["added clip a.wav"])
    try await ledger.setLibraryTones([libraryClip("chime.wav")])
    let page = try #require(try await ledger.libraryChanges(account: "shop", group: "group.crier"))
    #expect(page.changes.map(\.position) == [anchor, anchor + 2], "an anchor is never used again")
    // The checks of the table still refuse what is neither a clip, a pack nor a tone.
    for columns in [
      "NULL, NULL, 'tone'", "'shop', 'group.crier', 'tone'", "NULL, 'group.crier', 'pack'",
      "NULL, 'group.crier', 'clip'",
    ] {
      await #expect(throws: (any Error).self) {
        try await ledger.write(while: .changingLibrary) { database in
          try database.execute(
            sql: """
              INSERT INTO library_changes (account, group_id, kind, name, sha256, bytes, change, at)
              VALUES (\(columns), 'x', randomblob(32), 1, 'added', 0)
              """)
        }
      }
    }
  }
}
