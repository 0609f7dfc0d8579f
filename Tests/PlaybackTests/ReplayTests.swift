// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import SoundOutputTestSupport
import Testing
import TestSupport
import Waveforms

@testable import Playback

@Suite("Replays", .timeLimit(.minutes(2)))
struct ReplayTests {
  /// Returns a player that has played `a` and `b`, and whose output holds the next sound.
  private func heard(_ lane: TestLane) async throws -> Player {
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    for _ in 0..<2 { lane.output.hear() }
    try await lane.event(.played, 2, of: player)
    return player
  }

  @Test("every replay, even of a replay, begins with one word \"again\", and the original does not")
  func again() async throws {
    let lane = try TestLane()
    let player = try await heard(lane)
    let first = try await player.replay(1)
    lane.output.hear()
    try await lane.event(.played, first, of: player)
    let second = try await player.replay(first)
    lane.output.hear()
    try await lane.event(.played, second, of: player)
    // 100 ms of the announcement, after 50 ms of "again" and a pause of 180 ms.
    #expect(lane.output.sounds.map(\.samples) == [100, 100, 330, 330])
    #expect(try await lane.ledger.replay(second)?.original == 1)
    await player.stop()
  }

  @Test("a replay whose word \"again\" cannot be rendered is not played, and the payment is not changed")
  func without() async throws {
    let lane = try TestLane()
    let player = try await heard(lane)
    lane.renderer.failAgain(RenderFailure(code: "no_words", isPassing: false))
    let replay = try await player.replay(1)
    try await lane.event(.failed, replay, of: player)
    #expect(lane.output.begun == [1, 2])
    #expect(try await lane.state(1) == .played)
    await player.stop()
  }

  @Test(
    "the word \"again\" is converted to the announcement's sample rate, and both keep their duration",
    arguments: [8_000, 22_050, 48_000])
  func rates(rate: Int) throws {
    func tone(_ rate: Int) -> Waveform { Waveform(samples: Array(repeating: 8_000, count: rate / 2), sampleRate: rate) }
    let sound = try LaneSound(
      RenderedSound(waveform: tone(rate), clip: "c.wav"), again: tone(22_050), chime: tone(22_050), pause: 120)
    #expect(sound.waveform.sampleRate == rate && sound.clip == "c.wav")
    #expect(abs(sound.length - (3 * 500 + 120 + 180)) <= 2)
  }

  @Test("a waiting replay is listed and can be cancelled, which does not change the original")
  func takenBack() async throws {
    let lane = try TestLane()
    let player = try await heard(lane)
    try await player.pause()
    let replay = try await player.replay(1, for: "shop")
    let waiting = try #require(try await player.status().next.first)
    #expect(waiting.number == replay && waiting.isReplay)
    #expect(try await LaneView.of(lane: "counter", in: lane.ledger).waiting.map(\.number) == [replay])
    let before = try await lane.ledger.entry(1)
    #expect(try await player.cancel(replay))
    #expect(try await lane.state(replay) == .cancelled)
    #expect(try await lane.ledger.entry(1) == before)
    await player.stop()
  }

  @Test("three replays of an account, and ten in all, can wait at a time")
  func limits() async throws {
    let lane = try TestLane()
    let player = try await heard(lane)
    try await player.pause()
    func isRefused(_ account: String?) async throws -> Bool {
      do {
        try await player.replay(1, for: account)
        return false
      } catch let error as LedgerError {
        #expect(error.code == .tooManyReplays)
        return true
      }
    }
    for account in ["one", "two", "three"] {
      for _ in 0..<3 { #expect(try await !isRefused(account)) }
      #expect(try await isRefused(account))
    }
    #expect(try await !isRefused(nil))
    for account in ["four", nil] { #expect(try await isRefused(account)) }
    let waiting = try await lane.ledger.unfinishedReplays(lane: "counter")
    #expect(
      waiting.map(\.requester) == Array(repeating: "one", count: 3) + Array(repeating: "two", count: 3)
        + Array(repeating: "three", count: 3) + [nil])
    #expect(waiting.allSatisfy { $0.original == 1 })
    #expect(try await player.status().waitingCount == 10)
    #expect(try await player.cancel(waiting[0].number))
    #expect(try await !isRefused("one"))
    await player.stop()
  }

  @Test("of three hundred requests by other processes to replay, ten become replays")
  func flood() async throws {
    let lane = try TestLane()
    let player = try await heard(lane)
    try await player.pause()
    for _ in 0..<300 { try await lane.ledger.send(.replay(1), lane: "counter") }
    lane.clock.advance(by: 200)
    try await eventually { try await lane.ledger.unfinishedReplays(lane: "counter").count >= 10 }
    #expect(try await player.status().waitingCount == 10)
    await player.stop()
  }
}
