// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Replays", .removesLedgers)
struct ReplayTests {
  private func replay(_ id: String, of original: Int64, for account: String? = "shop", in ledger: any Ledger.Store)
    async throws -> Int64
  {
    try await ledger.accept(replayAnnouncement(id), again: original, for: account).number
  }

  @Test(
    "a replay records its original and its requester, and survives reopening the ledger", arguments: LedgerUnderTest.all
  )
  func origin(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let original = try await ledger.accept(payment("A-1")).number
    let number = try await replay("r", of: original, in: ledger)
    for ledger in [ledger, try await place.open()] {
      let replay = try #require(try await ledger.replay(number))
      #expect(replay.number == number && replay.original == original && replay.requester == "shop")
      #expect(try await ledger.replay(original) == nil)
    }
  }

  @Test("a replay of a replay plays the original announcement", arguments: LedgerUnderTest.all)
  func chain(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let original = try await ledger.accept(payment("A-1")).number
    let second = try await replay("r", of: try await replay("q", of: original, in: ledger), in: ledger)
    #expect(try await ledger.replay(second)?.original == original)
  }

  @Test(
    "a finished replay does not count towards the limits, and a replay above them is not stored",
    arguments: LedgerUnderTest.all)
  func limits(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let original = try await ledger.accept(payment("A-1")).number
    var numbers: [Int64] = []
    for index in 0..<Ledger.maximumReplaysOfAccount {
      numbers.append(try await replay("\(index)", of: original, in: ledger))
    }
    await #expect(throws: LedgerError.self) { _ = try await replay("x", of: original, in: ledger) }
    #expect(try await ledger.entry(id: "x") == nil)
    try await ledger.set(numbers[1], .cancelled)
    #expect(try await ledger.unfinishedReplays(lane: "counter").map(\.number) == [numbers[0], numbers[2]])
    #expect(try await ledger.unfinishedReplays(lane: "other").isEmpty)
    _ = try await replay("x", of: original, in: ledger)
  }

  @Test("a replay is kept when its original is pruned, and is pruned later itself", arguments: LedgerUnderTest.all)
  func pruned(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let original = try await ledger.accept(payment("A-1")).number
    let number = try await replay("r", of: original, in: ledger)
    try await ledger.set(original, .cancelled)
    place.clock.advance(by: 10)
    try await ledger.prune(finishedBefore: place.clock.now)
    let left = try #require(try await ledger.replay(number))
    #expect(left.original == nil && left.requester == "shop")
    try await ledger.set(number, .cancelled)
    place.clock.advance(by: 10)
    try await ledger.prune(finishedBefore: place.clock.now)
    #expect(try await ledger.replay(number) == nil)
  }
}
