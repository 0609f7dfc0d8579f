// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Announcements that wait on another output", .timeLimit(.minutes(10)))
struct TakeOverTests {
  /// A service whose ledger has a payment that waits on the output of former settings.
  private func service(takesOver: Bool = true) async throws -> TestService {
    let service = try TestService {
      $0.hasPlayer = true
      $0.settings.takesOver = takesOver
    }
    let payload = payment("p1", "12.50", #""deliver":["play"],"locale":"en-US""#)
    _ = try await service.ledger.accept(
      StoredAnnouncement(
        account: "shop", id: "p1", lane: "alsa:former", category: .payment, payload: Data(payload.utf8)))
    return service
  }

  @Test("announcements that wait on another output are played on the output of the present settings")
  func played() async throws {
    let service = try await service()
    let client = try await service.client()
    let player = try await service.startPlayer()
    service.output.hearAll()
    try await service.event(.played, 1, of: player)
    #expect(try await service.ledger.entry(1)?.lane == "counter")
    #expect(try await client.get("/v1/announcements/p1").string("delivery.play.state") == "played")
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")
    #expect(service.log.lines.contains { $0.contains("alsa:former") })
  }

  @Test("if announcements stay on another output, the service is degraded, and status, metrics and log show them")
  func kept() async throws {
    let service = try await service(takesOver: false)
    let client = try await service.client()
    try await service.startPlayer()
    let status = try await client.get("/v1/playback")
    #expect(try status.number("waiting_count") == 0)
    #expect(try status.string("elsewhere.0.lane") == "alsa:former" && status.number("elsewhere.0.waiting_count") == 1)
    let ready = try await service.stranger.get("/readyz")
    #expect(ready.status == 200)
    #expect(try ready.string("status") == "degraded" && ready.string("checks.lanes.code") == "not_played")
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.values["crier_unplayed_waiting"] == 1)
    let warnings = service.log.lines.filter { $0.hasPrefix("warning") && $0.contains("alsa:former") }
    #expect(warnings.count == 1 && warnings[0].contains("take_over"))
  }

  @Test("announcements on another output can be cancelled, although no player plays the output")
  func cancelled() async throws {
    let service = try await service(takesOver: false)
    let client = try await service.client()
    try await service.startPlayer()
    let taken = try await client.send(.delete, "/v1/playback/p1")
    #expect(try taken.status == 200 && taken.string("state") == "cancelled")
    #expect(try await service.ledger.entry(1)?.state == .cancelled)
    #expect(try await client.send(.delete, "/v1/playback/p1").code == "already_ended")
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")
  }

  @Test("announcements on another output stay there while another process plays the output")
  func playedElsewhere() async throws {
    let service = try await service()
    let client = try await service.client()
    let seat = try await service.ledger.takeSeat(lane: "alsa:former")
    try await service.startPlayer()
    #expect(try await service.ledger.entry(1)?.lane == "alsa:former")
    #expect(try await client.send(.delete, "/v1/playback/p1").code == "player_unavailable")
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")
    withExtendedLifetime(seat) {}
  }

  @Test("announcements that stay on another output cause no warning while another process plays the output")
  func keptAndPlayedElsewhere() async throws {
    let service = try await service(takesOver: false)
    let seat = try await service.ledger.takeSeat(lane: "alsa:former")
    try await service.startPlayer()
    let client = try await service.client()
    #expect(try await client.get("/v1/playback").string("elsewhere.0.lane") == "alsa:former")
    #expect(!service.log.lines.contains { $0.contains("alsa:former") })
    withExtendedLifetime(seat) {}
  }
}
