// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Playback
import SoundOutputTestSupport
import TestSupport
import Testing

@Suite("Announcements that were in progress at two crashes", .timeLimit(.minutes(2)))
struct SetAsideTests {
  /// Lets an announcement be under way at a number of ends of the process, as the ledger sees it: after a restart, its
  /// clip is read before it is played.
  private func interrupt(_ number: Int64, _ state: Ledger.State, times: Int, in lane: TestLane) async throws {
    if state == .playing {
      try await lane.ledger.set(number, .rendering)
      try await lane.ledger.set(number, .waiting, Ledger.Change(clip: "clip.wav"))
    }
    for time in 0..<times {
      if time > 0, state == .playing {
        try await lane.ledger.set(number, .rendering)
        try await lane.ledger.set(number, .waiting)
      }
      try await lane.ledger.set(number, state)
      try await lane.ledger.recover(lane: "counter")
    }
  }

  @Test(
    "an announcement that was in progress at two crashes is heard after the other announcements",
    arguments: [Ledger.State.rendering, .playing])
  func afterOthers(state: Ledger.State) async throws {
    let lane = try TestLane()
    for id in ["a", "b", "c"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    try await interrupt(1, state, times: 2, in: lane)
    lane.output.hearAll()
    let player = try await lane.started()
    try await lane.event(.played, 1, of: player)
    #expect(lane.output.heard == [2, 3, 1])
    await player.stop()
  }

  @Test(
    "an announcement that was in progress at three crashes is heard ten minutes later, and is counted until then",
    arguments: [Ledger.State.rendering, .playing])
  func later(state: Ledger.State) async throws {
    let lane = try TestLane()
    for id in ["a", "b", "c"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    try await interrupt(1, state, times: 3, in: lane)
    lane.output.hearAll()
    let player = try await lane.started()
    try await lane.event(.played, 3, of: player)
    #expect(lane.output.heard == [2, 3])
    let status = try await player.status()
    #expect(status.setAsideCount == 1 && status.waitingCount == 1)
    lane.clock.advance(by: 569_000)
    #expect(try await player.status().setAsideCount == 1)
    lane.clock.advance(by: 1_000)
    try await lane.event(.played, 1, of: player)
    #expect(lane.output.heard == [2, 3, 1])
    #expect(try await player.status().setAsideCount == 0)
    await player.stop()
  }

  @Test("an announcement that was in progress at one crash keeps its place")
  func once() async throws {
    let lane = try TestLane()
    for id in ["a", "b"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    try await interrupt(1, .playing, times: 1, in: lane)
    lane.output.hearAll()
    let player = try await lane.started()
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard == [1, 2])
    await player.stop()
  }

  @Test(
    "a set-aside announcement delays no later number, and its own number is neither late nor missing"
  )
  func sequence() async throws {
    let lane = try TestLane()
    for number in 1...3 {
      _ = try await lane.ledger.accept(announcement("\(number)", sequence: Int64(number)).onCounter)
    }
    try await interrupt(2, .rendering, times: 2, in: lane)
    lane.output.hearAll()
    let player = try await lane.started()
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard == [1, 3, 2])
    let kinds = Set(try await lane.ledger.events(limit: 1000).map(\.kind))
    #expect(kinds.isDisjoint(with: [.sequenceLate, .sequenceMissing]))
    await player.stop()
  }

  @Test("an announcement that was set aside after two crashes can be cancelled, and is then not heard")
  func cancelled() async throws {
    let lane = try TestLane()
    _ = try await lane.ledger.accept(announcement("a").onCounter)
    try await interrupt(1, .rendering, times: 3, in: lane)
    lane.output.hearAll()
    let player = try await lane.started()
    #expect(try await player.cancel(1))
    #expect(try await player.status().setAsideCount == 0)
    #expect(try await lane.state(1) == .cancelled)
    lane.clock.advance(by: 600_000)
    _ = try await player.accept(announcement("b"))
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard == [2])
    await player.stop()
  }

  @Test("an announcement that was playing when two players crashed is heard last, by the third player")
  func crashes() async throws {
    var lane = try TestLane()
    for id in ["a", "b", "c"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    for crash in 1...2 {
      let before = try await lane.ledger.lastEventPosition()
      let player = try await lane.started()
      for try await event in player.events(after: before) where event.kind == .playing { break }
      #expect(try await lane.ledger.entry(1)?.starts == crash)
      // A copy of the files shows what a crash at this moment leaves.
      let crashed = try TestLane(copyOf: lane.folder)
      await player.stop(finishingPlaying: false)
      lane = crashed
    }
    lane.output.hearAll()
    let player = try await lane.started()
    try await lane.event(.played, 1, of: player)
    #expect(lane.output.heard == [2, 3, 1])
    await player.stop()
  }

  @Test("a new player counts a waiting announcement as begun before it reads or plays the clip")
  func countedFirst() async throws {
    let lane = try TestLane()
    _ = try await lane.ledger.accept(announcement("a").onCounter)
    try await lane.ledger.set(1, .rendering)
    try await lane.ledger.set(1, .waiting, Ledger.Change(clip: "clip.wav"))
    let starts = Locked<[Int?]>([])
    lane.renderer.whenAsked { [ledger = lane.ledger] in
      let count = try? await ledger.entry(1)?.starts
      starts.withLock { $0.append(count) }
    }
    let player = try await lane.started()
    await lane.output.begins(1)
    #expect(starts.withLock { $0 } == [1])
    #expect(try await lane.ledger.entry(1)?.starts == 1)
    #expect(try await lane.state(1) == .playing)
    await player.stop(finishingPlaying: false)
  }

  @Test("if the queue is never empty, an announcement that was set aside after two crashes is played after ten minutes")
  func overdue() async throws {
    let lane = try TestLane()
    for id in ["a", "b", "c", "d", "e"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    try await interrupt(1, .playing, times: 2, in: lane)
    let player = try await lane.started()
    await lane.output.begins(1)
    lane.clock.advance(by: 599_000)
    lane.output.hear()
    await lane.output.begins(2)
    lane.clock.advance(by: 1_000)
    lane.output.hear()
    await lane.output.begins(3)
    #expect(lane.output.begun == [2, 3, 1])
    lane.output.hearAll()
    try await lane.event(.played, 5, of: player)
    #expect(lane.output.heard == [2, 3, 1, 4, 5])
    await player.stop()
  }

  @Test(
    "if two set-aside announcements are overdue and one waits for another try, the other does not block the queue")
  func twoOverdue() async throws {
    let lane = try TestLane()
    for id in ["a", "b", "c", "d", "e", "f"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    for number in [1, 2] as [Int64] { try await interrupt(number, .rendering, times: 2, in: lane) }
    lane.renderer.fail("a", RenderFailure(code: "engine_unavailable", isPassing: true))
    let player = try await lane.started()
    await lane.output.begins(1)
    lane.clock.advance(by: 600_000)
    lane.output.hearAll()
    // A payment that fails keeps its place, so those after it wait for its next attempt.
    try await eventually { try await player.status().blockage?.code == "engine_unavailable" }
    lane.clock.advance(by: 60_000)
    for number in [1, 2, 6] as [Int64] { try await lane.event(.played, number, of: player) }
    #expect(lane.output.heard.sorted() == [1, 2, 3, 4, 5, 6])
    await player.stop()
  }

  @Test("a payment that another process cancelled before its turn is not heard")
  func cancelledElsewhere() async throws {
    let lane = try TestLane()
    for id in ["a", "b"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    let player = try await lane.started { $0.gap = 1_000 }
    await lane.output.begins(1)
    try await lane.event(.waiting, 2, of: player)
    try await lane.ledger.set(2, .cancelled)
    lane.output.hearAll()
    try await lane.event(.played, 1, of: player)
    _ = try await player.accept(announcement("c"))
    lane.clock.advance(by: 1_000)
    try await lane.event(.played, 3, of: player)
    #expect(lane.output.heard == [1, 3])
    await player.stop()
  }

  @Test("an orderly stop of a player does not count the playing announcement as interrupted")
  func stopped() async throws {
    let lane = try TestLane()
    for _ in 0..<3 {
      let before = try await lane.ledger.lastEventPosition()
      let player = try await lane.started()
      if try await lane.ledger.entry(1) == nil { _ = try await player.accept(announcement("a")) }
      for try await event in player.events(after: before) where event.kind == .playing { break }
      #expect(try await lane.ledger.entry(1)?.starts == 1)
      await player.stop(finishingPlaying: false)
      #expect(try await lane.ledger.entry(1)?.starts == 0)
    }
  }

  @Test("interrupted work waits ten minutes, then one hour, then six hours; announcements wait half a minute less")
  func longer() {
    #expect(InterruptedWork.pause(afterStarts: 0) == nil && InterruptedWork.pause(afterStarts: 1) == nil)
    #expect([2, 3, 4, .max].map { InterruptedWork.pause(afterStarts: $0) } == [600, 3_600, 21_600, 21_600])
    let heard = [1, 2, 3, 4, 5].map { InterruptedWork.pause(afterStarts: $0, isHeard: true) }
    #expect(heard == [nil, 0, 570, 3_570, 21_570], "half a minute before the other kinds")
  }
}
