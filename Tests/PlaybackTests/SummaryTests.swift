// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import Testing

@Suite("Summaries of a backlog", .timeLimit(.minutes(2)))
struct BacklogSummaryTests {
  private static let maker: Player.SummaryMaker = { payments in
    announcement("\(payments.count) payments")
  }

  /// Returns a player with one playing and four waiting payments, more than the limit.
  private func crowded(_ lane: TestLane, summary: @escaping Player.SummaryMaker = maker) async throws -> Player {
    let player = try await lane.started(summary: summary) { $0.order.longestBacklog = 3 }
    _ = try await player.accept(announcement("first", sequence: 1))
    await lane.output.begins(1)
    for id in 2...5 { _ = try await player.accept(announcement("\(id)", sequence: Int64(id))) }
    return player
  }

  @Test("a backlog is played as one announcement, which is recorded with each of its payments")
  func summary() async throws {
    let lane = try TestLane()
    let player = try await crowded(lane)
    lane.output.hear()
    await lane.output.begins(2)
    try await lane.event(.playing, 6, of: player)
    #expect(try await player.status().playing?.standsFor == [2, 3, 4, 5])
    #expect(try await !player.cancel(3))
    lane.output.hear()
    try await lane.event(.played, 6, of: player)
    for number in 2...5 as ClosedRange<Int64> {
      let entry = try #require(try await lane.ledger.entry(number))
      #expect(entry.state == .played && entry.summarisedBy == 6)
    }
    #expect(lane.output.heard == [1, 6])
    #expect(try await lane.ledger.lastPassedSequence(lane: "counter") == 5)
    await player.stop()
  }

  @Test("the payments of a summary are not counted as waiting, and do not hide announcements that wait after them")
  func hidden() async throws {
    let lane = try TestLane()
    var members: [Int64] = []
    for id in 1...250 { members.append(try await lane.ledger.accept(announcement("\(id)").onCounter).number) }
    let summary = try await lane.ledger.accept(announcement("sum").onCounter, standingFor: members).number
    let view = try await LaneView.of(lane: "counter", in: lane.ledger, at: lane.clock.date())
    #expect(view.waiting.map(\.number) == [summary])
    #expect(view.waitingCount == 1)
    #expect(try await lane.ledger.unfinishedAlone(lane: "counter", limit: 200).map(\.number) == [summary])
    #expect(try await lane.ledger.unfinishedAloneCount(lane: "counter") == 1)
  }

  @Test("payments are played individually if no summary can be made", arguments: [0, 1])
  func none(way: Int) async throws {
    let lane = try TestLane()
    if way == 1 {
      // The id is reserved for the player, so every summary fails.
      lane.renderer.failUnknown(
        RenderFailure(code: "engine_unavailable", isPassing: true), known: ["first", "2", "3", "4", "5"])
    }
    let makers: [Player.SummaryMaker] = [{ _ in nil }, Self.maker]
    let player = try await crowded(lane, summary: makers[way])
    lane.output.hearAll()
    try await lane.event(.played, 5, of: player)
    #expect(lane.output.heard == [1, 2, 3, 4, 5])
    if way == 1 { #expect(try await lane.state(6) == .failed) }
    await player.stop()
  }

  @Test("a payment that is cancelled while the summary is rendered is not part of the summary")
  func outdated() async throws {
    let lane = try TestLane()
    let gate = Gate()
    let player = try await crowded(lane) { payments in
      await gate.pass()
      return announcement("\(payments.count)")
    }
    lane.output.hear()
    await gate.arrival()
    #expect(try await player.cancel(3))
    lane.output.hearAll()
    gate.open()
    try await lane.event(.played, 5, of: player)
    #expect(try await lane.state(3) == .cancelled)
    #expect(lane.output.heard == [1, 2, 4, 5])
    await player.stop()
  }

  @Test("skipping a summary also skips its payments")
  func skipped() async throws {
    let lane = try TestLane()
    let player = try await crowded(lane)
    lane.output.hear()
    await lane.output.begins(2)
    #expect(try await player.skip())
    for number in 2...6 as ClosedRange<Int64> { #expect(try await lane.state(number) == .cancelled) }
    await player.stop()
  }

  @Test("after a crash during a summary, each of its payments is announced once")
  func crash() async throws {
    let lane = try TestLane()
    let player = try await crowded(lane)
    try await lane.event(.playing, 1, of: player)
    lane.output.hear()
    try await lane.event(.playing, 6, of: player)
    let crashed = try TestLane(copyOf: lane.folder)
    await player.stop(finishingPlaying: false)
    for again in [crashed, lane] {
      again.output.hearAll()
      let next = try await again.started()
      try await again.event(.played, 5, of: next)
      #expect(again.output.heard.suffix(4) == [2, 3, 4, 5])
      #expect(try await again.state(6) == .cancelled)
      #expect(try await !again.ledger.events(limit: 1000).contains { $0.kind == .sequenceLate })
      await next.stop()
    }
  }
}

/// A gate where a task waits until the test lets it pass.
final class Gate: Sendable {
  private let arrived = AsyncStream<Void>.makeStream()
  private let opened = AsyncStream<Void>.makeStream()

  func pass() async {
    arrived.continuation.yield()
    for await _ in opened.stream { return }
  }
  func arrival() async { for await _ in arrived.stream { return } }
  func open() { opened.continuation.finish() }
}
