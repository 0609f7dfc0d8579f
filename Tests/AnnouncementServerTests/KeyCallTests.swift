// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HostAddresses
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Keys through the service", .timeLimit(.minutes(5)))
struct KeyCallTests {
  private let service: TestService
  private let admin: TestClient

  init() async throws {
    service = try TestService()
    admin = try await service.client([.admin])
  }

  private func create(
    _ body: String, _ client: TestClient? = nil, _ headers: [String: String] = ["Content-Type": "application/json"]
  ) async throws -> TestAnswer {
    try await (client ?? admin).send(.post, "/v1/keys", headers: headers, body: Data(body.utf8))
  }

  @Test("a key is made with all requested settings, is shown once, and works at once")
  func created() async throws {
    let answer = try await create(
      #"{"scopes":["read","announce"],"account":"till","name":"Till 1","locale":"en-us","group":"group.tills","rate":5,"burst":9,"expires":"90d","addresses":["192.0.2.0/24"],"strict":true}"#
    )
    #expect(answer.status == 201 && answer.header("Cache-Control") == "no-store")
    let key = try APIKey(try answer.string("key").orThrow("a key"))
    #expect(try answer.string("id") == key.id && answer.string("account") == "till")
    #expect(try answer.value("scopes") as? [String] == ["announce", "read"])
    #expect(try answer.string("locale") == "en-US" && answer.string("group") == "group.tills")
    #expect(try answer.number("burst") == 9 && answer.string("addresses.0") == "192.0.2.0/24")
    #expect(try answer.value("strict") as? Bool == true && answer.string("expires_at") != nil)
    let list = try await admin.get("/v1/keys")
    #expect(list.status == 200 && list.header("Cache-Control") == "no-store" && !list.text.contains(key.text))
    #expect(!list.text.contains(key.text.suffix(43)))
    #expect(try list.string("keys.1.id") == key.id && list.string("keys.1.name") == "Till 1")
    let plain = try await create("{}")
    #expect(try plain.value("scopes") as? [String] == ["announce", "read"] && plain.string("account") == "shop")
    let made = try APIKey(try plain.string("key").orThrow("a key"))
    let client = TestClient(server: service.server, key: TestKey(key: made, account: "shop"))
    #expect(try await client.post(payment()).status == 201)
  }

  @Test("the service's list of keys has the same fields for each key as the list of crier keys")
  func line() async throws {
    let entry = try #require(try await admin.get("/v1/keys").value("keys.0") as? [String: Any])
    #expect(Set(entry.keys) == ["id", "account", "scopes", "addresses", "strict", "created_at", "log_name"])
  }

  @Test("the revocation of a key is recorded in the log of administration, and a key cannot revoke itself")
  func revoked() async throws {
    let other = try await service.client([.read], account: "other")
    let id = try other.key.orThrow("a key").key.id
    #expect(try await other.get("/v1/announcements").status == 200)
    let answer = try await admin.send(.delete, "/v1/keys/\(id)")
    #expect(try answer.status == 200 && answer.string("id") == id && answer.string("revoked_at") != nil)
    service.wait(KeyCache.memory)
    #expect(try await other.get("/v1/announcements").code == "key_unknown")
    #expect(try await admin.send(.delete, "/v1/keys/\(id)").string("revoked_at") == answer.string("revoked_at"))
    let own = try admin.key.orThrow("a key").key.id
    #expect(try await admin.send(.delete, "/v1/keys/\(own)").code == "key_in_use")
    for unknown in ["00000000", "x", "%00"] {
      #expect(try await admin.send(.delete, "/v1/keys/\(unknown)").code == "not_found")
    }
    _ = try await create("{}")
    let acts = try await service.ledger.administrativeActs().filter { $0.actor == "key:\(own)" }
    #expect(acts.map(\.action) == [.keyRevoked, .keyCreated] && acts[0].subject == id)
  }

  private func rotate(_ id: String, _ body: String = "", _ client: TestClient? = nil) async throws -> TestAnswer {
    try await (client ?? admin).send(
      .post, "/v1/keys/\(id)/rotate", headers: body.isEmpty ? [:] : ["Content-Type": "application/json"],
      body: Data(body.utf8))
  }

  @Test("a rotated key has a successor with its settings, and both work until the overlap is over")
  func rotated() async throws {
    let made = try await create(#"{"scopes":["till"],"account":"north","name":"Till 1","expires":"90d"}"#)
    let old = try APIKey(try made.string("key").orThrow("a key"))
    let answer = try await rotate(old.id)
    #expect(answer.status == 201 && answer.header("Cache-Control") == "no-store", "\(answer.text)")
    let new = try APIKey(try answer.string("key").orThrow("a key"))
    #expect(try answer.string("account") == "north" && answer.string("name") == "Till 1")
    #expect(try answer.value("scopes") as? [String] == ["till"] && answer.string("expires_at") != nil)
    for key in [old, new] {
      let client = TestClient(server: service.server, key: TestKey(key: key, account: "north"))
      #expect(try await client.get("/v1/me").status == 200)
    }
    let kept = try #require(try await service.ledger.key(id: old.id))
    let end = try #require(kept.expiresAt).timeIntervalSinceNow
    #expect(kept.rotatedTo == new.id && (86_000...86_400).contains(end))
    #expect(try await rotate(old.id).code == "key_not_in_force")
    let last = try await rotate(new.id, #"{"overlap":"0s"}"#)
    #expect(last.status == 201)
    service.wait(KeyCache.memory)
    let ended = TestClient(server: service.server, key: TestKey(key: new, account: "north"))
    #expect(try await ended.get("/v1/me").code == "key_expired")
    let acts = try await service.ledger.administrativeActs().map(\.action)
    // The first act is the creation of the admin's own key.
    #expect(acts.dropFirst() == [.keyCreated, .keyRotated, .keyCreated, .keyRotated, .keyCreated])
  }

  @Test("a rotation is refused for an unknown or revoked key, an invalid body or a missing scope")
  func unrotatable() async throws {
    for unknown in ["00000000", "x", "%00"] { #expect(try await rotate(unknown).code == "not_found") }
    let made = try await create("{}")
    let id = try made.string("id").orThrow("an id")
    for (body, status, code) in [
      ("[]", 400, "payload_malformed"), (#"{"overlap":"soon"}"#, 422, "field_invalid"),
      (#"{"overlap":7}"#, 422, "field_invalid"), (#"{"expires":"7d"}"#, 422, "field_unknown"),
    ] {
      let answer = try await rotate(id, body)
      #expect(answer.status == status && answer.code == code, "\(answer.text)")
    }
    for scope in Scope.ofNewKeys where scope != .admin {
      #expect(try await rotate(id, "", try await service.client([scope])).code == "scope_missing")
    }
    #expect(try await admin.send(.delete, "/v1/keys/\(id)").status == 200)
    #expect(try await rotate(id).code == "not_found")
  }

  @Test("a key with an expiry or an address limit cannot rotate a key with wider limits, and cannot rotate itself")
  func rotationLimits() async throws {
    let key = APIKey.make()
    let day: TimeInterval = 86_400
    try await service.ledger.createKey(
      NewKey(
        id: key.id, account: "shop", digest: key.digest, scopes: ["admin"], expiresAt: Date(timeIntervalSinceNow: day),
        addresses: ["192.0.2.0/24"]))
    let client = TestClient(server: service.server, key: TestKey(key: key, account: "shop"))
    for (id, seconds, addresses, status) in [
      ("aaaaaaaa", nil, ["192.0.2.8"], 409), ("bbbbbbbb", day * 2, ["192.0.2.8"], 409), ("cccccccc", 60, [], 409),
      ("dddddddd", 60, ["192.0.2.8", "192.0.3.1"], 409), ("eeeeeeee", 60, ["192.0.2.8"], 201), (key.id, nil, [], 409),
    ] as [(String, TimeInterval?, [String], Int)] {
      if id != key.id {
        try await service.ledger.createKey(
          NewKey(
            id: id, account: "shop", digest: Data(repeating: UInt8(id.utf8.first ?? 0), count: 32), scopes: ["read"],
            expiresAt: seconds.map { Date(timeIntervalSinceNow: $0) }, addresses: addresses))
      }
      let answer = try await Connection.$current.withValue(Connection(peer: IPAddress("192.0.2.7"))) {
        try await rotate(id, "", client)
      }
      #expect(answer.status == status && (status == 201 || answer.code == "key_limited"), "\(id) \(answer.text)")
    }
  }

  @Test("every key reads its own id, name, account, scopes, limits and expiry, and nothing about other keys")
  func me() async throws {
    for scope in Scope.ofNewKeys {
      let client = try await service.client([scope], account: "north", rate: NewKey.Rate(perSecond: 5, burst: 9))
      let answer = try await client.get("/v1/me")
      #expect(answer.status == 200 && answer.header("Cache-Control") == "no-store")
      #expect(
        try Set(answer.object.keys) == ["id", "name", "account", "scopes", "limits", "expires_at"])
      #expect(try answer.string("id") == client.key?.key.id && answer.string("account") == "north")
      #expect(try answer.value("scopes") as? [String] == [scope.rawValue])
      #expect(try answer.number("limits.rate") == 5 && answer.number("limits.burst") == 9)
      #expect(try answer.value("name") == nil && answer.value("expires_at") == nil)
    }
    #expect(try await service.stranger.get("/v1/me").code == "key_missing")
    #expect(try await admin.get("/v1/me?key=1").code == "parameter_invalid")
    let device = APIKey.make()
    try await service.ledger.createKey(
      NewKey(id: device.id, account: "shop", digest: device.digest, scopes: ["device"], device: "till-1"))
    let own = TestClient(server: service.server, key: TestKey(key: device, account: "shop"))
    #expect(try await own.get("/v1/me").value("scopes") as? [String] == ["device"])
  }

  @Test(
    "an invalid request for a key is refused with the name of the field",
    arguments: [
      (#"{"scopes":[]}"#, "scopes"), (#"{"scopes":["all"]}"#, "scopes"), (#"{"scopes":"read"}"#, "scopes"),
      (#"{"scopes":["device"]}"#, "scopes"), (#"{"scopes":["read","device"]}"#, "scopes"),
      (#"{"account":""}"#, "account"), (#"{"account":"crier:x"}"#, "account"), (#"{"account":7}"#, "account"),
      (#"{"name":"a\u0000b"}"#, "name"), (#"{"pack":"nobody"}"#, "pack"), (#"{"group":".."}"#, "group"),
      (#"{"burst":2}"#, "burst"), (#"{"rate":0}"#, "rate"), (#"{"rate":"5"}"#, "rate"),
      (#"{"rate":1,"burst":1.5}"#, "burst"),
      (#"{"expires":"soon"}"#, "expires"), (#"{"expires":"2020-01-01"}"#, "expires"),
      (#"{"addresses":["192.0.2.1/24"]}"#, "addresses"),
      (#"{"addresses":[7]}"#, "addresses"), (#"{"strict":1}"#, "strict"),
    ])
  func invalid(body: String, field: String) async throws {
    let answer = try await create(body)
    #expect(answer.status == 422 && answer.code == "field_invalid", "\(answer.text)")
    #expect(try answer.string("detail")?.hasPrefix(field) == true, "\(answer.text)")
    #expect(try await service.ledger.keys().count == 1)
  }

  @Test("a request for a key with an invalid body, header or scope is refused with the fault's status and code")
  func refused() async throws {
    for (answer, status, code) in [
      (try await create(#"{"locale":"tlh"}"#), 422, "locale_unknown"),
      (try await create(#"{"scope":["read"]}"#), 422, "field_unknown"),
      (try await create("[]"), 400, "payload_malformed"),
      (try await create("{}", nil, [:]), 415, "media_type_unsupported"),
      (try await create("{}", service.stranger), 401, "key_missing"),
    ] { #expect(answer.status == status && answer.code == code, "\(answer.text)") }
    for scope in [Scope.announce, .read, .play] {
      let client = try await service.client([scope])
      #expect(try await create("{}", client).code == "scope_missing")
      #expect(try await client.get("/v1/keys").code == "scope_missing")
      #expect(try await client.send(.delete, "/v1/keys/00000000").code == "scope_missing")
    }
  }

  @Test("a key with an expiry or an address limit cannot make a key with wider limits")
  func limits() async throws {
    let key = APIKey.make()
    try await service.ledger.createKey(
      NewKey(
        id: key.id, account: "shop", digest: key.digest, scopes: ["admin"],
        expiresAt: Date(timeIntervalSinceNow: 3600), addresses: ["192.0.2.0/24", "2001:db8::/32"]))
    let client = TestClient(server: service.server, key: TestKey(key: key, account: "shop"))
    let connection = Connection(peer: IPAddress("192.0.2.7"))
    let addresses = #""addresses":["192.0.2.8","2001:db8:1::/48"]"#
    for (body, status) in [
      (#"{\#(addresses)}"#, 422), (#"{"expires":"2h",\#(addresses)}"#, 422), (#"{"expires":"30m"}"#, 422),
      (#"{"expires":"30m","addresses":["192.0.2.8","192.0.3.1"]}"#, 422),
      (#"{"expires":"30m","addresses":["192.0.0.0/16"]}"#, 422),
      (#"{"expires":"30m",\#(addresses)}"#, 201),
    ] {
      let answer = try await Connection.$current.withValue(connection) { try await create(body, client) }
      #expect(answer.status == status, "\(body) \(answer.text)")
    }
  }
}
