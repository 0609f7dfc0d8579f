// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Clips that announcements and batches need", .removesLedgers)
struct NeededClipsTests {
  private func needed(_ batches: String..., in ledger: any Ledger.Store) async throws -> Set<String> {
    try await ledger.neededClips(ofBatches: batches, among: nil)
  }

  /// Accepts an announcement that waits with a clip.
  private func waiting(_ id: String, clip: String, in ledger: any Ledger.Store) async throws -> Int64 {
    let number = try await ledger.accept(payment(id)).number
    try await ledger.set(number, .rendering)
    try await ledger.set(number, .waiting, Ledger.Change(clip: clip))
    return number
  }

  /// Accepts an announcement whose answer has a clip. The announcement itself has none yet.
  private func answered(_ id: String, clip: String, in ledger: any Ledger.Store) async throws -> Int64 {
    let answer = NewAnswer(
      account: "shop", key: "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data(),
      clip: PublishedClip(name: clip, group: "group.crier"))
    return try #require(
      try await ledger.accept(answer: answer, playing: payment(id, account: "shop")).acceptance?.number)
  }

  @Test("an empty ledger needs no clip", arguments: LedgerUnderTest.all)
  func empty(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(try await needed("b-1", in: ledger).isEmpty)
  }

  @Test(
    "an unfinished announcement needs its clip, and a finished announcement does not", arguments: LedgerUnderTest.all)
  func unfinished(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let first = try await waiting("A-1", clip: "a.wav", in: ledger)
    _ = try await waiting("A-2", clip: "b.wav", in: ledger)
    _ = try await ledger.accept(payment("A-3"))
    #expect(try await needed(in: ledger) == ["a.wav", "b.wav"])
    try await ledger.set(first, .playing)
    #expect(try await needed(in: ledger) == ["a.wav", "b.wav"])
    try await ledger.set(first, .played)
    #expect(try await needed(in: ledger) == ["b.wav"])
  }

  @Test(
    "an unfinished announcement needs the clip of its answer, even if its own clip is not yet there",
    arguments: LedgerUnderTest.all)
  func answer(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await answered("A-1", clip: "a.wav", in: ledger)
    // An answer without an announcement belongs to a clip that is not to be played.
    _ = try await ledger.accept(
      answer: NewAnswer(
        account: "shop", key: "id:A-2", bodyDigest: digestOf("A-2"), id: "A-2", status: 201, report: Data(),
        clip: PublishedClip(name: "b.wav", group: nil)))
    #expect(try await needed(in: ledger) == ["a.wav"])
    try await ledger.set(number, .cancelled)
    #expect(try await needed(in: ledger).isEmpty)
  }

  @Test(
    "an unfinished replay needs two clips of its finished original: the played clip and the clip of the answer",
    arguments: LedgerUnderTest.all)
  func replay(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let original = try await answered("A-1", clip: "answer.wav", in: ledger)
    try await ledger.set(original, .rendering)
    try await ledger.set(original, .waiting, Ledger.Change(clip: "played.wav"))
    try await ledger.set(original, .cancelled)
    #expect(try await needed(in: ledger).isEmpty)
    let number = try await ledger.accept(replayAnnouncement("r"), again: original, for: "shop").number
    #expect(try await needed(in: ledger) == ["answer.wav", "played.wav"])
    try await ledger.set(number, .cancelled)
    #expect(try await needed(in: ledger).isEmpty)
  }

  @Test("a replay whose original was pruned needs only its own clip", arguments: LedgerUnderTest.all)
  func pruned(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let original = try await waiting("A-1", clip: "a.wav", in: ledger)
    try await ledger.set(original, .cancelled)
    let number = try await ledger.accept(replayAnnouncement("r"), again: original, for: nil).number
    place.clock.advance(by: 10)
    try await ledger.prune(finishedBefore: place.clock.now)
    #expect(try await needed(in: ledger).isEmpty)
    try await ledger.set(number, .rendering)
    try await ledger.set(number, .waiting, Ledger.Change(clip: "b.wav"))
    #expect(try await needed(in: ledger) == ["b.wav"])
  }

  @Test(
    "the clips of the named batches are needed, and the clips of other batches are not", arguments: LedgerUnderTest.all)
  func batches(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.note(clips: ["a.wav", "b.wav"], ofBatch: "b-1", account: "shop")
    try await ledger.note(clips: ["c.wav"], ofBatch: "b-2", account: "shop")
    try await ledger.note(clips: ["d.wav"], ofBatch: "b-3", account: "kiosk")
    #expect(try await needed(in: ledger).isEmpty)
    #expect(try await needed("b-1", "b-3", "b-4", in: ledger) == ["a.wav", "b.wav", "d.wav"])
    try await ledger.forgetClips(ofBatch: "b-1")
    #expect(try await needed("b-1", "b-2", in: ledger) == ["c.wav"])
  }

  @Test("a query for a list of clips returns only the needed clips of the list", arguments: LedgerUnderTest.all)
  func among(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    _ = try await waiting("A-1", clip: "a.wav", in: ledger)
    _ = try await answered("A-2", clip: "b.wav", in: ledger)
    try await ledger.note(clips: ["c.wav", "d.wav"], ofBatch: "b-1", account: "shop")
    try await ledger.note(clips: ["d.wav", "e.wav"], ofBatch: "b-2", account: "kiosk")
    func some(_ names: String..., batches: [String] = ["b-1"]) async throws -> Set<String> {
      try await ledger.neededClips(ofBatches: batches, among: names)
    }
    #expect(try await some("a.wav", "c.wav", "e.wav", "x.wav") == ["a.wav", "c.wav"])
    #expect(try await some("b.wav", "d.wav") == ["b.wav", "d.wav"])
    #expect(try await some("d.wav", "e.wav", batches: ["b-2", "b-3"]) == ["d.wav", "e.wav"])
    #expect(try await some("c.wav", "c.wav\0", batches: []).isEmpty)
    #expect(try await some().isEmpty)
  }

  @Test(
    "a batch id with a zero byte matches no batch, not even the batch whose id precedes the zero byte",
    arguments: LedgerUnderTest.all)
  func zero(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.note(clips: ["a.wav"], ofBatch: "b-1", account: "shop")
    #expect(try await needed("b-1\0", "\0", "b-1\0b-1", in: ledger).isEmpty)
    #expect(try await needed("b-1\0", "b-1", in: ledger) == ["a.wav"])
  }
}
