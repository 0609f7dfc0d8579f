// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import TestSupport
import Testing

@Suite("Player commands", .timeLimit(.minutes(2)))
struct CommandTests {
  @Test("the command 'pause' holds the current sound and lets nothing begin, and 'resume' continues")
  func pause() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    try await player.pause()
    lane.output.hearAll()
    #expect(try await player.status().isPaused)
    #expect(lane.output.heard.isEmpty)
    try await player.resume()
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.begun == [1, 2])
    await player.stop()
  }

  @Test("the command 'skip' cancels the current announcement, even during a pause, and the next one plays")
  func skip() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    #expect(try await !player.skip())
    for id in ["a", "b", "c"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    #expect(try await player.skip())
    #expect(try await lane.state(1) == .cancelled)
    await lane.output.begins(2)
    try await player.pause()
    #expect(try await player.skip())
    try await player.resume()
    lane.output.hearAll()
    try await lane.event(.played, 3, of: player)
    #expect(lane.output.heard == [3])
    await player.stop()
  }

  @Test("the command 'cancel' ends a waiting or playing announcement, and leaves a finished one unchanged")
  func cancel() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b", "c"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    #expect(try await player.cancel(2))
    #expect(try await player.cancel(1))
    await lane.output.begins(2)
    lane.output.hear()
    try await lane.event(.played, 3, of: player)
    for number in 1...4 { #expect(try await !player.cancel(Int64(number))) }
    #expect(lane.output.begun == [1, 3])
    for number in 1...2 as ClosedRange<Int64> { #expect(try await lane.state(number) == .cancelled) }
    await player.stop()
  }

  @Test("if several skips come at the end of a sound, each announcement ends once and each caller gets an answer")
  func races() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await lane.started()
    let skipped = try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<60 {
        group.addTask {
          let number = try await player.accept(announcement("\(index)")).number
          switch index % 4 {
          case 0: return try await player.cancel(number) ? 1 : 0
          case 1:
            _ = try await player.skip()
            return 0
          case 2:
            try await player.pause()
            try await player.resume()
            return 0
          default: return 0
          }
        }
      }
      return try await group.reduce(0, +)
    }
    try await eventually { try await lane.ledger.unfinished(lane: "counter").isEmpty }
    let counts = try await lane.ledger.counts(lane: nil)
    #expect((counts[.played] ?? 0) + (counts[.cancelled] ?? 0) == 60)
    #expect(counts[.cancelled] ?? 0 >= skipped)
    #expect(lane.output.heard.count == counts[.played])
    #expect(lane.output.heard == lane.output.heard.sorted() && lane.output.overlaps == 0)
    await player.stop()
  }

  @Test("the last played announcement, or any finished one, can be replayed as a separate alert")
  func replay() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    await #expect(throws: PlayerError.self) { try await player.replay() }
    for id in ["a", "b", "c", "d"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    lane.output.hear()
    await lane.output.begins(2)
    let last = try await player.replay()
    await #expect(throws: PlayerError.self) { try await player.replay(3) }
    #expect(try await lane.ledger.entry(last)?.category == .alert)
    lane.output.hearAll()
    try await lane.event(.played, last, of: player)
    let first = try await player.replay(1)
    try await lane.event(.played, first, of: player)
    #expect(lane.output.heard == [1, 2, 3, 4, last, first])
    #expect(try await lane.ledger.entry(first)?.payload == lane.ledger.entry(1)?.payload)
    await player.stop()
  }

  @Test("the volume applies from the next sound on, and a volume out of range is refused")
  func volume() async throws {
    let lane = try TestLane()
    let player = try await lane.started { $0.volume = 80 }
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    try await player.setVolume(30)
    await #expect(throws: PlayerError.self) { try await player.setVolume(101) }
    lane.output.hearAll()
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.sounds.map(\.volume) == [80, 30])
    await player.stop()
  }

  @Test(
    "commands of other processes take effect; of the commands sent before the player began, only 'cancel' takes effect")
  func elsewhere() async throws {
    let lane = try TestLane()
    try await lane.ledger.send(.skip(nil), lane: "counter")
    try await lane.ledger.send(.volume(50), lane: "counter")
    try await lane.ledger.send(.pause, lane: "counter")
    _ = try await lane.ledger.accept(announcement("left").onCounter)
    try await lane.ledger.send(.cancel(1), lane: "counter")
    lane.clock.advance(by: 1)
    let player = try await lane.started()
    for id in ["a", "b", "c"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    #expect(try await player.status().volume == 100)
    #expect(try await lane.state(1) == .cancelled)
    for command in [.cancel(3), .skip(nil), .pause] as [Ledger.Command] {
      try await lane.ledger.send(command, lane: "counter")
    }
    lane.clock.advance(by: 200)
    try await lane.event(.cancelled, 2, of: player)
    #expect(try await player.status().isPaused)
    #expect(try await lane.state(3) == .cancelled)
    try await lane.ledger.send(.replay(2), lane: "counter")
    try await lane.ledger.send(.resume, lane: "counter")
    lane.clock.advance(by: 200)
    lane.output.hearAll()
    try await lane.event(.played, 5, of: player)
    #expect(lane.output.heard == [4, 5])
    await player.stop()
  }
}
