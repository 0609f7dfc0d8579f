// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import SoundOutputTestSupport
import Testing
import TestSupport
import Waveforms

@testable import Playback

@Suite("Playing", .timeLimit(.minutes(2)))
struct PlayingTests {
  @Test("an announcement passes through all states, and is only marked as played after it has been heard")
  func states() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    let accepted = try await player.accept(announcement("a"))
    #expect(accepted.number == 1 && !accepted.isDuplicate && accepted.state == .accepted)
    try await lane.event(.playing, 1, of: player)
    await lane.output.begins(1)
    #expect(try await lane.state(1) == .playing)
    #expect(try await player.status().playing?.number == 1)
    lane.output.hear()
    try await lane.event(.played, 1, of: player)
    #expect(try await lane.kinds(1) == [.accepted, .rendering, .waiting, .playing, .played])
    let entry = try #require(try await lane.ledger.entry(1))
    #expect(entry.clip == "a.wav" && entry.heardMilliseconds == 100 && entry.attempts == 1)
    await player.stop()
  }

  @Test("an announcement that is accepted twice is the same announcement and is played once")
  func duplicate() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    lane.output.hearAll()
    let first = try await player.accept(announcement("a"))
    try await lane.event(.played, 1, of: player)
    let second = try await player.accept(announcement("a"))
    #expect(second.number == first.number && second.isDuplicate && second.state == .played)
    let third = try await player.accept(announcement("b"))
    try await lane.event(.played, third.number, of: player)
    #expect(lane.output.heard == [first.number, third.number])
    await player.stop()
  }

  @Test("a thousand announcements from eight threads are played once, in the order of their numbers")
  func thousand() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await lane.started()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for index in 0..<125 { _ = try await player.accept(announcement("\(thread)-\(index)")) }
        }
      }
      try await group.waitForAll()
    }
    try await lane.event(.played, 1_000, of: player)
    #expect(lane.output.heard == (1...1_000).map { Int64($0) })
    #expect(lane.output.overlaps == 0)
    #expect(try await lane.ledger.counts(lane: nil)[.played] == 1_000)
    await player.stop()
  }

  @Test("the next two sounds are rendered while one plays, and no more")
  func ahead() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b", "c", "d", "e"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    try await lane.event(.waiting, 3, of: player)
    #expect(lane.renderer.asked == ["a", "b", "c"] || lane.renderer.asked.sorted() == ["a", "b", "c"])
    #expect(try await player.status().next.map(\.number) == [2, 3, 4, 5])
    lane.output.hear()
    try await lane.event(.waiting, 4, of: player)
    #expect(try await lane.state(5) == .accepted)
    await player.stop(finishingPlaying: false)
  }

  @Test("the silence between two sounds is as long as the gap, including the quiet ends of the clips")
  func gap() async throws {
    let lane = try TestLane()
    // 30 ms of silence, 40 ms of sound, 50 ms of silence.
    let quiet = { Array(repeating: Int16(10), count: $0) }
    lane.renderer.give(
      Waveform(samples: quiet(30) + Array(repeating: 8_000, count: 40) + quiet(50), sampleRate: 1_000))
    let player = try await lane.started { $0.gap = 250 }
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    try await lane.event(.waiting, 2, of: player)
    lane.output.hear()
    try await lane.event(.played, 1, of: player)
    #expect(try await player.status().playing == nil)
    lane.clock.advance(by: 169)
    #expect(try await player.status().playing == nil)
    #expect(lane.output.begun == [1])
    lane.clock.advance(by: 1)
    await lane.output.begins(2)
    await player.stop(finishingPlaying: false)
  }

  @Test("a chime is part of the announcement's sound, before the clip and at its sample rate")
  func chime() async throws {
    let lane = try TestLane()
    let player = try await lane.started {
      $0.chimes.all = Waveform(samples: Array(repeating: 9_000, count: 4_000), sampleRate: 2_000)
      $0.chimePause = 70
    }
    _ = try await player.accept(announcement("a"))
    await lane.output.begins(1)
    let samples = try #require(lane.output.sounds.first).samples
    #expect(abs(samples - 2_170) <= 1)
    await player.stop(finishingPlaying: false)
  }

  @Test("the output is released after two seconds without sound, and not earlier")
  func idle() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    lane.output.hearAll()
    _ = try await player.accept(announcement("a"))
    try await lane.event(.played, 1, of: player)
    _ = try await player.status()
    lane.clock.advance(by: 1_999)
    _ = try await player.status()
    #expect(lane.output.releases == 0)
    lane.clock.advance(by: 1)
    await lane.output.released(1)
    await player.stop()
    #expect(lane.output.releases == 2)
  }

  @Test("a second player of a lane is an error until the first one has stopped")
  func seat() async throws {
    let lane = try TestLane()
    let first = try await lane.started()
    let second = lane.player()
    let error = await #expect(throws: LedgerError.self) { try await second.start() }
    #expect(error?.code == .laneTaken)
    await #expect(throws: PlayerError.self) { try await first.start() }
    await #expect(throws: PlayerError.self) { try await second.skip() }
    #expect(try await lane.ledger.player(lane: "counter").isRunning)
    await first.stop()
    #expect(try await !lane.ledger.player(lane: "counter").isRunning)
    try await second.start()
    await second.stop()
    await #expect(throws: PlayerError.self) { try await second.pause() }
  }

  @Test("the gap between sounds also applies after the last sound of another player")
  func gapAtHandover() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let first = try await lane.started()
    _ = try await first.accept(announcement("a"))
    try await lane.event(.played, 1, of: first)
    await first.stop()
    lane.clock.advance(by: 100)
    let second = try await lane.started { $0.gap = 250 }
    _ = try await second.accept(announcement("b"))
    try await lane.event(.waiting, 2, of: second)
    #expect(try await second.status().playing == nil)
    #expect(lane.output.begun == [1])
    lane.clock.advance(by: 250)
    try await lane.event(.played, 2, of: second)
    await second.stop()
  }

  @Test("when a player stops, the current sound plays to its end, and the next player plays the other announcements")
  func stop() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    async let stopped: Void = player.stop()
    try await eventually { player.signals.isStopAsked }
    lane.output.hear()
    await stopped
    #expect(try await lane.state(1) == .played)
    lane.output.hearAll()
    let next = try await lane.started()
    try await lane.event(.played, 2, of: next)
    #expect(lane.output.begun == [1, 2])
    await next.stop()
  }

  @Test("when a player stops immediately, the current sound ends, and the next player plays it again from its start")
  func stopAtOnce() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    try await lane.event(.playing, 1, of: player)
    await player.stop(finishingPlaying: false)
    #expect(try await lane.state(1) == .waiting)
    lane.output.hearAll()
    let next = try await lane.started()
    try await lane.event(.played, 2, of: next)
    #expect(lane.output.heard == [1, 2])
    await next.stop()
  }
}
