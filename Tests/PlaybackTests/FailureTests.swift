// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import SoundOutputs
import TestSupport
import Testing

@Suite("Player failures", .timeLimit(.minutes(2)))
struct FailureTests {
  @Test("an announcement that cannot be rendered fails with its error code, and the others play")
  func permanent() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    lane.renderer.fail("bad", RenderFailure(code: "amount_mismatch", isPassing: false))
    let player = try await lane.started()
    for id in ["bad", "good"] { _ = try await player.accept(announcement(id)) }
    #expect(try await lane.event(.failed, 1, of: player).detail == ["code": "amount_mismatch"])
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard == [2])
    await player.stop()
  }

  @Test("a payment waits for an unavailable engine, with growing pauses between the tries, and keeps its place")
  func passing() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let away = RenderFailure(code: "engine_unavailable", isPassing: true)
    lane.renderer.fail("a", away, away, away)
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    try await lane.event(.waiting, 2, of: player)
    for (tries, pause) in [(1, 1_000), (2, 2_000), (3, 4_000)] as [(Int, Int64)] {
      try await eventually {
        try await player.status().next.first?.failure != nil
          && lane.renderer.asked.count(where: { $0 == "a" }) >= tries
      }
      try await eventually { try await player.status().next.first?.state != .rendering }
      lane.clock.advance(by: pause - 1)
      _ = try await player.status()
      #expect(lane.renderer.asked.count { $0 == "a" } == tries)
      #expect(lane.output.begun.isEmpty)
      lane.clock.advance(by: 1)
    }
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard == [1, 2])
    let events = try await lane.ledger.events(limit: 1000).filter { $0.number == 1 && $0.kind == .accepted }
    #expect(
      events.map(\.detail) == [
        [:], ["code": "engine_unavailable"], ["code": "engine_unavailable"],
        ["code": "engine_unavailable"],
      ])
    await player.stop()
  }

  @Test("while the next announcement cannot begin, the player's report says why, and since when")
  func blocked() async throws {
    let lane = try TestLane()
    let full = RenderFailure(code: "disk_full", isPassing: true)
    lane.renderer.fail("a", full, full)
    let player = try await lane.started()
    #expect(try await player.status().blockage == nil)
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    try await eventually { try await player.status().blockage != nil }
    let first = try await player.status().blockage
    #expect(first?.code == "disk_full" && first?.since == lane.clock.date())
    while lane.renderer.asked.count(where: { $0 == "a" }) < 2 || first == nil {
      lane.clock.advance(by: 1_000)
      _ = try await player.status()
    }
    try await eventually { try await player.status().next.first?.state != .rendering }
    #expect(try await player.status().blockage == first, "a further failure does not change the time")
    let report = try await lane.ledger.player(lane: player.lane).report
    #expect(report?.blockedCode == "disk_full" && report?.blockedSince == first?.since)
    lane.output.hearAll()
    while lane.output.heard.count < 2 {
      lane.clock.advance(by: 1_000)
      _ = try await player.status()
    }
    #expect(try await player.status().blockage == nil)
    await player.stop()
    #expect(try await lane.ledger.player(lane: player.lane).report?.blockedCode == nil)
  }

  @Test("information that cannot be rendered is tried again only a limited number of times")
  func attempts() async throws {
    let lane = try TestLane()
    let away = RenderFailure(code: "engine_unavailable", isPassing: true)
    lane.renderer.fail("a", away, away, away)
    let player = try await lane.started { ($0.renderAttempts, $0.renderPauses) = (3, 0...0) }
    _ = try await player.accept(announcement("a", .information))
    #expect(try await lane.event(.failed, 1, of: player).detail == ["code": "engine_unavailable"])
    #expect(lane.renderer.asked.count == 3)
    await player.stop()
  }

  @Test(
    "the loss of a device during a sound is reported once, and when the device is back, the sound plays from its start")
  func lost() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    lane.output.refuse(.deviceMissing, .deviceMissing)
    lane.output.breakOff(.deviceLost)
    #expect(try await lane.event(.deviceLost, of: player).detail == ["code": "device_lost"])
    for (left, pause) in [(1, 250), (0, 500)] as [(Int, Int64)] {
      try await eventually { try await player.status().playing?.isHeard == false }
      lane.clock.advance(by: pause)
      await lane.output.refusals(left: left)
    }
    try await eventually { try await player.status().playing?.isHeard == false }
    #expect(try await player.status().isDeviceLost)
    lane.clock.advance(by: 1_000)
    await lane.output.begins(2)
    lane.output.hearAll()
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.begun == [1, 1, 2])
    #expect(lane.output.heard == [1, 2])
    let kinds = try await lane.ledger.events(limit: 1000).map(\.kind)
    #expect(kinds.count { $0 == .deviceLost } == 1 && kinds.count { $0 == .deviceBack } == 1)
    await player.stop()
  }

  @Test(
    "the return of a device is reported when a sound plays on it, and only then does the announcement count as playing")
  func back() async throws {
    let lane = try TestLane()
    lane.output.refuse(.deviceBusy)
    let player = try await lane.started()
    _ = try await player.accept(announcement("a"))
    try await lane.event(.deviceLost, of: player)
    try await eventually { try await player.status().playing?.isHeard == false }
    #expect(try await lane.state(1) == .waiting)
    lane.clock.advance(by: 250)
    await lane.output.begins(1)
    lane.output.setPosition(40)
    try await eventually { try await player.status().playing?.positionMilliseconds == 40 }
    lane.clock.advance(by: 200)
    try await lane.event(.deviceBack, of: player)
    #expect(try await lane.ledger.player(lane: "counter").report?.positionMilliseconds == 40)
    lane.output.hearAll()
    try await lane.event(.played, 1, of: player)
    #expect(
      try await lane.kinds(1) == [
        .accepted, .rendering, .waiting, .playing, .deviceLost, .interrupted, .deviceBack, .playing, .played,
      ])
    await player.stop()
  }

  @Test("while the device is lost, payments can be skipped, and payments go before information")
  func lostAndSkipped() async throws {
    let lane = try TestLane()
    lane.output.refuse(.deviceLost)
    let player = try await lane.started()
    _ = try await player.accept(announcement("news", .information))
    try await lane.event(.deviceLost, of: player)
    try await eventually { try await player.status().playing?.isHeard == false }
    _ = try await player.accept(announcement("money"))
    try await lane.event(.interrupted, 1, of: player)
    await lane.output.begins(1)
    #expect(lane.output.begun == [2])
    lane.output.refuse(.deviceMissing)
    lane.output.breakOff(.deviceLost)
    try await eventually { try await player.status().playing?.isHeard == false }
    #expect(try await player.skip())
    #expect(try await lane.state(2) == .cancelled)
    await player.stop(finishingPlaying: false)
  }

  @Test("a player with a lost device can be stopped without losing announcements")
  func stoppedWhileLost() async throws {
    let lane = try TestLane()
    lane.output.refuse(.deviceLost)
    let player = try await lane.started()
    _ = try await player.accept(announcement("a"))
    try await lane.event(.deviceLost, of: player)
    await player.stop()
    #expect(lane.output.heard.isEmpty)
    #expect(try await lane.state(1)?.isFinal == false)
    lane.output.hearAll()
    let next = try await lane.started()
    try await lane.event(.played, 1, of: next)
    #expect(lane.output.heard == [1])
    #expect(try await lane.state(1) == .played)
    await next.stop()
  }

  @Test("a player does not change an announcement that was ended in the ledger")
  func endedElsewhere() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    _ = try await lane.player().accept(announcement("a"))
    let player = try await lane.started()
    try await player.pause()
    _ = try await player.accept(announcement("b"))
    try await lane.ledger.set(2, .cancelled)
    try await player.resume()
    _ = try await player.accept(announcement("c"))
    try await lane.event(.played, 3, of: player)
    #expect(try await lane.state(2) == .cancelled)
    await player.stop()
  }
}
