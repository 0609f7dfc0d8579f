// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import Playback
import PlaybackOrder
import ServiceAccess
import SoundOutputTestSupport
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The player through the service", .timeLimit(.minutes(10)))
struct PlaybackCallsTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private static let json = ["Content-Type": "application/json"]

  private func play(_ client: TestClient, _ ids: String...) async throws {
    for id in ids { #expect(try await client.post(payment(id, "12.50", #""deliver":["play"]"#)).status == 201) }
  }

  private func number(_ id: String, account: String = "shop") async throws -> Int64 {
    try await service.ledger.entry(account: account, id: id).orThrow("an entry").number
  }

  @Test("an idle player reports its state and has nothing to replay")
  func idle() async throws {
    let client = try await service.client()
    try await service.startPlayer()
    let status = try await client.get("/v1/playback")
    #expect(status.status == 200)
    #expect(
      Set(try status.object.keys) == [
        "lane", "state", "volume", "chime", "chimes", "playing", "waiting", "waiting_count", "device_lost_since",
        "device_code",
        "blocked_since", "blocked_code", "elsewhere", "quiet_until", "volume_by_time",
      ])
    #expect(try status.string("state") == "idle" && status.string("lane") == "counter")
    #expect(try status.number("volume") == 100 && status.number("waiting_count") == 0 && status.value("playing") == nil)
    let replay = try await client.send(.post, "/v1/playback/replay")
    #expect(replay.status == 409 && replay.code == "nothing_to_replay")
  }

  @Test("an account sees its own announcements in detail, and only the existence of other accounts' announcements")
  func status() async throws {
    let client = try await service.client()
    try await play(client, "p1", "p2", "p3")
    try await service.startPlayer()
    await service.output.begins(1)
    let status = try await client.get("/v1/playback")
    #expect(try status.string("state") == "playing" && status.string("playing.id") == "p1")
    #expect(try status.string("playing.category") == "payment" && status.number("playing.length_ms") != nil)
    #expect(try status.string("playing.text").map { $0.contains("twelve") } == true)
    #expect(try status.string("waiting.0.id") == "p2" && status.string("waiting.1.id") == "p3")
    #expect(try status.string("waiting.0.accepted_at") != nil && status.number("waiting_count") == 2)
    #expect(try status.string("playing.locale") == "en-US" && status.string("waiting.1.locale") == "en-US")
    #expect(try status.string("waiting.1.text").map { $0.contains("twelve") } == true)
    let other = try await service.client(account: "other").get("/v1/playback")
    #expect(try other.string("state") == "playing" && other.number("waiting_count") == 2)
    #expect(try other.value("playing.id") == nil && other.value("playing.text") == nil)
    #expect(try other.value("waiting.0.id") == nil && other.value("waiting.0.accepted_at") == nil)
    #expect(try other.value("waiting.0.text") == nil && other.value("waiting.0.locale") == nil)
    #expect(try await service.client([.admin], account: "boss").get("/v1/playback").string("playing.id") == "p1")
  }

  @Test("every waiting announcement has its words in its own language, even before its sound is read")
  func words() async throws {
    let client = try await service.client(locale: "zh-CN")
    try await service.startPlayer()
    #expect(try await client.send(.post, "/v1/playback/pause").status == 200)
    for number in 1...20 {
      let locale = number == 20 ? "" : #","locale":"en-US""#
      let answer = try await client.post(payment("p\(number)", "\(number)", #""deliver":["play"]"# + locale))
      #expect(answer.status == 201)
    }
    try await eventually { try await client.get("/v1/playback").number("waiting_count") == 20 }
    let status = try await client.get("/v1/playback")
    #expect(try status.number("waiting_count") == 20)
    for index in 0..<20 {
      let text = try status.string("waiting.\(index).text").orThrow("words")
      #expect(text.contains(index == 19 ? "二十" : "dollar"), "\(text)")
      #expect(try status.string("waiting.\(index).locale") == (index == 19 ? "zh-CN" : "en-US"))
    }
    #expect(try status.string("waiting.19.state") == "waiting")
  }

  @Test("playback pauses on one request, and resumes on another")
  func pause() async throws {
    let client = try await service.client()
    let player = try await service.startPlayer()
    #expect(try await client.send(.post, "/v1/playback/pause").string("state") == "paused")
    service.output.hearAll()
    try await play(client, "p1")
    try await service.event(.accepted, of: player)
    #expect(try await client.get("/v1/playback").string("state") == "paused")
    let resumed = try await client.send(.post, "/v1/playback/resume")
    #expect(resumed.status == 200)
    #expect(try resumed.string("state") != "paused")
    try await service.event(.played, of: player)
  }

  @Test("a replay repeats the last announcement by default, or another played announcement whose id is given")
  func replay() async throws {
    let client = try await service.client()
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await play(client, "p1", "p2")
    try await service.event(.played, try await number("p2"), of: player)
    let last = try await client.send(.post, "/v1/playback/replay")
    #expect(last.status == 202)
    try await service.event(.played, Int64(try last.number("number").orThrow("a number")), of: player)
    let named = try await client.send(
      .post, "/v1/playback/replay", headers: Self.json, body: Data(#"{"id":"p1"}"#.utf8))
    #expect(named.status == 202)
    try await service.event(.played, Int64(try named.number("number").orThrow("a number")), of: player)
    let unnamed = try await client.send(.post, "/v1/playback/replay", headers: Self.json, body: Data("{}".utf8))
    #expect(unnamed.status == 202)
  }

  @Test("an invalid request for a replay is refused")
  func noReplay() async throws {
    let client = try await service.client()
    try await service.startPlayer()
    try await play(client, "p1")
    await service.output.begins(1)
    func replay(_ client: TestClient, _ body: String, _ headers: [String: String] = Self.json) async throws
      -> TestAnswer
    {
      try await client.send(.post, "/v1/playback/replay", headers: headers, body: Data(body.utf8))
    }
    let playing = try await replay(client, #"{"id":"p1"}"#)
    #expect(playing.status == 409 && playing.code == "nothing_to_replay")
    for (answer, status) in [
      (try await replay(client, #"{"id":"none"}"#), 404),
      (try await replay(try await service.client(account: "other"), #"{"id":"p1"}"#), 404),
      (try await replay(client, #"{"id":7}"#), 422), (try await replay(client, "[]"), 400),
      (try await replay(client, "x"), 400), (try await replay(client, #"{"id":"p1"}"#, [:]), 415),
      (try await replay(client, String(repeating: " ", count: 5000)), 413),
    ] {
      #expect(answer.status == status, "\(answer.text)")
    }
  }

  @Test("a waiting or playing announcement can be cancelled, and a finished announcement cannot be cancelled")
  func cancel() async throws {
    let client = try await service.client()
    let player = try await service.startPlayer()
    try await play(client, "p1", "p/2")
    await service.output.begins(1)
    try await service.event(.accepted, try await number("p/2"), of: player)
    let waiting = try await client.send(.delete, "/v1/playback/p%2F2")
    #expect(waiting.status == 200)
    #expect(try waiting.string("id") == "p/2" && waiting.string("state") == "cancelled")
    let playing = try await client.send(.delete, "/v1/playback/p1")
    #expect(playing.status == 200)
    for id in ["p1", "p%2F2"] {
      let again = try await client.send(.delete, "/v1/playback/\(id)")
      #expect(again.status == 409 && again.code == "already_ended")
    }
    let state = try await client.get("/v1/announcements/p1")
    #expect(try state.string("delivery.play.state") == "cancelled")
  }

  @Test(
    "an announcement whose id is the name of a call can be cancelled",
    arguments: ["pause", "resume", "replay", "restore", "volume"])
  func cancelNamedAsCall(id: String) async throws {
    let client = try await service.client()
    let player = try await service.startPlayer()
    try await play(client, id)
    try await service.event(.accepted, of: player)
    #expect(try await client.send(.delete, "/v1/playback/\(id)").string("state") == "cancelled")
  }

  @Test("an unknown announcement and an announcement of another account cannot be cancelled")
  func cancelOthers() async throws {
    let client = try await service.client()
    try await service.startPlayer()
    try await play(client, "p1")
    _ = try await client.post(payment("clip"))
    await service.output.begins(1)
    let other = try await service.client(account: "other").send(.delete, "/v1/playback/p1")
    #expect(other.status == 404 && other.code == "not_found")
    for id in ["none", "clip", "%00"] { #expect(try await client.send(.delete, "/v1/playback/\(id)").status == 404) }
    #expect(try await client.get("/v1/playback").string("playing.id") == "p1")
  }

  @Test("if another program plays on the output, the queue can still be read, and commands are refused")
  func taken() async throws {
    let client = try await service.client()
    let seat = try await service.ledger.takeSeat(lane: TestService.lane)
    service.run { [player = service.server.player] in try await player?.run() }
    try await play(client, "p1")
    let status = try await client.get("/v1/playback")
    #expect(status.status == 200)
    #expect(try status.string("state") == "stopped" && status.number("waiting_count") == 1)
    for (method, path) in [
      (.post, "pause"), (.post, "resume"), (.post, "replay"), (.delete, "p1"),
    ] as [(HTTPRequest.Method, String)] {
      let answer = try await client.send(method, "/v1/playback/\(path)")
      #expect(answer.status == 503 && answer.code == "player_unavailable" && answer.header("Retry-After") != nil)
    }
    withExtendedLifetime(seat) {}
  }

  @Test("a service without an output refuses every call of the player")
  func none() async throws {
    let service = try TestService()
    let client = try await service.client()
    for (method, path) in [
      (.get, ""), (.post, "/pause"), (.post, "/resume"), (.post, "/replay"), (.delete, "/p1"),
    ] as [(HTTPRequest.Method, String)] {
      let answer = try await client.send(method, "/v1/playback\(path)")
      #expect(answer.status == 503 && answer.code == "player_unavailable")
    }
  }

  @Test("the player's state reports a lost device")
  func deviceLost() async throws {
    let client = try await service.client()
    service.output.lose()
    let player = try await service.startPlayer()
    try await play(client, "p1")
    try await service.event(.deviceLost, of: player)
    #expect(try await client.get("/v1/playback").string("state") == "device_lost")
    let ready = try await service.stranger.get("/readyz")
    #expect(ready.status == 200)
    #expect(try ready.string("status") == "degraded" && ready.string("checks.device.code") == "device_lost")
    #expect(try ready.string("checks.device.cause") == "device_lost" && ready.string("checks.device.since") != nil)
    // The announcement is not heard, so nobody is told that it plays.
    let status = try await client.get("/v1/playback")
    #expect(try status.value("playing") == nil && status.number("waiting_count") == 1)
    #expect(try status.string("device_code") == "device_lost" && status.string("device_lost_since") != nil)
    try await eventually { try await client.get("/v1/announcements/p1").string("delivery.play.state") == "waiting" }
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.values["crier_player_device_lost"] == 1)
  }

  @Test("the player's state has the cause and the time of a blockage that is not caused by the device")
  func blocked() async throws {
    let client = try await service.client()
    service.voice.fail(.engineUnavailable)
    _ = try await service.ledger.accept(
      StoredAnnouncement(
        account: "shop", id: "p1", lane: TestService.lane, category: .payment,
        payload: Data(payment("p1", "12.50", #""deliver":["play"]"#).utf8)))
    try await service.startPlayer()
    try await eventually { try await client.get("/v1/playback").string("blocked_code") != nil }
    let status = try await client.get("/v1/playback")
    #expect(try status.string("blocked_code") == "engine_unavailable" && status.string("blocked_since") != nil)
    #expect(try status.value("device_code") == nil && status.number("waiting_count") == 1)
    service.voice.fail(nil)
  }

  @Test("while the device is lost, the metrics and the player's state have the same number of waiting announcements")
  func waitingWhileLost() async throws {
    let client = try await service.client()
    service.output.lose()
    try await play(client, "p1", "p2", "p3")
    let player = try await service.startPlayer()
    try await service.event(.deviceLost, of: player)
    let status = try await client.get("/v1/playback")
    #expect(try status.string("waiting.0.id") == "p1" && status.number("waiting_count") == 3)
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.values["crier_player_waiting"] == 3)
  }
}
