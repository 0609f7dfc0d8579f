// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import HostAddresses
import Ledger
import QRCodes
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Signing in through the service", .timeLimit(.minutes(5)))
struct SignInCallTests {
  private let service: TestService
  private let admin: TestClient
  private let clock: TestClock

  init() async throws {
    let clock = TestClock()
    self.clock = clock
    service = try TestService {
      $0.settings.publicURL = "https://shop.example/crier/"
      $0.hasPlayer = true
      $0.now = { clock.now }
      // The limit of failures must not recover while the test runs.
      $0.time = { .zero }
    }
    admin = try await service.client([.admin])
  }

  /// A clock of the ledger that the test moves on.
  private final class TestClock: Sendable {
    private let moved = Locked(TimeInterval(0))
    var now: Date { Date(timeIntervalSinceNow: moved.withLock { $0 }) }
    func advance(by seconds: TimeInterval) { moved.withLock { $0 += seconds } }
  }

  private static let body = #"{"scope":"till","name":"Tablet"}"#
  private static let json = ["Content-Type": "application/json"]

  private func make(_ body: String = Self.body, _ client: TestClient? = nil) async throws -> TestAnswer {
    try await (client ?? admin).send(.post, "/v1/sign-in-codes", headers: Self.json, body: Data(body.utf8))
  }

  private func signIn(_ code: String, _ headers: [String: String] = [:]) async throws -> TestAnswer {
    let body = try JSONEncoder().encode(["code": code])
    return try await service.stranger.send(
      .post, "/v1/sign-ins", headers: Self.json.merging(headers) { $1 }, body: body)
  }

  @Test("a sign-in code is exchanged once for a key, and the code and the key appear in no other answer and no log")
  func exchanged() async throws {
    let made = try await make(#"{"scope":"till","name":"Tablet","account":"north","days":30}"#)
    #expect(made.status == 201 && made.header("Cache-Control") == "no-store")
    let code = try made.string("code").orThrow("a code")
    #expect(try made.string("url") == "https://shop.example/crier/#sign-in=\(code)")
    let drawing = try QRCode("https://shop.example/crier/#sign-in=\(code)")
    #expect(try made.number("qr.size") == drawing.size && made.value("qr.rows") as? [String] == drawing.digits)
    #expect(try made.string("scope") == "till" && made.string("account") == "north" && made.number("days") == 30)
    let id = try made.string("id").orThrow("an id")
    let list = try await admin.get("/v1/sign-in-codes")
    #expect(try list.string("sign_in_codes.0.id") == id && !list.text.contains(code))

    let answer = try await signIn(code.uppercased())
    #expect(answer.status == 201 && answer.header("Cache-Control") == "no-store", "\(answer.text)")
    let key = try APIKey(try answer.string("key").orThrow("a key"))
    #expect(try answer.string("id") == key.id && answer.value("scopes") as? [String] == ["till"])
    #expect(try answer.string("account") == "north" && answer.string("name") == "Tablet")
    #expect(!key.text.contains(code) && !answer.text.contains(code))
    let client = TestClient(server: service.server, key: TestKey(key: key, account: "north"))
    let me = try await client.get("/v1/me")
    #expect(try me.string("name") == "Tablet" && me.value("scopes") as? [String] == ["till"])
    #expect(try me.string("expires_at") == answer.string("expires_at"))
    #expect(try await client.get("/v1/playback").status == 200)
    #expect(try await client.post(payment()).code == "scope_missing")

    let again = try await signIn(code)
    #expect(again.status == 401 && again.code == "sign_in_code_used")
    #expect(try await admin.get("/v1/sign-in-codes").text.contains(id) == false)
    let keys = try await admin.get("/v1/keys")
    #expect(try keys.string("keys.1.id") == key.id && keys.string("keys.1.sign_in_code") == id)
    #expect(try keys.string("keys.1.expires_at") != nil && !keys.text.contains(key.text))
    for secret in [code, String(key.text.suffix(43))] {
      #expect(!service.log.lines.contains { $0.contains(secret) })
    }

    #expect(try await admin.send(.delete, "/v1/keys/\(key.id)").status == 200)
    service.wait(KeyCache.memory)
    #expect(try await client.get("/v1/me").code == "key_unknown")
    let own = try admin.key.orThrow("a key").key.id
    let acts = try await service.ledger.administrativeActs().suffix(3)
    #expect(acts.map(\.action) == [.signInCodeCreated, .keyCreated, .keyRevoked])
    #expect(acts.map(\.actor) == ["key:\(own)", "code:\(id)", "key:\(own)"])
  }

  @Test("without a public address, the sign-in link begins with the host that the admin used")
  func host() async throws {
    let service = try TestService()
    let admin = try await service.client([.admin])
    let made = try await make(Self.body, admin)
    #expect(try made.string("url")?.wholeMatch(of: /http:\/\/[a-z.:0-9\[\]]+\/#sign-in=[0-9a-z]{20}/) != nil)
    #expect(try made.string("account") == "shop" && made.number("days") == 365)
  }

  @Test("a sign-in code is refused when it was withdrawn, when its maker's key was revoked, and after 15 minutes")
  func ended() async throws {
    let made = try await make()
    let id = try made.string("id").orThrow("an id")
    #expect(try await admin.send(.delete, "/v1/sign-in-codes/\(id)").string("id") == id)
    #expect(try await admin.send(.delete, "/v1/sign-in-codes/\(id)").code == "not_found")
    #expect(try await signIn(try made.string("code").orThrow("a code")).code == "sign_in_code_unknown")
    let other = try await service.client([.admin])
    let orphan = try await make(Self.body, other).string("code").orThrow("a code")
    try await service.revoke(other)
    #expect(try await signIn(orphan).code == "sign_in_code_unknown")
    let late = try await make().string("code").orThrow("a code")
    clock.advance(by: 15 * 60)
    let answer = try await signIn(late)
    #expect(answer.status == 401 && answer.code == "sign_in_code_expired")
    #expect(try await service.ledger.keys().count == 2)
  }

  @Test("wrong sign-in codes count like wrong keys, and an address above its limit must wait even with a right code")
  func guessing() async throws {
    let code = try await make().string("code").orThrow("a code")
    let address = ["X-Forwarded-For": "192.0.2.9"]
    let connection = Connection(peer: IPAddress("127.0.0.1"))
    try await Connection.$current.withValue(connection) {
      for number in 0..<50 {
        let guess = number.isMultiple(of: 2) ? SignInCode.make().text : "guess"
        #expect(try await signIn(guess, address).code == "sign_in_code_unknown")
      }
      let refused = try await signIn(code, address)
      #expect(refused.status == 429 && refused.code == "too_many_failures" && refused.header("Retry-After") != nil)
      let key = try await service.stranger.get("/v1/me", address.merging(["Authorization": "Bearer x"]) { $1 })
      #expect(key.code == "too_many_failures")
      service.wait(.seconds(5))
      #expect(try await signIn(code, address).status == 201)
    }
  }

  @Test(
    "an invalid request for a sign-in code is refused with the name of the field",
    arguments: [
      (#"{"name":"a"}"#, "scope"), (#"{"scope":"admin","name":"a"}"#, "scope"),
      (#"{"scope":"read","name":"a"}"#, "scope"), (#"{"scope":["till"],"name":"a"}"#, "scope"),
      (#"{"scope":"till"}"#, "name"), (#"{"scope":"till","name":""}"#, "name"),
      (#"{"scope":"till","name":"a\u0000"}"#, "name"), (#"{"scope":"till","name":"a","days":0}"#, "days"),
      (#"{"scope":"till","name":"a","days":3651}"#, "days"), (#"{"scope":"till","name":"a","days":1.5}"#, "days"),
      (#"{"scope":"till","name":"a","account":""}"#, "account"),
      (#"{"scope":"till","name":"a","account":"crier:x"}"#, "account"),
      (#"{"scope":"till","name":"a","expires":"90d"}"#, "expires"),
    ])
  func invalid(body: String, field: String) async throws {
    let answer = try await make(body)
    #expect(answer.status == 422, "\(answer.text)")
    #expect(try answer.string("detail")?.hasPrefix(field) == true, "\(answer.text)")
    #expect(try await service.ledger.signInCodes().isEmpty)
  }

  @Test("only an admin makes, lists and withdraws sign-in codes, and a code gives no more rights than its maker's key")
  func access() async throws {
    for scope in Scope.ofNewKeys where scope != .admin {
      let client = try await service.client([scope])
      #expect(try await make(Self.body, client).code == "scope_missing")
      #expect(try await client.get("/v1/sign-in-codes").code == "scope_missing")
      #expect(try await client.send(.delete, "/v1/sign-in-codes/00000000").code == "scope_missing")
    }
    let key = APIKey.make()
    try await service.ledger.createKey(
      NewKey(
        id: key.id, account: "shop", digest: key.digest, scopes: ["admin"],
        expiresAt: Date(timeIntervalSinceNow: 10 * 86_400), addresses: ["192.0.2.0/24"]))
    let client = TestClient(server: service.server, key: TestKey(key: key, account: "shop"))
    try await Connection.$current.withValue(Connection(peer: IPAddress("192.0.2.7"))) {
      #expect(try await make(Self.body, client).code == "field_invalid")
      #expect(try await make(#"{"scope":"till","name":"a","days":10}"#, client).code == "field_invalid")
      let code = try await make(#"{"scope":"till","name":"a","days":9}"#, client).string("code").orThrow("a code")
      #expect(try await signIn(code).status == 201)
    }
    #expect(try await service.ledger.keys().last?.addresses == ["192.0.2.0/24"])
  }

  @Test("a sign-in with an invalid body or header is refused with the fault's status and code")
  func refused() async throws {
    let stranger = service.stranger
    for (body, headers, status, code) in [
      ("[]", Self.json, 400, "payload_malformed"), ("{}", Self.json, 422, "field_missing"),
      (#"{"code":7}"#, Self.json, 422, "field_invalid"), (#"{"key":"x"}"#, Self.json, 422, "field_unknown"),
      (#"{"code":"x"}"#, [:], 415, "media_type_unsupported"), (#"{"code":""}"#, Self.json, 401, "sign_in_code_unknown"),
      (String(repeating: " ", count: 5000), Self.json, 413, "payload_too_large"),
    ] as [(String, [String: String], Int, String)] {
      let answer = try await stranger.send(.post, "/v1/sign-ins", headers: headers, body: Data(body.utf8))
      #expect(answer.status == status && answer.code == code, "\(answer.text)")
    }
  }
}
