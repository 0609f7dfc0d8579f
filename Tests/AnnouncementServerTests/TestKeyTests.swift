// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import TestSupport
import Testing
import WebhookMessages

@testable import AnnouncementServer

@Suite("Test keys", .timeLimit(.minutes(5)))
struct TestKeyTests {
  private let service: TestService
  private let test: TestClient
  private let shop: TestClient

  init() async throws {
    service = try TestService {
      $0.hasPlayer = true
      $0.pushes = PushParts(clients: [:], lifetime: 3600)
    }
    test = try await service.client([.test])
    shop = try await service.client([.announce, .read, .play])
  }

  private let played = payment("p1", "12.50", #""deliver":["play"]"#)

  @Test("a test key gets the answers of an ordinary key: 201, 200 for a repetition, and 409 for another body")
  func answers() async throws {
    let first = try await test.post(played)
    #expect(first.status == 201, "\(first.text)")
    #expect(try first.string("text") == "Received twelve dollars and fifty cents")
    #expect(
      try first.value("warnings") as? [String]
        == ["deliver: the key has the scope test, so nothing is played or pushed"])
    let again = try await test.post(played)
    #expect(again.status == 200 && again.body == first.body)
    #expect(try await test.post(payment("p1", "13.00", #""deliver":["play"]"#)).code == "id_conflict")
    #expect(try await test.post(#"{"id":"p2"}"#).code == "field_missing")
    let report = try await test.get("/v1/announcements/p1")
    #expect(try report.string("kind") == "received" && report.value("delivery.play") == nil)
    #expect(try await test.get(try #require(try first.string("clip.url")).pathAndQuery).status == 200)
  }

  @Test("a payment with a test key does not wait for the player, and is not played")
  func notPlayed() async throws {
    #expect(try await test.post(played).status == 201)
    #expect(try await service.ledger.events().isEmpty)
    // A payment of the shop comes after the test payment, and is the first on the player.
    #expect(try await shop.post(payment("real", "1.00", #""deliver":["play"]"#)).status == 201)
    #expect(try await Set(service.ledger.events().map(\.number)) == [1])
    #expect(try await service.ledger.entry(account: "shop", id: "real")?.number == 1)
    #expect(try await service.ledger.entry(account: TestAccount.name(of: "shop"), id: "p1") == nil)
  }

  @Test("a payment with a test key is not in the account's list, sum or latest payment, and its id stays free")
  func notCounted() async throws {
    #expect(try await test.post(played).status == 201)
    #expect(try await shop.get("/v1/announcements/p1").status == 404)
    #expect(try await (shop.get("/v1/announcements").value("announcements") as? [Any])?.isEmpty == true)
    #expect(try await (shop.get("/v1/announcements/summary?by=currency").value("groups") as? [Any])?.isEmpty == true)
    #expect(try await service.ledger.latestPayment() == nil)
    #expect(try await shop.post(payment("p1", "99.00")).status == 201)
    #expect(try await service.ledger.latestPayment() != nil)
  }

  @Test("a payment with a test key causes no webhook message of the account")
  func noWebhook() async throws {
    _ = try await service.ledger.register(
      NewWebhookEndpoint(
        account: "shop", url: try WebhookURL("https://shop.example/hooks"), secret: .make()), by: .currentUser)
    #expect(try await test.post(played).status == 201)
    #expect(try await service.ledger.unfinishedWebhooks().isEmpty)
    #expect(try await shop.post(payment("real", "1.00")).status == 201)
    #expect(try await service.ledger.unfinishedWebhooks().count == 1)
  }

  @Test("a test key knows the account's devices and refuses an unknown device, and nothing is pushed")
  func devices() async throws {
    let service = try TestService { $0.pushes = PushParts(clients: [:], lifetime: 3600) }
    let test = try await service.client([.test])
    let unknown = try await test.post(payment("p1", "1.00", #""deliver":["push"],"device":"phone-1""#))
    #expect(unknown.status == 422 && unknown.code == "device_unknown")
    _ = try await service.phone("phone-1")
    // The app of the device is not in the settings, as the answer says to an ordinary key too.
    #expect(
      try await test.post(payment("p1", "1.00", #""deliver":["push"],"device":"phone-1""#)).code
        == "app_not_configured")
    #expect(try await service.ledger.pushCounts().isEmpty)
  }

  @Test("without an output, a request to play with a test key is refused like one with an ordinary key")
  func noOutput() async throws {
    let service = try TestService()
    let answers = [
      try await service.client([.test]).post(played), try await service.client([.announce]).post(played),
    ]
    #expect(
      answers.map(\.status) == [422, 422] && answers.map(\.code) == ["player_unavailable", "player_unavailable"])
  }

  @Test("a test key may not change the devices, webhooks, player or keys of the shop")
  func forbidden() async throws {
    let calls: [(HTTPRequest.Method, String, String)] = [
      (.put, "/v1/devices/phone-1", deviceBody()), (.post, "/v1/webhook-endpoints", #"{"url":"https://a.example"}"#),
      (.post, "/v1/playback/pause", "{}"), (.post, "/v1/playback/replay", "{}"), (.delete, "/v1/playback/p1", ""),
      (.post, "/v1/playback/test", "{}"), (.post, "/v1/keys", "{}"),
    ]
    for (method, path, body) in calls {
      let answer = try await test.send(
        method, path, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
      #expect(answer.status == 403 && answer.code == "scope_missing", "\(method) \(path): \(answer.text)")
    }
  }

  @Test("a test key neither reads nor removes announcements and devices of the shop")
  func foreign() async throws {
    _ = try await service.phone("phone-1")
    #expect(try await shop.post(payment("real", "1.00")).status == 201)
    #expect(try await test.get("/v1/announcements/real").status == 404)
    #expect(try await test.send(.delete, "/v1/announcements/real").status == 404)
    #expect(try await test.get("/v1/devices/phone-1").status == 404)
    #expect(try await test.send(.delete, "/v1/devices/phone-1").status == 404)
    #expect(try await test.send(.post, "/v1/devices/phone-1/test").status == 404)
    #expect(try await shop.get("/v1/announcements/real").status == 200)
    #expect(try await shop.get("/v1/devices/phone-1").status == 200)
  }

  @Test("a request with a test key for the key's own data returns the scope 'test' and the account")
  func me() async throws {
    let answer = try await test.get("/v1/me")
    #expect(try answer.string("account") == "shop" && answer.value("scopes") as? [String] == ["test"])
  }

  @Test("a key cannot have the scope 'test' together with another scope, or with a very long account name")
  func creation() async throws {
    let admin = try await service.client([.admin])
    func create(_ body: String) async throws -> TestAnswer {
      try await admin.send(
        .post, "/v1/keys", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
    }
    for scopes in [#"["test","read"]"#, #"["test","admin"]"#] {
      let answer = try await create(#"{"scopes":\#(scopes)}"#)
      #expect(answer.status == 422 && answer.text.contains("cannot be combined"))
    }
    for (length, status) in [(TestAccount.longestAccount, 201), (TestAccount.longestAccount + 1, 422)] {
      let account = String(repeating: "a", count: length)
      #expect(try await create(#"{"scopes":["test"],"account":"\#(account)"}"#).status == status)
    }
  }
}

extension String {
  /// The path and the query of a URL.
  fileprivate var pathAndQuery: String {
    guard let parts = URLComponents(string: self) else { return "" }
    return parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
  }
}
