// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import Playback
import PlaybackOrder
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Undoing a cancellation through the service", .timeLimit(.minutes(5)))
struct RestoreCallTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private func restore(
    _ client: TestClient, _ body: String, _ headers: [String: String] = ["Content-Type": "application/json"]
  ) async throws -> TestAnswer {
    try await client.send(.post, "/v1/playback/restore", headers: headers, body: Data(body.utf8))
  }

  private func play(_ client: TestClient, _ ids: String...) async throws {
    for id in ids { #expect(try await client.post(payment(id, "12.50", #""deliver":["play"]"#)).status == 201) }
  }

  @Test("a restored payment waits in its old place again and is heard once, with an event and a log entry")
  func restored() async throws {
    let client = try await service.client([.announce, .read, .play, .admin])
    let player = try await service.startPlayer()
    try await play(client, "p1", "p2", "p3")
    await service.output.begins(1)
    try await eventually { try await client.get("/v1/playback").number("waiting_count") == 2 }
    #expect(try await client.send(.delete, "/v1/playback/p2").status == 200)
    let answer = try await restore(client, #"{"id":"p2"}"#)
    #expect(answer.status == 200 && answer.text == #"{"id":"p2","state":"waiting"}"#)
    let status = try await client.get("/v1/playback")
    #expect(try status.string("waiting.0.id") == "p2" && status.string("waiting.1.id") == "p3")
    try await service.event(.restored, of: player)
    service.output.hearAll()
    let last = try await service.ledger.entry(account: "shop", id: "p3").orThrow("an entry").number
    try await service.event(.played, last, of: player)
    #expect(service.output.heard.count == 3 && service.output.heard == service.output.heard.sorted())
    let acts = try await service.ledger.administrativeActs().map(\.action)
    #expect(acts.contains(.announcementRestored))
  }

  @Test("a payment is not restored if it is unknown, of another account, or was not cancelled while it waited")
  func refused() async throws {
    let client = try await service.client()
    try await service.startPlayer()
    try await play(client, "p1", "p2")
    await service.output.begins(1)
    let other = try await service.client(account: "other")
    for (answer, status, code) in [
      (try await restore(client, #"{"id":"none"}"#), 404, "not_found"),
      (try await restore(other, #"{"id":"p1"}"#), 404, "not_found"),
      (try await restore(client, #"{"id":"p1"}"#), 409, "not_restorable"),
      (try await restore(client, "{}"), 422, "field_missing"),
      (try await restore(client, #"{"id":7}"#), 422, "field_invalid"),
      (try await restore(client, #"{"id":null}"#), 422, "field_invalid"),
      (try await restore(client, #"{"id":"p2","at":1}"#), 422, "field_unknown"),
      (try await restore(client, ""), 400, "payload_malformed"),
      (try await restore(client, "[]"), 400, "payload_malformed"),
      (try await restore(client, #"{"id":"p2"}"#, [:]), 415, "media_type_unsupported"),
      (try await restore(try await service.client([.read]), #"{"id":"p2"}"#), 403, "scope_missing"),
      (try await restore(client, String(repeating: " ", count: 5000)), 413, "payload_too_large"),
    ] {
      #expect(answer.status == status && answer.code == code, "\(answer.text)")
    }
    #expect(try await client.send(.delete, "/v1/playback/p1").status == 200)
    #expect(try await restore(client, #"{"id":"p1"}"#).code == "not_restorable")
  }

  @Test("a repeated request to restore a payment gets the same answer, and changes nothing")
  func repeated() async throws {
    let client = try await service.client()
    try await service.startPlayer()
    try await play(client, "p1", "p2")
    await service.output.begins(1)
    #expect(try await client.send(.delete, "/v1/playback/p2").status == 200)
    for _ in 1...2 {
      let answer = try await restore(client, #"{"id":"p2"}"#)
      #expect(try answer.status == 200 && answer.string("state") == "waiting", "\(answer.text)")
    }
    let acts = try await service.ledger.administrativeActs().count { $0.action == .announcementRestored }
    #expect(acts <= 1)
  }

  @Test("a restored payment on an output without a player waits on the same output again")
  func unplayed() async throws {
    let service = try TestService {
      $0.hasPlayer = true
      $0.settings.takesOver = false
    }
    _ = try await service.ledger.accept(
      StoredAnnouncement(
        account: "shop", id: "p1", lane: "alsa:former", category: .payment, payload: Data(payment("p1").utf8)))
    let client = try await service.client()
    try await service.startPlayer()
    #expect(try await client.send(.delete, "/v1/playback/p1").status == 200)
    #expect(try await restore(client, #"{"id":"p1"}"#).status == 200)
    #expect(try await client.get("/v1/playback").number("elsewhere.0.waiting_count") == 1)
    #expect(try await client.send(.delete, "/v1/playback/p1").status == 200)
    let seat = try await service.ledger.takeSeat(lane: "alsa:former")
    #expect(try await restore(client, #"{"id":"p1"}"#).code == "player_unavailable")
    withExtendedLifetime(seat) {}
  }

  @Test("a request to restore a payment is refused if the service has no output")
  func noPlayer() async throws {
    let service = try TestService()
    #expect(try await restore(try await service.client(), #"{"id":"p1"}"#).code == "player_unavailable")
  }
}
