// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

private let decided = Decision(
  kind: "received", text: "twelve dollars fifty", locale: "en-US",
  amount: Decision.Amount(value: "12.50", currency: "USD"),
  channel: "alipay", payer: "Ada", note: "thanks", occurredAt: Date(timeIntervalSince1970: 1_799_999_999),
  sequence: 42, method: "mixed", voice: "shop", packDigest: "abc", clip: PublishedClip(name: "1.wav", group: "group.a"),
  durationMilliseconds: 2_293, loudnessLUFS: -16.04, warnings: ["memo: unknown key, ignored", "note: is long"])

private func answer(_ id: String, key: String? = nil, _ decision: Decision? = decided) -> NewAnswer {
  NewAnswer(
    account: "shop", key: key ?? "id:\(id)", bodyDigest: digestOf(key ?? id), id: id, status: 201,
    report: Data("{}".utf8),
    clip: decision?.clip, decision: decision)
}

@Suite("Decisions about an announcement", .removesLedgers)
struct DecisionTests {
  /// Returns the number of decisions that are stored. All of these tests name an amount.
  private func count(in ledger: any Ledger.Store) async throws -> Int {
    try await ledger.amounts(account: "shop", from: .distantPast, to: .distantFuture, into: 0) { count, _ in
      count += 1
      return true
    }
  }

  @Test(
    "the decision about an announcement is stored with all its values, whether the announcement is played or not",
    arguments: LedgerUnderTest.all)
  func values(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    _ = try await ledger.accept(answer: answer("A-1"), playing: payment("A-1", account: "shop"))
    _ = try await ledger.accept(answer: answer("A-2"))
    for id in ["A-1", "A-2"] {
      let known = try #require(try await ledger.announcement(account: "shop", id: id))
      var found = try #require(known.decision)
      #expect(found.acceptedAt == place.clock.now)
      #expect((known.entry?.decision ?? found) == found)
      found.occurredAt = decided.occurredAt
      #expect(found.warnings == decided.warnings && found.clip == decided.clip && found.amount == decided.amount)
      #expect(
        [found.kind, found.text, found.locale, found.method, found.voice] == [
          "received", "twelve dollars fifty", "en-US", "mixed", "shop",
        ])
      #expect([found.channel, found.payer, found.note, found.packDigest] == ["alipay", "Ada", "thanks", "abc"])
      #expect(found.sequence == 42 && found.durationMilliseconds == 2_293 && found.loudnessLUFS == -16.04)
    }
  }

  @Test(
    "an announcement whose clip is already there gets the state 'waiting' at once, and no other state before",
    arguments: LedgerUnderTest.all)
  func waits(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let stored = try await ledger.accept(answer: answer("A-1"), playing: payment("A-1", account: "shop"))
    let number = try #require(stored.acceptance?.number)
    let entry = try #require(try await ledger.entry(number))
    #expect(entry.state == .waiting && entry.clip == "1.wav")
    #expect(try await ledger.events().map(\.kind) == [.accepted, .waiting])
    #expect(try await ledger.set(number, .playing))
  }

  @Test("the first decision about an announcement is kept", arguments: LedgerUnderTest.all)
  func first(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    _ = try await ledger.accept(answer: answer("A-1"))
    var second = decided
    second.text = "something else"
    _ = try await ledger.accept(answer: answer("A-1", key: "key:k", second))
    #expect(try await ledger.announcement(account: "shop", id: "A-1")?.decision?.text == decided.text)
  }

  @Test("a replay has the decision of its original", arguments: LedgerUnderTest.all)
  func replay(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let stored = try await ledger.accept(answer: answer("A-1"), playing: payment("A-1", account: "shop"))
    let original = try #require(try await ledger.entry(stored.acceptance?.number ?? 0))
    var replay = original.announcement
    (replay.account, replay.id, replay.isReplay) = ("", "R", true)
    let number = try await ledger.accept(replay, again: original.number, for: nil).number
    #expect(try await ledger.entry(number)?.decision?.text == decided.text)
  }

  @Test(
    "if an announcement was accepted without a decision, the decision is stored with the clip",
    arguments: LedgerUnderTest.all)
  func later(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await ledger.accept(payment("A-1")).number
    #expect(try await ledger.entry(number)?.decision == nil)
    try await ledger.set(number, .rendering)
    try await ledger.set(number, .waiting, Ledger.Change(clip: "1.wav", decision: decided))
    #expect(try await ledger.entry(number)?.decision?.text == decided.text)
  }

  @Test(
    "a decision about an announcement is removed with the announcement's last answer and entry",
    arguments: LedgerUnderTest.all)
  func removed(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    _ = try await ledger.accept(answer: answer("A-1"), playing: payment("A-1", account: "shop"))
    let number = try #require(try await ledger.entry(account: "shop", id: "A-1")).number
    try await ledger.set(number, .cancelled)
    place.clock.advance(by: Ledger.answerLifetime + 1)
    try await ledger.pruneAnswers(before: place.clock.now)
    #expect(try await count(in: ledger) == 1, "the entry still needs it")
    _ = try await ledger.prune(finishedBefore: place.clock.now + 1)
    #expect(try await count(in: ledger) == 0)

    _ = try await ledger.accept(answer: answer("A-2"))
    _ = try await ledger.accept(answer: answer("A-2", key: "key:other"))
    guard case .removed = try await ledger.remove(account: "shop", id: "A-2") else {
      Issue.record("it was not removed")
      return
    }
    #expect(try await count(in: ledger) == 0)
  }

  @Test(
    "after a key's answer has expired, the next request with the key replaces the answer and its decision",
    arguments: LedgerUnderTest.all)
  func replaced(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    _ = try await ledger.accept(answer: answer("A-1", key: "key:k"))
    place.clock.advance(by: Ledger.answerLifetime + 1)
    _ = try await ledger.accept(answer: answer("A-2", key: "key:k"))
    #expect(try await ledger.announcement(account: "shop", id: "A-1") == nil)
    #expect(try await count(in: ledger) == 1)
  }

  @Test(
    "a decision with an invalid value is refused by an error that names the decision, and nothing is written",
    arguments: LedgerUnderTest.all)
  func invalid(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var invalid = decided
    invalid.payer = "a\0b"
    await #expect { try await ledger.accept(answer: answer("A-1", invalid)) } throws: {
      ($0 as? LedgerError)?.code == .invalidValue && "\($0)".contains("decision")
    }
    #expect(try await count(in: ledger) == 0)
  }
}
