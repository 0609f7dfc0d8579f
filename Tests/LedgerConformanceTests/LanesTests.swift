// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PlaybackOrder
import Testing

@Suite("Requests that wait on several lanes", .removesLedgers)
struct LanesTests {
  /// Accepts a request of an account on a lane.
  @discardableResult
  private func accept(
    _ id: String, lane: String, _ category: PlaybackItem.Category = .payment, sequence: Int64? = nil,
    in ledger: any Ledger.Store
  ) async throws -> Int64 {
    var request = payment(id, account: "shop", lane: lane, sequence: sequence)
    request.category = category
    return try await ledger.accept(request).number
  }

  @Test("every lane with waiting requests is listed with the number of the requests", arguments: LedgerUnderTest.all)
  func listed(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(try await ledger.waitingLanes().isEmpty)
    try await accept("a", lane: "door", in: ledger)
    try await accept("b", lane: "door", .information, in: ledger)
    let ended = try await accept("c", lane: "yard", in: ledger)
    try await ledger.set(ended, .cancelled)
    try await accept("d", lane: "counter", .refund, in: ledger)
    _ = try await ledger.accept(payment("file", lane: "null"))
    _ = try await ledger.accept(replayAnnouncement("replay"), again: 1, for: "shop")
    // A lane belongs to this machine once it was played here.
    for lane in ["door", "null"] { await (try await ledger.takeSeat(lane: lane)).giveBack() }
    let seat = try await ledger.takeSeat(lane: "counter")
    let lanes = try await ledger.waitingLanes()
    #expect(lanes.map(\.lane) == ["counter", "door"])
    #expect(lanes.map(\.count) == [1, 2])
    #expect(try await ledger.lanesToTakeOver() == ["counter", "door", "null"])
    #expect(lanes.map(\.isPlayed) == [true, false])
    withExtendedLifetime(seat) {}
  }

  @Test(
    "requests that are moved to another lane keep their numbers and order, and will be played from their start",
    arguments: LedgerUnderTest.all)
  func moved(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let first = try await accept("a", lane: "door", in: ledger)
    let ended = try await accept("b", lane: "door", in: ledger)
    let other = try await accept("c", lane: "counter", in: ledger)
    let second = try await accept("d", lane: "door", .information, in: ledger)
    for number in [first, ended] {
      try await ledger.set(number, .waiting, Ledger.Change(clip: "x.wav"))
      try await ledger.set(number, .playing)
    }
    try await ledger.set(ended, .played)
    #expect(try await ledger.moveRequests(from: "door", to: "counter") == 2)
    #expect(try await ledger.unfinished(lane: "counter").map(\.number) == [first, other, second])
    #expect(try await ledger.entry(first)?.state == .accepted)
    #expect(try await ledger.entry(ended)?.lane == "door")
    let events = try await ledger.events(after: 0, lane: "counter", limit: 100).filter { $0.kind == .moved }
    #expect(events.map(\.number) == [first, second] && events.allSatisfy { $0.detail == ["from": "door"] })
    #expect(try await ledger.moveRequests(from: "door", to: "counter") == 0)
    #expect(try await ledger.moveRequests(from: "counter", to: "counter") == 0)
  }

  @Test(
    "sound files, replays and this machine's own announcements are not moved to another lane",
    arguments: LedgerUnderTest.all)
  func stays(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var file = payment("file", lane: "door")
    file.kind = .file
    let number = try await ledger.accept(file).number
    let heard = try await accept("a", lane: "yard", in: ledger)
    var replay = replayAnnouncement("r")
    replay.lane = "door"
    let again = try await ledger.accept(replay, again: heard, for: "shop").number
    #expect(try await ledger.moveRequests(from: "door", to: "counter") == 0)
    for number in [number, again] { #expect(try await ledger.entry(number)?.lane == "door") }
  }

  @Test(
    "a replay that expires on a lane without a player ends, so that its original can be removed",
    arguments: LedgerUnderTest.all)
  func expiredReplay(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let original = try await accept("a", lane: "door", in: ledger)
    try await ledger.set(original, .cancelled)
    var replay = replayAnnouncement("r")
    (replay.lane, replay.expiresAt) = ("door", place.clock.now + 60)
    let number = try await ledger.accept(replay, again: original, for: "shop").number
    try await ledger.moveRequests(from: "door", to: "counter")
    #expect(try await ledger.entry(number)?.state == .accepted)
    place.clock.advance(by: 60)
    try await ledger.moveRequests(from: "door", to: "counter")
    #expect(try await ledger.entry(number)?.state == .expired)
    guard case .removed = try await ledger.remove(account: "shop", id: "a") else {
      Issue.record("The original was not removed.")
      return
    }
  }

  @Test(
    "a summary is cancelled when its payments move to another lane, where they are announced individually",
    arguments: LedgerUnderTest.all)
  func summaries(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let payments = [try await accept("a", lane: "door", in: ledger), try await accept("b", lane: "door", in: ledger)]
    var summary = payment("s", lane: "door")
    summary.kind = .summary
    let number = try await ledger.accept(summary, standingFor: payments).number
    #expect(try await ledger.moveRequests(from: "door", to: "counter") == 2)
    #expect(try await ledger.entry(number)?.state == .cancelled)
    for number in payments { #expect(try await ledger.entry(number)?.summarisedBy == nil) }
    #expect(try await ledger.unfinished(lane: "counter").map(\.number) == payments)
  }

  @Test(
    "requests that move to a lane without sequence numbers bring the last number of their former lane with them",
    arguments: LedgerUnderTest.all, [nil, 7])
  func sequence(kind: LedgerUnderTest, own: Int64?) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.record(.sequenceMissing, lane: "door", passing: 41)
    if let own { try await ledger.record(.sequenceMissing, lane: "counter", passing: own) }
    try await accept("a", lane: "door", sequence: 42, in: ledger)
    try await ledger.moveRequests(from: "door", to: "counter")
    #expect(try await ledger.lastPassedSequence(lane: "counter") == own ?? 41)
  }

  @Test(
    "an announcement on a lane without a player can be cancelled in the ledger, and only once",
    arguments: LedgerUnderTest.all)
  func cancelled(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await accept("a", lane: "door", in: ledger)
    #expect(try await ledger.cancelUnplayed(number))
    #expect(try await ledger.entry(number)?.state == .cancelled)
    #expect(try await !ledger.cancelUnplayed(number))
    #expect(try await !ledger.cancelUnplayed(999))
  }

  @Test(
    "an announcement on a lane with a running player cannot be cancelled in the ledger, but only by the player",
    arguments: LedgerUnderTest.all)
  func played(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await accept("a", lane: "door", in: ledger)
    let seat = try await ledger.takeSeat(lane: "door")
    let error = await #expect(throws: LedgerError.self) { _ = try await ledger.cancelUnplayed(number) }
    #expect(error?.code == .laneTaken)
    #expect(try await ledger.entry(number)?.state == .accepted)
    withExtendedLifetime(seat) {}
  }

  @Test(
    "a lane that its player has released can be played again at once, and keeps the player's last report",
    arguments: LedgerUnderTest.all)
  func seats(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let (ledger, other) = (try await place.open(), try await place.open())
    let number = try await accept("a", lane: "door", in: ledger)
    for _ in 0..<3 {
      let seat = try await ledger.takeSeat(lane: "door")
      let error = await #expect(throws: LedgerError.self) { _ = try await other.takeSeat(lane: "door") }
      #expect(error?.code == .laneTaken)
      var report = PlayerReport(startedAt: place.clock.now, reportedAt: place.clock.now)
      report.number = number
      try seat.report(report)
      #expect(try await other.player(lane: "door") == PlayerStatus(lane: "door", isRunning: true, report: report))
      #expect(try await ledger.ledger(under: seat).set(number, .accepted) == false)
      await seat.giveBack()
      #expect(try await other.player(lane: "door").isRunning == false)
      #expect(try await other.player(lane: "door").report?.number == number)
    }
    #expect(try await other.players().map(\.lane) == ["door"])
    #expect(try await ledger.player(lane: "yard") == PlayerStatus(lane: "yard", isRunning: false, report: nil))
  }

  @Test("the requests of a lane can be moved only while no process plays the lane", arguments: LedgerUnderTest.all)
  func moveHere(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["a", "b"] { try await accept(id, lane: "door", in: ledger) }
    let seat = try await ledger.takeSeat(lane: "door")
    let error = await #expect(throws: LedgerError.self) { _ = try await ledger.moveHere(lane: "door") }
    #expect(error?.code == .laneTaken)
    await seat.giveBack()
    #expect(try await ledger.moveHere(lane: "door") == 2)
    #expect(try await ledger.moveHere(lane: "nowhere") == 0)
    #expect(try await ledger.lanesToTakeOver() == ["door"])
    await #expect(throws: LedgerError.self) { _ = try await ledger.moveHere(lane: "") }
    _ = try await ledger.takeSeat(lane: "door")
  }
}
