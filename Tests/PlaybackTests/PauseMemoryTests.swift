// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import TestSupport
import Testing

@Suite("A pause that holds after a restart", .timeLimit(.minutes(5)))
struct PauseMemoryTests {
  private let lane: TestLane

  init() throws { lane = try TestLane() }

  private func remembering(_ change: (inout Player.Settings) -> Void = { _ in }) async throws -> Player {
    try await lane.started {
      $0.remembersPause = true
      change(&$0)
    }
  }

  private var kept: Ledger.Pause? { get async throws { try await lane.ledger.pause(lane: "counter") } }

  @Test("a pause outlasts its player: the next player has a pause with the same key and time, and plays after a resume")
  func holds() async throws {
    lane.output.hearAll()
    let first = try await remembering()
    let since = lane.clock.date()
    try await first.pause(by: "till", account: "shop")
    let pause = Ledger.Pause(since: since, by: "till", account: "shop")
    #expect(try await first.status().pause == pause)
    #expect(try await kept == pause)
    _ = try await first.accept(announcement("a"))
    await first.stop()
    lane.clock.advance(by: 3_600_000)
    let second = try await remembering()
    #expect(try await second.status().pause == pause)
    #expect(lane.output.sounds.isEmpty)
    try await second.resume()
    try await lane.event(.played, 1, of: second)
    #expect(try await kept == nil)
    #expect(try await second.status().pause == nil)
    await second.stop()
    let third = try await remembering()
    #expect(try await !third.status().isPaused)
    await third.stop()
  }

  @Test("a pause is on disk when its call returns, so that the pause outlasts a killed process")
  func killed() async throws {
    let player = try await remembering()
    try await player.pause(by: "till")
    let copy = try TestLane(copyOf: lane.folder)
    #expect(try await copy.ledger.pause(lane: "counter")?.by == "till")
    await player.stop()
  }

  @Test("a second pause changes neither the time of the first pause nor who paused")
  func twice() async throws {
    let player = try await remembering()
    let since = lane.clock.date()
    try await player.pause(by: "till", account: "shop")
    lane.clock.advance(by: 60_000)
    try await player.pause(by: "office", account: "other")
    #expect(try await player.status().pause == Ledger.Pause(since: since, by: "till", account: "shop"))
    #expect(try await kept?.by == "till")
    await player.stop()
  }

  @Test("a pause by a command of another process is kept too, with the command's name")
  func commanded() async throws {
    let player = try await remembering()
    try await lane.ledger.send(.pause, lane: "counter")
    lane.clock.advance(by: 200)
    try await eventually { try await kept?.by == "crier queue" }
    #expect(try await player.status().pause?.account == nil)
    await player.stop()
    let next = try await remembering()
    #expect(try await next.status().isPaused)
    try await lane.ledger.send(.resume, lane: "counter")
    lane.clock.advance(by: 200)
    try await eventually { try await kept == nil }
    #expect(try await !next.status().isPaused)
    await next.stop()
  }

  @Test("a player that keeps no pauses starts unpaused, and does not change a stored pause")
  func forgetful() async throws {
    let service = try await remembering()
    try await service.pause(by: "till")
    await service.stop()
    let other = try await lane.started()
    #expect(try await !other.status().isPaused)
    try await other.pause()
    try await other.resume()
    #expect(try await kept?.by == "till")
    await other.stop()
  }

  @Test("a player that resumes at its start removes the stored pause permanently")
  func resumesAtStart() async throws {
    let first = try await remembering()
    try await first.pause(by: "till")
    await first.stop()
    let second = try await remembering { $0.resumesAtStart = true }
    #expect(try await !second.status().isPaused)
    try await eventually { try await kept == nil }
    await second.stop()
    let third = try await remembering()
    #expect(try await !third.status().isPaused)
    await third.stop()
  }

  @Test("a pause ends by itself after the time in the settings")
  func ends() async throws {
    lane.output.hearAll()
    let player = try await remembering { $0.resumeAfter = 600_000 }
    try await player.pause(by: "till")
    _ = try await player.accept(announcement("a"))
    lane.clock.advance(by: 599_999)
    #expect(try await player.status().isPaused)
    lane.clock.advance(by: 1)
    try await lane.event(.played, 1, of: player)
    try await eventually { try await kept == nil }
    await player.stop()
  }

  @Test(
    "a pause that is limited in time continues to run out while no player runs",
    arguments: [(before: 400_000 as Int64, meanwhile: 100_000 as Int64), (0, 900_000), (300_000, 0)])
  func endsAfterRestart(before: Int64, meanwhile: Int64) async throws {
    lane.output.hearAll()
    let first = try await remembering { $0.resumeAfter = 600_000 }
    try await first.pause(by: "till")
    lane.clock.advance(by: before)
    await first.stop()
    lane.clock.advance(by: meanwhile)
    _ = try await lane.ledger.accept(announcement("a").onCounter)
    let second = try await remembering { $0.resumeAfter = 600_000 }
    let rest = 600_000 - before - meanwhile
    if rest > 0 {
      lane.clock.advance(by: rest - 1)
      #expect(try await second.status().isPaused)
      lane.clock.advance(by: 1)
    }
    try await lane.event(.played, 1, of: second)
    await second.stop()
  }

  @Test("a new pause after an ended pause has its full time")
  func again() async throws {
    let player = try await remembering { $0.resumeAfter = 600_000 }
    try await player.pause()
    lane.clock.advance(by: 500_000)
    try await player.resume()
    try await player.pause()
    lane.clock.advance(by: 599_999)
    #expect(try await player.status().isPaused)
    lane.clock.advance(by: 1)
    try await eventually { try await !player.status().isPaused }
    await player.stop()
  }

  @Test("a player of another lane is not paused, unless it takes over the requests of the paused lane")
  func otherLane() async throws {
    let player = try await remembering()
    try await player.pause(by: "till")
    _ = try await player.accept(announcement("a"))
    await player.stop()
    #expect(try await lane.ledger.pause(lane: "other") == nil)
    let request = StoredAnnouncement(
      account: "shop", id: "b", lane: "counter", category: .payment, payload: Data("{}".utf8))
    _ = try await lane.ledger.accept(request)
    #expect(try await lane.ledger.moveRequests(from: "counter", to: "other") >= 1)
    #expect(try await lane.ledger.pause(lane: "other")?.by == "till")
    #expect(try await lane.ledger.pause(lane: "counter") == nil)
  }

  @Test("a volume that a command sets is passed to 'keepVolume', or without 'keepVolume' applies until the player ends")
  func volume() async throws {
    let told = Locked<[Int]>([])
    let player = try await remembering { $0.keepVolume = { percent in told.withLock { $0.append(percent) } } }
    for percent in [30, 55] { try await lane.ledger.send(.volume(percent), lane: "counter") }
    lane.clock.advance(by: 200)
    try await eventually { told.withLock { $0 } == [30, 55] }
    #expect(try await player.status().volume == 100)
    await player.stop()
    let plain = try await lane.started()
    try await lane.ledger.send(.volume(30), lane: "counter")
    lane.clock.advance(by: 200)
    try await eventually { try await plain.status().volume == 30 }
    await plain.stop()
  }
}
