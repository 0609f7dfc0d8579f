// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import Playback
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Reading an announcement")
struct ReadingTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private func ids(_ answer: TestAnswer) throws -> [String?] {
    let list = try answer.value("announcements") as? [[String: Any]]
    return try list.orThrow("a list").map { $0["id"] as? String }
  }

  @Test("an announcement is returned with its stored report, a new URL of the clip, and the state of its delivery")
  func clip() async throws {
    let client = try await service.client()
    let posted = try await client.post(payment())
    let found = try await client.get("/v1/announcements/p1")
    #expect(found.status == 200 && found.header("Content-Type") == "application/json")
    let (old, new) = (try posted.string("clip.url").orThrow("a URL"), try found.string("clip.url").orThrow("a URL"))
    #expect(found.text.replacing(new, with: old).hasPrefix(posted.text.dropLast()), "byte for byte")
    #expect(try found.string("delivery.clip.state") == "rendered")
    #expect(try found.object["delivery"].map { ($0 as? [String: Any])?["play"] is NSNull } == true)
    let head = try await client.send(.head, "/v1/announcements/p1")
    #expect(head.status == 200 && head.body.isEmpty && head.header("Content-Length") == String(found.body.count))
  }

  @Test("an announcement for the player has its state, and the times when it was accepted and finished")
  func played() async throws {
    let client = try await service.client()
    _ = try await client.post(payment("p1", "12.50", #""deliver":["clip","play"]"#))
    let waiting = try await client.get("/v1/announcements/p1")
    #expect(try waiting.string("delivery.play.state") == "waiting", "its clip is made before the answer")
    #expect(try waiting.string("delivery.play.clip") == waiting.string("clip.name"))
    #expect(try waiting.string("delivery.play.lane") == "counter" && waiting.number("delivery.play.number") != nil)
    #expect(try waiting.value("delivery.play.finished_at") == nil)
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await service.event(.played, of: player)
    let played = try await client.get("/v1/announcements/p1")
    #expect(try played.string("delivery.play.state") == "played" && played.string("delivery.play.finished_at") != nil)
    #expect(try played.number("delivery.play.heard_ms").map { $0 > 0 } == true)
    #expect(
      try Set((played.value("delivery.play") as? [String: Any]).orThrow("a delivery").keys) == [
        "state", "number", "lane", "heard_ms", "accepted_at", "finished_at", "code", "clip",
      ])
  }

  @Test("an unknown announcement and an announcement of another account are not found")
  func others() async throws {
    _ = try await service.client().post(payment())
    let other = try await service.client(account: "other")
    for target in ["/v1/announcements/p1", "/v1/announcements/none", "/v1/announcements/%00"] {
      let answer = try await other.get(target)
      #expect(answer.status == 404 && answer.code == "not_found")
    }
    #expect(try ids(try await other.get("/v1/announcements")).isEmpty)
  }

  @Test("an announcement whose response is pruned can be read while it is in the ledger")
  func pruned() async throws {
    let client = try await service.client()
    _ = try await client.post(payment("p1", "1.00", #""deliver":["play"]"#))
    _ = try await client.post(payment("p2", "2.00"))
    #expect(try await service.ledger.pruneAnswers(before: Date(timeIntervalSinceNow: 60)) == 2)
    let found = try await client.get("/v1/announcements/p1")
    #expect(found.status == 200)
    #expect(try found.string("id") == "p1" && found.value("clip") == nil && found.value("cached") == nil)
    #expect(try found.string("text").map { $0.contains("one dollar") } == true && found.string("locale") == "en-US")
    #expect(try found.string("amount.value") == "1.00" && found.string("kind") == "received")
    #expect(try found.value("delivery.clip") == nil && found.string("delivery.play.state") == "waiting")
    #expect(
      Set(try found.object.keys) == [
        "id", "text", "locale", "method", "voice", "amount", "clip", "loudness_lufs", "marks", "shortened",
        "reproducible", "fallback", "unspoken", "warnings", "cached", "accepted_at", "kind", "payer", "channel", "note",
        "occurred_at", "sequence",
        "refund_of", "delivery",
      ])
    #expect(try await client.get("/v1/announcements/p2").status == 404)
    #expect(try ids(try await client.get("/v1/announcements")) == ["p1"])
    let restarted = try TestService(in: service.folder) { $0.hasPlayer = true }
    let again = TestClient(server: restarted.server, key: client.key)
    let repeated = try await again.post(payment("p1", "1.00", #""deliver":["play"]"#))
    #expect(repeated.status == 201, "the earlier response is no longer stored")
    #expect(try await restarted.ledger.counts(lane: nil)[.waiting] == 1, "it is not played twice")
    #expect(try await again.post(payment("p1", "9.00", #""deliver":["play"]"#)).status == 409)
  }

  @Test("an account's last announcements are listed, newest first, up to the limit")
  func list() async throws {
    let client = try await service.client()
    for number in 0..<5 { _ = try await client.post(payment("p\(number)")) }
    _ = try await service.client(account: "other").post(payment("q"))
    #expect(try ids(try await client.get("/v1/announcements")) == ["p4", "p3", "p2", "p1", "p0"])
    #expect(try ids(try await client.get("/v1/announcements?limit=2")) == ["p4", "p3"])
    #expect(try ids(try await client.get("/v1/announcements?limit=200")).count == 5)
    let one = try await client.get("/v1/announcements?limit=1")
    let alone = try await client.get("/v1/announcements/p4")
    #expect(try one.string("next") != nil)
    let listed = try (one.value("announcements.0") as? [String: Any]).orThrow("an announcement")
    #expect(try Set(alone.object.keys).subtracting(listed.keys) == ["marks"], "A list leaves the words' times out.")
    #expect(try Set(listed.keys).isSubset(of: alone.object.keys))
    for path in ["id", "text", "accepted_at", "clip.name", "clip.sha256"] {
      #expect(try one.string("announcements.0.\(path)") == alone.string(path) && alone.string(path) != nil, "\(path)")
    }
  }

  @Test("each time an announcement is read, its clip's URL is signed anew, and the stored answer keeps the first URL")
  func renewedURL() async throws {
    let client = try await service.client()
    let first = try await client.post(payment("p1"))
    // The time of expiry is in whole seconds.
    let stored = try await service.ledger.announcement(account: "shop", id: "p1")?.answer?.report
    let old = String(decoding: try stored.orThrow("a report"), as: UTF8.self)
    #expect(try old.contains(first.string("clip.url").orThrow("a URL")))
    let text = try await client.get("/v1/announcements/p1").string("clip.url").orThrow("a URL")
    let url = URL(string: text)
    #expect(url?.path().hasPrefix("/v1/clips/") == true && url?.query()?.contains("signature") == true)
    let target = "\(url?.path() ?? "")?\(url?.query() ?? "")"
    #expect(try await service.stranger.get(target).status == 200)
  }

  @Test(
    "an invalid limit for the list of announcements is refused",
    arguments: ["0", "201", "-1", "x", "", "1.5", "+5", "05", "99999999999999999999"])
  func badLimit(limit: String) async throws {
    let answer = try await service.client().get("/v1/announcements?limit=\(limit)")
    #expect(answer.status == 400 && answer.code == "parameter_invalid")
  }
}
