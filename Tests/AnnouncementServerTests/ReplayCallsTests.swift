// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import HummingbirdCore
import Ledger
import NIOCore
import Playback
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Replays through the service", .timeLimit(.minutes(10)))
struct ReplayCallsTests {
  private let service: TestService

  init() throws {
    service = try TestService {
      $0.hasPlayer = true
      // No key gets a replay back while a test runs.
      $0.time = { .zero }
    }
  }

  /// A player that is held, on which a payment of `shop` was heard.
  private func heard(_ client: TestClient) async throws -> Player {
    let player = try await service.startPlayer()
    service.output.hear()
    #expect(try await client.post(payment("p1", "12.50", #""deliver":["play"]"#)).status == 201)
    try await service.event(.played, of: player)
    try await player.pause()
    return player
  }

  private func replay(_ client: TestClient, _ body: String = "{}") async throws -> TestAnswer {
    try await client.send(
      .post, "/v1/playback/replay", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }

  private func number(_ answer: TestAnswer) throws -> Int64 { Int64(try answer.number("number").orThrow("a number")) }

  @Test(
    "a replay with an unknown field in its body is refused instead of playing the last announcement",
    arguments: [#"{"ID":"p1"}"#, #"{"ids":"p1"}"#, #"{"id":"p1","again":true}"#])
  func otherKey(body: String) async throws {
    let client = try await service.client()
    _ = try await heard(client)
    let answer = try await replay(client, body)
    #expect(answer.status == 422 && answer.code == "field_unknown")
    let byQuery = try await client.send(.post, "/v1/playback/replay?id=p1")
    #expect(byQuery.status == 400 && byQuery.code == "parameter_invalid")
  }

  @Test(
    "a replay with an id that is not a string is refused instead of playing the last announcement",
    arguments: [#"{"id":null}"#, #"{"id":5}"#, #"{"id":["p1"]}"#, #"{"id":{}}"#])
  func noText(body: String) async throws {
    let client = try await service.client()
    _ = try await heard(client)
    let answer = try await replay(client, body)
    #expect(answer.status == 422 && answer.code == "field_invalid")
    #expect(try await client.get("/v1/playback").number("waiting_count") == 0)
    #expect(try await replay(client, #"["p1"]"#).code == "payload_malformed")
  }

  @Test(
    "a player command is refused if its key is revoked while the body arrives",
    arguments: [("replay", false), ("replay", true), ("pause", true)])
  func revokedMeanwhile(call: String, isSigned: Bool) async throws {
    let (client, other) = (try await service.client(), try await service.client())
    let player = try await heard(client)
    try await player.resume()
    let key = try client.key.orThrow("a key").key
    let target = "/v1/playback/\(call)"
    var headers = ["Content-Type": "application/json"]
    if isSigned {
      let signed = SignedRequest(
        signing: .init(method: "POST", target: target, contentType: "application/json", body: Data("{}".utf8)),
        with: key.digest, at: Int64(Date().timeIntervalSince1970))
      headers["Authorization"] = "Crier \(key.id)"
      for (name, value) in signed.headerFields { headers[name] = value }
    }
    let pieces = Locked([ByteBuffer(string: "{}")])
    // When the service asks for the body, it has accepted the head.
    let body = AsyncStream<ByteBuffer> { [service] in
      guard let piece = pieces.withLock({ $0.popLast() }) else { return nil }
      try? await service.revoke(client)
      return piece
    }
    let answer = try await TestAnswer(await client.respond(.post, target, headers, RequestBody(asyncSequence: body)))
    #expect(answer.status == 401 && answer.code == "key_unknown")
    let status = try await other.get("/v1/playback")
    #expect(try status.string("state") == "idle" && status.number("waiting_count") == 0)
    #expect(try await service.ledger.forgetSignedRequests(before: .max) == 0, "the request is not remembered either")
  }

  @Test("a waiting replay is listed as a replay, with the announcement's id only for its own account")
  func visibility() async throws {
    let client = try await service.client()
    _ = try await heard(client)
    let number = try number(try await replay(client))
    let status = try await client.get("/v1/playback")
    #expect(try status.string("waiting.0.id") == "p1" && status.value("waiting.0.replay") as? Bool == true)
    #expect(try status.number("waiting.0.number") == Int(number) && status.string("waiting.0.category") == "alert")
    #expect(try status.string("waiting.0.accepted_at") != nil)
    let other = try await service.client(account: "other").get("/v1/playback")
    #expect(try other.value("waiting.0.id") == nil && other.value("waiting.0.replay") as? Bool == true)
    #expect(try await service.client([.admin], account: "boss").get("/v1/playback").string("waiting.0.id") == "p1")
  }

  @Test("the cancellation of a played announcement by its id cancels its replays, and the announcement stays played")
  func takenBack() async throws {
    let client = try await service.client()
    let player = try await heard(client)
    let numbers = [try number(try await replay(client)), try number(try await replay(client, #"{"id":"p1"}"#))]
    let other = try await service.client(account: "other")
    #expect(try await other.send(.delete, "/v1/playback/p1").status == 404)
    let taken = try await client.send(.delete, "/v1/playback/p1")
    #expect(taken.status == 200)
    #expect(try taken.string("state") == "cancelled" && taken.number("replays") == 2)
    for number in numbers { #expect(try await service.ledger.entry(number)?.state == .cancelled) }
    #expect(try await client.get("/v1/announcements/p1").string("delivery.play.state") == "played")
    #expect(try await player.status().waitingCount == 0)
    let again = try await client.send(.delete, "/v1/playback/p1")
    #expect(again.status == 409 && again.code == "already_ended")
  }

  @Test("a replay can be cancelled by its number, by the account that requested it or by the announcement's account")
  func ofAnother() async throws {
    let (client, other) = (try await service.client(), try await service.client(account: "other"))
    _ = try await heard(client)
    let numbers = [try number(try await replay(other)), try number(try await replay(other))]
    let status = try await other.get("/v1/playback")
    #expect(try status.value("waiting.0.id") == nil && status.string("waiting.0.accepted_at") != nil)
    let third = try await service.client(account: "third")
    for (client, path, status) in [
      (third, "\(numbers[0])", 404), (client, "1", 404), (client, "x", 404), (client, "999", 404),
      (other, "\(numbers[0])", 200), (client, "\(numbers[1])", 200), (other, "\(numbers[0])", 409),
    ] {
      #expect(try await client.send(.delete, "/v1/playback/replays/\(path)").status == status, "\(path)")
    }
    #expect(try await client.get("/v1/announcements/p1").string("delivery.play.state") == "played")
  }

  @Test("an announcement with the id “replays” is cancelled by its id")
  func namedAsPath() async throws {
    let client = try await service.client()
    _ = try await heard(client)
    #expect(try await client.post(payment("replays", "1.00", #""deliver":["play"]"#)).status == 201)
    #expect(try await client.send(.delete, "/v1/playback/replays").status == 200)
  }

  @Test("a fourth waiting replay of an account is refused with 429 and not played")
  func ofAccount() async throws {
    let client = try await service.client()
    let player = try await heard(client)
    for _ in 0..<3 { #expect(try await replay(client).status == 202) }
    for client in [client, try await service.client()] {
      let refused = try await replay(client)
      #expect(refused.status == 429 && refused.code == "too_many_replays" && refused.header("Retry-After") == "10")
    }
    #expect(try await player.status().waitingCount == 3)
    #expect(try await replay(try await service.client(account: "other")).status == 202)
  }

  @Test("a key may request six replays in quick succession, regardless of how fast they play")
  func ofKey() async throws {
    let client = try await service.client()
    let player = try await heard(client)
    service.output.hearAll()
    try await player.resume()
    var statuses: [Int] = []
    for _ in 0..<300 {
      let answer = try await replay(client)
      statuses.append(answer.status)
      if answer.status == 202 { try await service.event(.played, try number(answer), of: player) }
      if answer.status == 429 { #expect(answer.code == "too_many_replays" && answer.header("Retry-After") != nil) }
    }
    #expect(statuses == Array(repeating: 202, count: 6) + Array(repeating: 429, count: 294))
  }

  @Test("a key may request one more replay every ten seconds, and other keys are not affected")
  func pace() throws {
    let time = Locked(Duration.zero)
    let pace = try ReplayPace { time.withLock { $0 } }
    func retryAfter(_ key: String) -> Int? {
      do {
        try pace.admit(keyID: key)
        return nil
      } catch {
        #expect(error.status == .tooManyRequests && error.code == "too_many_replays")
        return error.retryAfter
      }
    }
    for _ in 0..<6 { #expect(retryAfter("a") == nil) }
    #expect(retryAfter("a").map { (10...11).contains($0) } == true && retryAfter("b") == nil)
    time.withLock { $0 += .seconds(11) }
    #expect(retryAfter("a") == nil && retryAfter("a") != nil)
  }

  @Test(
    "a replay's events go only to the announcement's account and, without the announcement's id, to the requester's"
  )
  func events() async throws {
    let (client, other) = (try await service.client(), try await service.client(account: "other"))
    let player = try await heard(client)
    func listen(_ client: TestClient) async throws -> TestStream {
      let stream = await client.stream("/v1/events", ["Accept": "text/event-stream"])
      _ = await stream.next()
      return stream
    }
    let streams = [try await listen(client), try await listen(other)]
    let third = try await listen(try await service.client(account: "third"))
    let number = try number(try await replay(other))
    #expect(try await client.send(.delete, "/v1/playback/p1").number("replays") == 1)
    for (stream, original) in zip(streams, ["p1", nil]) {
      let event = try await stream.event("cancelled")
      #expect(try event.number("number") == Int(number) && event.string("replay_of") == original)
      #expect(try event.string("id") == nil)
      #expect(String(decoding: event.data, as: UTF8.self).contains(#""replay":true"#))
    }
    service.output.hearAll()
    try await player.resume()
    #expect(
      try await service.client(account: "third").post(payment("t1", "1.00", #""deliver":["play"]"#)).status == 201)
    #expect(try await third.event().string("id") == "t1", "other accounts receive no event of the replay")
    for stream in streams + [third] { stream.end() }
  }

  @Test("player commands with an admin key are recorded without ids, and commands with other keys are not recorded")
  func administered() async throws {
    let client = try await service.client()
    _ = try await heard(client)
    let admin = try await service.client([.admin], account: "boss")
    for client in [client, admin] {
      #expect(try await client.send(.post, "/v1/playback/resume").status == 200)
      #expect(try await client.send(.post, "/v1/playback/pause").status == 200)
      let number = try number(try await replay(client))
      #expect(try await client.send(.delete, "/v1/playback/replays/\(number)").status == 200)
      #expect(try await client.send(.delete, "/v1/playback/nobody").status == 404)
    }
    let acts = try await service.ledger.administrativeActs().filter { $0.actor.hasPrefix("key:") }
    #expect(
      acts.map(\.action) == [.playbackResumed, .playbackPaused, .announcementReplayed, .announcementCancelled])
    #expect(try acts.allSatisfy { try $0.actor == "key:\(admin.key.orThrow("a key").key.id)" })
    #expect(acts.allSatisfy { $0.subject.map { Int64($0) != nil } ?? true })
  }

  @Test("an event stream ends when its key expires")
  func streamOfExpiredKey() async throws {
    let (client, other) = (try await service.client(), try await service.client())
    service.output.hearAll()
    try await service.startPlayer()
    let stream = await client.stream("/v1/events", ["Accept": "text/event-stream"])
    _ = await stream.next()
    let (id, new) = (try client.key.orThrow("a key").key.id, APIKey.make())
    try await service.ledger.rotateKey(id, to: new.id, digest: new.digest, overlap: 0)
    service.wait(KeyCache.memory)
    #expect(try await client.get("/v1/locales").code == "key_expired")
    #expect(try await other.post(payment("p1", "12.50", #""deliver":["play"]"#)).status == 201)
    #expect(await stream.rest().isEmpty)
  }
}
