// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import Ledger
import NIOCore
import Playback
import ServiceAccess
import ServiceLifecycleTestKit
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The event stream", .timeLimit(.minutes(10)))
struct EventTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private static let headers = ["Accept": "text/event-stream"]

  private func play(_ client: TestClient, _ ids: String...) async throws {
    for id in ids { #expect(try await client.post(payment(id, "12.50", #""deliver":["play"]"#)).status == 201) }
  }

  /// A stream that has begun.
  private func listen(_ client: TestClient, after position: String? = nil) async throws -> TestStream {
    let stream = await client.stream(
      "/v1/events", Self.headers.merging(position.map { ["Last-Event-ID": $0] } ?? [:]) { $1 })
    #expect(stream.status == 200 && stream.headers[.contentType] == "text/event-stream")
    #expect(await stream.next()?.hasPrefix(":") == true, "the client learns at once that the stream is open")
    return stream
  }

  @Test("a payment's events arrive in order, each with its position")
  func order() async throws {
    let client = try await service.client()
    service.output.hearAll()
    try await service.startPlayer()
    let stream = try await listen(client)
    defer { stream.end() }
    try await play(client, "p1")
    var events: [TestEvent] = []
    while events.last?.name != "played" || !events.contains(where: { $0.name == "rendered" }) {
      events.append(try await stream.event())
    }
    let kept = events.filter { $0.name != "rendered" }
    #expect(kept.first?.name == "accepted" && kept.contains { $0.name == "playing" })
    #expect(kept.compactMap { $0.id.flatMap(Int.init) } == kept.compactMap { $0.id.flatMap(Int.init) }.sorted())
    for event in kept {
      #expect(try event.id == String(event.number("position").orThrow("a position")))
      #expect(try event.string("kind") == event.name && event.string("id") == "p1" && event.string("at") != nil)
    }
    let rendered = try #require(events.first { $0.name == "rendered" })
    #expect(rendered.id == nil)
    #expect(try rendered.string("id") == "p1" && rendered.string("detail.method") == "speech")
    #expect(try rendered.string("detail.cached") == "false" && rendered.string("detail.duration_ms") != nil)
    #expect(!events.contains { String(decoding: $0.data, as: UTF8.self).contains("USD") }, "events have no amounts")
  }

  @Test("a client that reconnects receives each missed event once")
  func resume() async throws {
    let client = try await service.client()
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await play(client, "p1", "p2")
    let number = try await service.ledger.entry(account: "shop", id: "p2").orThrow("an entry").number
    try await service.event(.played, number, of: player)
    let all = try await service.ledger.events(limit: 100)
    let first = try await listen(client, after: "0")
    var told: [String?] = []
    while told.count < all.count / 2 { told.append(try await first.event().id) }
    first.end()
    let second = try await listen(client, after: try told.last.flatMap(\.self).orThrow("an id"))
    while told.count < all.count { told.append(try await second.event().id) }
    second.end()
    #expect(told == all.map { String($0.position) })
  }

  @Test("a client without a position receives only new events")
  func fromNow() async throws {
    let client = try await service.client()
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await play(client, "p1")
    try await service.event(.played, of: player)
    let stream = try await listen(client)
    defer { stream.end() }
    try await play(client, "p2")
    for _ in 0..<3 { #expect(try await stream.event().string("id") == "p2") }
  }

  @Test("an account receives only its own events, and an admin receives the events of all accounts")
  func accounts() async throws {
    let (one, two) = (try await service.client(account: "one"), try await service.client(account: "two"))
    service.output.hearAll()
    let player = try await service.startPlayer()
    let stream = try await listen(two)
    let admin = try await listen(try await service.client([.admin], account: "boss"))
    try await play(one, "p1")
    try await service.event(.played, of: player)
    try await play(two, "p2")
    for _ in 0..<4 { #expect(try await stream.event().string("id") == "p2") }
    var seen: Set<String> = []
    while seen.count < 2 { seen.insert(try await admin.event("played").string("id").orThrow("an id")) }
    #expect(seen == ["p1", "p2"])
    stream.end()
    admin.end()
  }

  @Test("a service without a player sends events for rendered clips")
  func withoutPlayer() async throws {
    let service = try TestService()
    let client = try await service.client()
    let stream = try await listen(client)
    defer { stream.end() }
    _ = try await service.client(account: "other").post(payment("q"))
    _ = try await client.post(payment("p1"))
    _ = try await client.post(payment("p1"))
    _ = try await client.post(payment("p2"))
    let events = [try await stream.event(), try await stream.event()]
    #expect(events.map(\.name) == ["rendered", "rendered"])
    #expect(try events.map { try $0.string("id") } == ["p1", "p2"], "a repeated request has no event")
    #expect(try events[1].string("detail.cached") == "true")
  }

  @Test("an event stream ends when the service stops")
  func stopping() async throws {
    let client = try await service.client()
    try await service.startPlayer()
    try await testGracefulShutdown { trigger in
      let stream = try await listen(client)
      trigger.triggerGracefulShutdown()
      #expect(await stream.rest().allSatisfy { $0 == ServerSentEvent.heartbeat })
    }
  }

  @Test("an idle event stream sends heartbeats")
  func heartbeat() async throws {
    let service = try TestService { $0.settings.heartbeat = 0.01 }
    let stream = try await listen(try await service.client())
    for _ in 0..<3 { #expect(await stream.next() == ServerSentEvent.heartbeat) }
    stream.end()
  }

  @Test("an event stream whose key is revoked receives no further events and ends", arguments: [0.01, 15])
  func revoked(heartbeat: Double) async throws {
    let service = try TestService { $0.settings.heartbeat = heartbeat }
    let (client, other) = (try await service.client(), try await service.client())
    let stream = try await listen(client)
    try await service.revoke(client)
    // The stream ends with the next heartbeat, or with an event before it.
    if heartbeat > 1 { #expect(try await other.post(payment("p1")).status == 201) }
    #expect(await stream.rest().allSatisfy { $0 == ServerSentEvent.heartbeat })
    try await eventually { service.server.hub.count == 0 }
  }

  @Test("the event stream of a client that disconnects is removed, even before the response begins")
  func gone() async throws {
    let client = try await service.client()
    let stream = try await listen(client)
    #expect(service.server.hub.count == 1)
    #expect(try await service.stranger.get("/metrics").text.contains("crier_event_streams 1\n"))
    stream.end()
    _ = await stream.rest()
    try await eventually { service.server.hub.count == 0 }
    for _ in 0..<3 {
      _ = await client.respond(.get, "/v1/events", Self.headers, .init(buffer: .init()))
    }
    try await eventually { service.server.hub.count == 0 }
  }

  @Test("the number of open streams is limited for each account and in total")
  func mostStreams() async throws {
    let client = try await service.client()
    let slots = service.server.eventSlots
    let most = WorkLimits().eventStreams
    let own = try (0..<most).map { _ in try slots.take("shop") }
    let greedy = try await client.get("/v1/events", Self.headers)
    #expect(greedy.status == 429 && greedy.code == "account_busy" && greedy.header("Retry-After") != nil)
    let others = try (most..<EventRoutes.mostStreams).map { try slots.take("account \($0)") }
    let late = try await service.client(account: "late").get("/v1/events", Self.headers)
    #expect(late.status == 503 && late.code == "busy" && late.header("Retry-After") != nil)
    own[0].free()
    let stream = try await listen(client)
    stream.end()
    withExtendedLifetime((own, others)) {}
  }

  @Test("an invalid request for an event stream opens no stream")
  func refused() async throws {
    let client = try await service.client()
    #expect(try await client.get("/v1/events", ["Accept": "application/json"]).status == 406)
    for id in ["x", "-1", "", "1.5", "99999999999999999999"] {
      let answer = try await client.get("/v1/events", Self.headers.merging(["Last-Event-ID": id]) { $1 })
      #expect(answer.status == 400 && answer.code == "parameter_invalid")
    }
    let head = try await client.send(.head, "/v1/events")
    #expect(head.status == 200 && head.header("Content-Type") == "text/event-stream" && head.body.isEmpty)
    #expect(service.server.hub.count == 0)
  }
}

@Suite("A server-sent event")
struct ServerSentEventTests {
  @Test("a server-sent event consists of lines followed by an empty line")
  func text() {
    #expect(ServerSentEvent(id: "7", name: "played", data: "{}").text == "id: 7\nevent: played\ndata: {}\n\n")
    #expect(ServerSentEvent(name: "rendered", data: "{}").text == "event: rendered\ndata: {}\n\n")
    #expect(ServerSentEvent.heartbeat.hasPrefix(":") && ServerSentEvent.heartbeat.hasSuffix("\n\n"))
  }
}
