// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Playback
import SoundOutputTestSupport
import SoundOutputs
import TestSupport
import Testing
import Waveforms

@Suite("Restoring a cancelled announcement", .timeLimit(.minutes(2)))
struct RestoringTests {
  @Test("restored announcements are heard in their old places, each once")
  func places() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b", "c", "d", "e"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    for number in [2, 3, 5] { #expect(try await player.cancel(Int64(number))) }
    for number in [5, 3, 2] { #expect(try await player.restore(Int64(number))) }
    #expect(try await !player.restore(2))
    #expect(try await player.status().next.map(\.number) == [2, 3, 4, 5])
    lane.output.hearAll()
    try await lane.event(.played, 5, of: player)
    #expect(lane.output.heard == [1, 2, 3, 4, 5])
    for number in 1...5 { #expect(try await lane.state(Int64(number)) == .played) }
    await player.stop()
  }

  @Test("a restored announcement with a sequence number plays in order, and its number is neither late nor missing")
  func sequence() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for sequence in 1...4 { _ = try await player.accept(announcement("\(sequence)", sequence: Int64(sequence))) }
    await lane.output.begins(1)
    #expect(try await player.cancel(2))
    #expect(try await player.cancel(4))
    #expect(try await player.restore(2))
    #expect(try await player.restore(4))
    lane.output.hearAll()
    try await lane.event(.played, 4, of: player)
    #expect(lane.output.heard == [1, 2, 3, 4])
    let kinds = Set(try await lane.ledger.events(limit: 1000).map(\.kind))
    #expect(kinds.isDisjoint(with: [.sequenceLate, .sequenceMissing]))
    await player.stop()
  }

  @Test("an announcement that was heard in part, or to its end, is not restored")
  func heard() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    await lane.output.begins(1)
    #expect(try await player.cancel(1))
    #expect(try await !player.restore(1))
    lane.output.hearAll()
    try await lane.event(.played, 2, of: player)
    #expect(try await !player.restore(2))
    #expect(try await !player.restore(3))
    await player.stop()
  }

  @Test("an announcement that waited for a lost device is restored")
  func deviceLost() async throws {
    let lane = try TestLane()
    lane.output.refuse(.deviceLost)
    let player = try await lane.started()
    _ = try await player.accept(announcement("a"))
    try await lane.event(.deviceLost, of: player)
    #expect(try await player.cancel(1))
    #expect(try await player.restore(1))
    #expect(try await lane.ledger.entry(1)?.state.isFinal == false)
    await player.stop()
  }

  @Test("the next player plays a restored announcement once, in its old place")
  func restarted() async throws {
    let lane = try TestLane()
    let first = try await lane.started()
    for id in ["a", "b", "c"] { _ = try await first.accept(announcement(id)) }
    await lane.output.begins(1)
    #expect(try await first.cancel(2))
    #expect(try await first.restore(2))
    await first.stop(finishingPlaying: false)
    let second = try await lane.started()
    lane.output.hearAll()
    try await lane.event(.played, 3, of: second)
    #expect(lane.output.heard == [1, 2, 3])
    await second.stop()
  }

  @Test("a player can restore an announcement that was cancelled before the player began")
  func cancelledBefore() async throws {
    let lane = try TestLane()
    for id in ["a", "b"] { _ = try await lane.ledger.accept(announcement(id).onCounter) }
    for number in [1, 2] { #expect(try await lane.ledger.cancelUnplayed(Int64(number))) }
    let player = try await lane.started()
    #expect(try await player.restore(2))
    #expect(try await player.restore(1))
    lane.output.hearAll()
    try await lane.event(.played, 1, of: player)
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard.sorted() == [1, 2])
    await player.stop()
  }

  /// A renderer whose first rendering ends when the test says so.
  private final class HeldRenderer: Rendering {
    private let state = Locked<(count: Int, held: [CheckedContinuation<Void, Never>], isOpen: Bool)>((0, [], false))
    var count: Int { state.withLock { $0.count } }

    func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          state.count += 1
          if !state.isOpen { state.held.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
      try Task.checkCancellation()
      return RenderedSound(
        waveform: Waveform(samples: Array(repeating: 8_000, count: 100), sampleRate: 1_000), clip: "c.wav")
    }

    func again(before replay: StoredAnnouncement) async throws -> Waveform { throw Missing(what: "a replay") }

    func open() {
      let held = state.withLock { state in
        state.isOpen = true
        defer { state.held = [] }
        return state.held
      }
      for continuation in held { continuation.resume() }
    }
  }

  @Test("if an announcement is cancelled and restored, the end of its earlier rendering does not end the announcement")
  func rendering() async throws {
    let lane = try TestLane()
    let renderer = HeldRenderer()
    var settings = Player.Settings()
    settings.gap = 0
    let player = Player(
      lane: "counter", ledger: lane.ledger, output: lane.output, render: renderer, settings: settings,
      clock: lane.clock, summary: { _ in nil })
    try await player.start()
    _ = try await player.accept(announcement("a"))
    try await eventually { renderer.count != 0 }
    #expect(try await player.cancel(1))
    #expect(try await player.restore(1))
    #expect(try await player.status().next.map(\.number) == [1])
    renderer.open()
    lane.output.hearAll()
    try await lane.event(.played, 1, of: player)
    #expect(lane.output.heard == [1])
    #expect(try await lane.state(1) == .played)
    await player.stop()
  }

  @Test("an announcement that is cancelled and restored at the same time is heard once or stays cancelled")
  func races() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    lane.output.hearAll()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<60 {
        group.addTask {
          let number = try await player.accept(announcement("\(index)")).number
          for _ in 0..<(index % 4) {
            _ = try await player.cancel(number)
            _ = try await player.restore(number)
          }
        }
      }
      try await group.waitForAll()
    }
    try await eventually { try await lane.ledger.unfinished(lane: "counter").isEmpty }
    let heard = lane.output.heard
    #expect(Set(heard).count == heard.count && lane.output.overlaps == 0)
    for entry in try await lane.ledger.recent(100, lane: nil) {
      #expect((entry.state == .played) == heard.contains(entry.number) && [.played, .cancelled].contains(entry.state))
    }
    #expect(try await player.status().waitingCount == 0)
    await player.stop()
  }
}
