// SPDX-License-Identifier: Apache-2.0

import Ledger
import Playback
import SoundOutputTestSupport
import SoundOutputs
import Testing
import TestSupport

@Suite("The player's probe of its device", .timeLimit(.minutes(10)))
struct ProbeTests {
  @Test("a device that is missing at the start, and its return, are noticed before anything has to be played")
  func missing() async throws {
    let lane = try TestLane()
    lane.output.refuseOpening(.deviceMissing)
    let player = try await lane.started { $0.probeInterval = 30_000 }
    try await lane.event(.deviceLost, of: player)
    let loss = try #require(try await player.status().deviceLoss)
    #expect(loss.code == "device_missing" && loss.since == lane.clock.date())
    #expect(try await lane.ledger.player(lane: "counter").report?.deviceCode == "device_missing")
    lane.output.refuseOpening(nil)
    lane.clock.advance(by: 250)
    try await lane.event(.deviceBack, of: player)
    #expect(try await player.status().deviceLoss == nil)
    await player.stop()
  }

  @Test("a device that is lost while nothing plays is noticed at the next probe")
  func watched() async throws {
    let lane = try TestLane()
    let player = try await lane.started { $0.probeInterval = 30_000 }
    try await eventually { lane.output.openings >= 1 }
    lane.output.refuseOpening(.deviceBusy)
    lane.clock.advance(by: 30_000)
    #expect(try await lane.event(.deviceLost, of: player).detail == ["code": "device_busy"])
    await player.stop()
  }

  @Test("an announcement that begins while a probe finds no device does not count as playing")
  func begunDuringProbe() async throws {
    let lane = try TestLane()
    lane.output.refuse(.deviceMissing)
    let player = try await lane.started { $0.probeInterval = 30_000 }
    try await eventually { lane.output.openings >= 1 }
    lane.output.holdOpenings()
    lane.output.refuseOpening(.deviceMissing)
    lane.clock.advance(by: 30_000)
    try await eventually { lane.output.openings >= 2 }
    _ = try await player.accept(announcement("a"))
    try await eventually { try await lane.state(1) == .playing }
    lane.output.releaseOpenings()
    try await lane.event(.interrupted, 1, of: player)
    #expect(try await lane.state(1) == .waiting)
    #expect(try await player.status().deviceLoss?.code == "device_missing")
    await player.stop(finishingPlaying: false)
  }
}
