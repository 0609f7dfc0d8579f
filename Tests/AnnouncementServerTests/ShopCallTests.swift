// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import Playback
import PlaybackOrder
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing
import WebhookMessages

@testable import AnnouncementServer

@Suite("The state of the shop through the service", .timeLimit(.minutes(5)))
struct ShopCallTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func service(_ change: (inout TestService.Options) -> Void = { _ in }) throws -> TestService {
    try TestService(in: folder) {
      $0.hasPlayer = true
      $0.player.remembersPause = true
      change(&$0)
    }
  }

  /// A client with a named key.
  private func client(of service: TestService, named name: String, account: String = "shop") async throws -> TestClient
  {
    let key = APIKey.make()
    try await service.ledger.createKey(
      NewKey(
        id: key.id, account: account, digest: key.digest, scopes: ["announce", "read", "play"], name: name))
    return TestClient(server: service.server, key: TestKey(key: key, account: account))
  }

  private func play(_ client: TestClient, _ ids: String...) async throws {
    for id in ids { #expect(try await client.post(payment(id, "12.50", #""deliver":["play"]"#)).status == 201) }
  }

  /// The codes of the problems. How full the disk of the tests is says nothing about the service.
  private func codes(_ client: TestClient) async throws -> [String] {
    let problems = try await client.get("/v1/shop").value("problems") as? [[String: Any]]
    return (problems ?? []).compactMap { $0["code"] as? String }.filter { $0 != "disk_low" }
  }

  /// The messages to an endpoint, as type and state.
  private func messages(_ service: TestService, _ endpoint: String) async throws -> [String] {
    try await service.ledger.webhooks(account: "shop", endpoint: endpoint, limit: 1000).map { webhook in
      let body = try JSONSerialization.jsonObject(with: webhook.message.body) as? [String: Any]
      let detail = (body?["data"] as? [String: Any])?["detail"] as? [String: Any]
      return "\(webhook.kind.rawValue) \(detail?["state"] as? String ?? "")"
    }
  }

  private func register(_ service: TestService) async throws -> String {
    try await service.ledger.register(
      NewWebhookEndpoint(account: "shop", url: try WebhookURL("https://shop.example/hooks")), by: .currentUser
    ).id
  }

  @Test("the state of a shop is good if everything works")
  func good() async throws {
    let service = try service()
    let client = try await service.client([.read])
    try await service.startPlayer()
    let answer = try await client.get("/v1/shop")
    #expect(answer.status == 200)
    #expect(try Set(answer.object.keys) == ["state", "problems", "waiting"])
    #expect(try await codes(client) == [] && answer.number("waiting") == 0)
  }

  @Test("a service without an output has no problem in the shop's state")
  func noOutput() async throws {
    let service = try TestService()
    #expect(try await codes(service.client([.read])) == [])
  }

  @Test("the state of a paused shop says who paused and since when, how many announcements wait, and what to do")
  func paused() async throws {
    let service = try service()
    let till = try await client(of: service, named: "till")
    try await service.startPlayer()
    let before = Date()
    #expect(try await till.send(.post, "/v1/playback/pause").status == 200)
    try await play(till, "p1", "p2")
    try await eventually { try await till.get("/v1/shop").number("waiting") == 2 }
    let answer = try await till.get("/v1/shop")
    #expect(try await codes(till) == ["paused"] && answer.string("state") == "attention")
    #expect(try answer.string("problems.0.by") == "till" && answer.number("problems.0.count") == 2)
    let command = try answer.string("problems.0.remedy.command")
    #expect(command?.hasPrefix("crier queue resume --home ") == true)
    let since = try Date(answer.string("problems.0.since").orThrow("a time"), strategy: .iso8601WithFraction)
    #expect(abs(since.timeIntervalSince(before)) < 60)
    let other = try await service.client([.read], account: "kiosk").get("/v1/shop")
    #expect(try other.value("problems.0.by") == nil && other.string("problems.0.code") == "paused")
    let admin = try await service.client([.admin], account: "boss").get("/v1/shop")
    #expect(try admin.string("problems.0.by") == "till")
    #expect(try await till.send(.post, "/v1/playback/resume").status == 200)
    #expect(try await codes(till) == [])
  }

  @Test("the event stream has the state of the shop after each change, and no event without a change")
  func event() async throws {
    let service = try service()
    let till = try await client(of: service, named: "till")
    try await service.startPlayer()
    await service.server.shopWatch.look()
    let stream = await till.stream("/v1/events", ["Accept": "text/event-stream"])
    defer { stream.end() }
    #expect(await stream.next()?.hasPrefix(":") == true)
    await service.server.shopWatch.look()
    #expect(try await till.send(.post, "/v1/playback/pause").status == 200)
    let event = try await stream.event()
    #expect(event.name == "shop" && event.id == nil)
    #expect(try event.string("problems.0.code") == "paused" && event.string("problems.0.by") == "till")
    let answer = try await till.get("/v1/shop")
    func sorted(_ object: Any) throws -> Data {
      try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    }
    let told = try sorted(try JSONSerialization.jsonObject(with: event.data))
    let asked = try sorted(try answer.object)
    #expect(told == asked)
    #expect(try await till.send(.post, "/v1/playback/resume").status == 200)
    #expect(try await stream.event().string("state") != nil)
  }

  @Test("a device's key and a key without the scope 'read' cannot read the state of the shop")
  func refused() async throws {
    let service = try service()
    #expect(try await service.client([.announce, .play]).get("/v1/shop").status == 403)
    #expect(try await service.stranger.get("/v1/shop").status == 401)
    #expect(try await service.client([.read]).get("/v1/shop?by=all").status == 400)
  }

  @Test("announcements on an output without a player make the state of the shop bad")
  func notPlayed() async throws {
    let service = try service { $0.settings.takesOver = false }
    let payload = payment("p1", "12.50", #""deliver":["play"],"locale":"en-US""#)
    _ = try await service.ledger.accept(
      StoredAnnouncement(
        account: "shop", id: "p1", lane: "alsa:former", category: .payment, payload: Data(payload.utf8)))
    let client = try await service.client([.read])
    try await service.startPlayer()
    let answer = try await client.get("/v1/shop")
    #expect(try answer.string("state") == "bad" && answer.string("problems.0.code") == "not_played")
    #expect(try answer.number("problems.0.count") == 1 && answer.string("problems.0.since") != nil)
  }

  @Test("a player that does not start is a problem only after ten seconds")
  func noPlayer() async throws {
    let service = try service()
    let client = try await service.client([.read])
    #expect(try await codes(client) == [])
    service.wait(.seconds(10))
    #expect(try await codes(client) == ["player_unavailable"])
    try await service.startPlayer()
    #expect(try await codes(client) == [])
  }

  @Test("a disabled webhook endpoint is visible only to its account and to administrators")
  func disabledEndpoint() async throws {
    let service = try service()
    try await service.startPlayer()
    let id = try await register(service)
    let (shop, kiosk) = (try await service.client([.read]), try await service.client([.read], account: "kiosk"))
    _ = try await service.ledger.testWebhookEndpoint(account: "shop", id: id)
    let message = try #require(try await service.ledger.unfinishedWebhooks().first)
    let sent = try await service.ledger.startSending(webhooks: [message.number])
    #expect(sent.count == 1)
    let attempt = Ledger.WebhookAttempt(startedAt: Date(), outcome: .gone, nextAt: nil, patience: 60)
    _ = try await service.ledger.record(attempt, ofWebhook: message.number)
    #expect(try await codes(shop) == ["webhook_disabled"])
    #expect(try await codes(kiosk) == [])
    #expect(try await codes(service.client([.admin], account: "boss")) == ["webhook_disabled"])
  }

  // MARK: Alarms

  @Test("a long pause raises one alarm in events, log, metrics and webhooks, and the alarm ends with the pause")
  func pauseAlarm() async throws {
    let service = try service { $0.settings.alarms.pausedMinutes = 2 }
    try await service.ledger.keep(
      Ledger.Pause(since: Date(timeIntervalSinceNow: -121), by: "till"), lane: TestService.lane)
    let client = try await service.client()
    let endpoint = try await register(service)
    try await service.startPlayer()
    let stream = await client.stream("/v1/events", ["Accept": "text/event-stream"])
    defer { stream.end() }
    #expect(await stream.next()?.hasPrefix(":") == true)
    for _ in 0..<3 { await service.server.shopWatch.look() }
    let event = try await stream.event("alarm")
    #expect(try event.string("detail.alarm") == "paused" && event.string("detail.state") == "began")
    #expect(service.log.lines.count { $0.hasPrefix("warning The player is still paused") } == 1)
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.values[#"crier_alarm{alarm="paused"}"#] == 1 && metrics.faults == [])
    #expect(metrics.values[#"crier_alarm{alarm="device_lost"}"#] == 0)
    #expect(try await messages(service, endpoint) == ["player.paused began"])
    #expect(try await client.send(.post, "/v1/playback/resume").status == 200)
    #expect(try await stream.event("alarm").string("detail.state") == "ended")
    try await eventually {
      try await messages(service, endpoint) == ["player.paused began", "player.paused ended"]
    }
    #expect(
      MetricLines(try await service.stranger.get("/metrics").text).values[#"crier_alarm{alarm="paused"}"#] == 0)
  }

  @Test("after a restart, a continuing alarm is not reported again, and the end of the alarm is reported")
  func restart() async throws {
    let alarms: (inout TestService.Options) -> Void = { $0.settings.alarms.pausedMinutes = 2 }
    let first = try service(alarms)
    try await first.ledger.keep(Ledger.Pause(since: Date(timeIntervalSinceNow: -600)), lane: TestService.lane)
    let endpoint = try await register(first)
    try await first.startPlayer()
    await first.server.shopWatch.look()
    await first.server.player?.player?.stop()
    let second = try service(alarms)
    let player = try await second.startPlayer()
    await second.server.shopWatch.look()
    #expect(await second.server.shopWatch.activeAlarms == [.paused])
    #expect(!second.log.lines.contains { $0.contains("paused") })
    try await player.resume()
    await second.server.shopWatch.look()
    #expect(try await messages(second, endpoint) == ["player.paused began", "player.paused ended"])
  }

  @Test("a queue that stays long is a problem until the queue is short again")
  func longQueue() async throws {
    let service = try service { $0.settings.alarms.longestQueue = 1 }
    let client = try await service.client()
    let player = try await service.startPlayer()
    try await player.pause()
    try await play(client, "p1", "p2")
    try await eventually { try await client.get("/v1/shop").number("waiting") == 2 }
    #expect(try await codes(client) == ["paused"])
    service.wait(.seconds(60))
    #expect(try await codes(client) == ["paused", "queue_long"])
    service.output.hearAll()
    try await player.resume()
    try await eventually { try await codes(client) == [] }
  }

  @Test("an open shop counts as silent after the configured hours without a payment, until a payment arrives")
  func silent() async throws {
    let ago = Locked<TimeInterval>(-7_200)
    let service = try service {
      $0.settings.alarms.silentHours = 1
      $0.now = { Date(timeIntervalSinceNow: ago.withLock { $0 }) }
    }
    let client = try await service.client()
    try await service.startPlayer()
    #expect(try await codes(client) == [], "a shop that has never had a payment is not silent")
    #expect(try await client.post(payment("p1")).status == 201)
    service.wait(.seconds(30))
    #expect(try await codes(client) == ["shop_silent"])
    ago.withLock { $0 = 0 }
    #expect(try await client.post(#"{"id":"t1","text":"Hello"}"#).status == 201)
    service.wait(.seconds(30))
    #expect(try await codes(client) == ["shop_silent"], "a text is no payment")
    #expect(try await client.post(payment("p2")).status == 201)
    service.wait(.seconds(30))
    #expect(try await codes(client) == [])
  }

  @Test("the time without payments before a restart counts towards the silence of a shop")
  func silentBefore() async throws {
    let first = try service { $0.now = { Date(timeIntervalSinceNow: -7_200) } }
    #expect(try await first.client().post(payment("p1")).status == 201)
    let second = try service { $0.settings.alarms.silentHours = 1 }
    #expect(try await codes(second.client([.read])) == ["shop_silent"])
  }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
  fileprivate static var iso8601WithFraction: Self { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}
