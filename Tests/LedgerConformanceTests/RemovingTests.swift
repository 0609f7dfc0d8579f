// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Removing announcements", .removesLedgers)
struct RemovingTests {
  private static let clip = PublishedClip(name: "a.wav", group: "group.crier")

  private func answer(_ id: String, account: String = "shop", clip: PublishedClip? = clip) -> NewAnswer {
    NewAnswer(
      account: account, key: "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data(), clip: clip)
  }

  /// An announcement that was heard.
  @discardableResult
  private func heard(_ id: String, in ledger: any Ledger.Store) async throws -> Int64 {
    try await heard(payment(id, account: "shop"), in: ledger)
  }

  @discardableResult
  private func heard(_ announcement: StoredAnnouncement, clip: String = "a.wav", in ledger: any Ledger.Store)
    async throws -> Int64
  {
    let number = try await ledger.accept(announcement).number
    try await ledger.set(number, .waiting, Ledger.Change(clip: clip))
    try await ledger.set(number, .playing)
    try await ledger.set(number, .played)
    return number
  }

  @Test(
    "removing an announcement returns its entry and the clips, keys and bodies of its responses, and leaves nothing",
    arguments: LedgerUnderTest.all)
  func result(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await heard("A-1", in: ledger)
    _ = try await ledger.accept(answer: answer("A-1"))
    guard case .removed(let entry, let answers, _) = try await ledger.remove(account: "shop", id: "A-1") else {
      Issue.record("It was not removed.")
      return
    }
    #expect(entry?.number == number && entry?.clip == "a.wav")
    #expect(answers.map(\.key) == ["id:A-1"] && answers.map(\.bodyDigest) == [digestOf("A-1")])
    #expect(answers.map(\.clip) == [Self.clip])
    #expect(try await ledger.remove(account: "shop", id: "A-1") == .unknown)
    #expect(try await ledger.announcement(account: "shop", id: "A-1") == nil)
  }

  @Test(
    "an announcement cannot be removed while its replay waits, and is later removed together with the replay",
    arguments: LedgerUnderTest.all)
  func replayed(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await heard("A-1", in: ledger)
    let replay = try await ledger.accept(replayAnnouncement("r"), again: number, for: "shop").number
    #expect(try await ledger.remove(account: "shop", id: "A-1") == .notEnded)
    for number in [number, replay] { #expect(try await ledger.entry(number) != nil) }
    try await ledger.set(replay, .cancelled)
    guard case .removed = try await ledger.remove(account: "shop", id: "A-1") else {
      Issue.record("It was not removed.")
      return
    }
    for number in [number, replay] { #expect(try await ledger.entry(number) == nil) }
  }

  @Test("a removed announcement cannot be replayed, and no replay is accepted", arguments: LedgerUnderTest.all)
  func gone(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await heard("A-1", in: ledger)
    _ = try await ledger.remove(account: "shop", id: "A-1")
    let error = await #expect(throws: LedgerError.self) {
      _ = try await ledger.accept(replayAnnouncement("r"), again: number, for: "shop")
    }
    #expect(error?.code == .notFound)
    #expect(try await ledger.recent().isEmpty)
  }

  @Test(
    "a clip also belongs to another account if that account's response, announcement or batch contains it",
    arguments: LedgerUnderTest.all, 0..<3)
  func others(kind: LedgerUnderTest, holder: Int) async throws {
    let ledger = try await kind.makePlace().open()
    for account in ["a", "shop", "z"] {
      #expect(try await !ledger.isClipOfOthers("a.wav", than: account))
    }
    switch holder {
    case 0: _ = try await ledger.accept(answer: answer("A-1"))
    case 1: _ = try await heard("A-1", in: ledger)
    default: try await ledger.note(clips: ["a.wav"], ofBatch: "b1", account: "shop")
    }
    #expect(try await !ledger.isClipOfOthers("a.wav", than: "shop"), "the clip belongs to this account")
    for account in ["a", "z", ""] { #expect(try await ledger.isClipOfOthers("a.wav", than: account)) }
    #expect(try await !ledger.isClipOfOthers("b.wav", than: "z"))
    for name in ["", "a.wav\0"] { #expect(try await !ledger.isClipOfOthers(name, than: "z")) }
  }

  @Test(
    "a player's own entries, such as replays, do not count as entries of another account",
    arguments: LedgerUnderTest.all)
  func player(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await heard("A-1", in: ledger)
    try await heard(replayAnnouncement("r"), in: ledger)
    #expect(try await !ledger.isClipOfOthers("a.wav", than: "shop"))
  }

  @Test(
    "when a batch is forgotten, its clips are forgotten too, except those of a later batch",
    arguments: LedgerUnderTest.all)
  func batches(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let names = (0..<450).map { "\($0).wav" }
    try await ledger.note(clips: names, ofBatch: "b1", account: "shop")
    try await ledger.note(clips: ["7.wav"], ofBatch: "b2", account: "shop")
    try await ledger.forgetClips(ofBatch: "b1")
    #expect(try await !ledger.isClipOfOthers("8.wav", than: "z"))
    #expect(try await ledger.isClipOfOthers("7.wav", than: "z"))
    try await ledger.forgetClips(ofBatch: "b2")
    #expect(try await !ledger.isClipOfOthers("7.wav", than: "z"))
  }

  @Test("a batch with invalid clips is refused, and none of its clips is recorded", arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for (names, batch) in [(["a.wav", ""], "b"), (["a.wav", "\0"], "b"), (["a.wav"], "")] {
      let error = await #expect(throws: LedgerError.self) {
        try await ledger.note(clips: names, ofBatch: batch, account: "shop")
      }
      #expect(error?.code == .invalidValue)
    }
    for clip in [PublishedClip(name: "", group: nil), PublishedClip(name: "a.wav", group: "\0")] {
      let error = await #expect(throws: LedgerError.self) {
        _ = try await ledger.accept(answer: answer("A-1", clip: clip))
      }
      #expect(error?.code == .invalidValue)
    }
    #expect(try await !ledger.isClipOfOthers("a.wav", than: "z"))
  }
}
