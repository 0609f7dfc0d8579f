// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import PushMessages
import ServiceAccess
import SQLiteLedger
import TestSupport
import Testing

@testable import AnnouncementServer

/// A token of APNs that repeats one digit.
func deviceToken(_ digit: Character) -> String { String(repeating: digit, count: 64) }

/// The body of a registration.
func deviceBody(_ more: String = "", tokens: String? = nil) -> String {
  let tokens = tokens ?? #"{"alert":"\#(deviceToken("a"))"}"#
  return
    #"{"bundle_id":"com.example.shop","environment":"production","tokens":\#(tokens)\#(more.isEmpty ? "" : ",")\#(more)}"#
}

extension TestClient {
  /// Registers a device.
  func put(_ id: String, _ body: String = deviceBody()) async throws -> TestAnswer {
    try await send(.put, "/v1/devices/\(id)", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }
}

extension TestService {
  /// Registers a device, and returns a client with its own key.
  func phone(_ id: String = "phone-1", account: String = "shop", _ body: String = deviceBody(tokens: "{}")) async throws
    -> TestClient
  {
    let answer = try await client([.announce], account: account).put(id, body)
    let key = try APIKey(try answer.string("key").orThrow("a key"))
    return TestClient(server: server, key: TestKey(key: key, account: account), log: log)
  }
}

@Suite("Devices through the service", .timeLimit(.minutes(5)))
struct DeviceCallTests {
  private let service: TestService
  private let backend: TestClient

  init() async throws {
    service = try TestService()
    backend = try await service.client([.announce, .read])
  }

  private func problem(_ answer: TestAnswer, _ status: Int, _ code: String) -> Bool {
    answer.status == status && answer.code == code
  }

  // MARK: Registering

  @Test(
    "a device is registered with all fields of the request, and gets a key only once; answers never contain its tokens")
  func registered() async throws {
    let tokens =
      #"{"alert":"\#(deviceToken("A"))","background":"\#(deviceToken("b"))","fileprovider":"\#(deviceToken("c"))","fileprovider_extension":"\#(deviceToken("d"))"}"#
    let body = deviceBody(
      #""group":"group.tills","device_group":"总店","locale":"en-us","tone":"cash.wav","new_key":false"#, tokens: tokens)
    let answer = try await backend.put("till.1_a:b-2", body)
    #expect(answer.status == 201 && answer.header("Cache-Control") == "no-store", "\(answer.text)")
    let key = try APIKey(try answer.string("key").orThrow("a key"))
    #expect(try answer.string("id") == "till.1_a:b-2" && answer.string("key_id") == key.id)
    #expect(try answer.string("bundle_id") == "com.example.shop" && answer.string("environment") == "production")
    #expect(try answer.string("group") == "group.tills" && answer.string("device_group") == "总店")
    #expect(try answer.string("locale") == "en-US" && answer.string("tone") == "cash.wav")
    #expect(try answer.number("last_sequence") == 0 && answer.string("registered_at") != nil)
    let kinds = try #require(try answer.value("tokens") as? [String: Any])
    #expect(Set(kinds.keys) == ["alert", "background", "fileprovider", "fileprovider_extension"])
    #expect(try answer.number("tokens.alert.refusals") == 0 && answer.string("tokens.alert.registered_at") != nil)
    let stored = try #require(try await service.ledger.device(account: "shop", id: "till.1_a:b-2"))
    #expect(stored.tokens[.alert]?.text == deviceToken("a"), "in lower case")
    #expect(stored.tokens[.fileProviderExtension]?.text == deviceToken("d"))

    let own = TestClient(server: service.server, key: TestKey(key: key, account: "shop"))
    for (client, target) in [
      (backend, "/v1/devices"), (backend, "/v1/devices/till.1_a:b-2"), (own, "/v1/devices/till.1_a:b-2"),
    ] {
      let shown = try await client.get(target)
      #expect(shown.status == 200 && shown.header("Cache-Control") == "no-store")
      for digit in "aAbcd" {
        #expect(!shown.text.contains(deviceToken(digit)) && !answer.text.contains(deviceToken(digit)))
      }
      #expect(!shown.text.contains(key.text.suffix(43)))
    }
    let created = try await service.ledger.administrativeActs().last
    #expect(
      try created?.action == .keyCreated && created?.subject == key.id
        && created?.actor == "key:\(backend.key.orThrow("a key").key.id)")
  }

  @Test("another registration of a device replaces all earlier fields, and is answered with 200 and without a key")
  func replaced() async throws {
    _ = try await backend.put("phone-1", deviceBody(#""locale":"en-US","tone":"cash.wav","device_group":"counter""#))
    let again = try await backend.put(
      "phone-1", deviceBody(tokens: #"{"background":"\#(deviceToken("b"))","alert":null}"#))
    #expect(again.status == 200, "\(again.text)")
    let keys = try Set(again.object.keys)
    #expect(keys.isDisjoint(with: ["key", "locale", "tone", "device_group"]))
    #expect(try (again.value("tokens") as? [String: Any])?.keys.sorted() == ["background"])
    let changed = try await backend.put(
      "phone-1", deviceBody(#""locale":"ja-JP""#).replacing("production", with: "sandbox"))
    #expect(
      try changed.status == 200 && changed.string("environment") == "sandbox" && changed.string("locale") == "ja-JP")
  }

  @Test("a device gets a new key on request, and its former key becomes invalid")
  func renewed() async throws {
    let phone = try await service.phone()
    let answer = try await backend.put("phone-1", deviceBody(#""new_key":true"#))
    let key = try APIKey(try answer.string("key").orThrow("a key"))
    #expect(try answer.status == 200 && answer.string("key_id") == key.id)
    service.wait(KeyCache.memory)
    #expect(try await phone.get("/v1/devices/phone-1").code == "key_unknown")
    let renewed = TestClient(server: service.server, key: TestKey(key: key, account: "shop"))
    #expect(try await renewed.get("/v1/devices/phone-1").status == 200)
    // The device may renew its key itself, and a new device gets one key, not two.
    let own = try await renewed.put("phone-1", deviceBody(#""new_key":true"#))
    #expect(try own.status == 200 && own.string("key") != nil)
    #expect(try await backend.put("phone-2", deviceBody(#""new_key":true"#, tokens: "{}")).status == 201)
    #expect(try await service.ledger.keys().filter { $0.device == "phone-2" }.count == 1)
  }

  @Test(
    "an invalid registration of a device is refused with the name of the field and without its value",
    arguments: [
      (deviceBody().replacing("production", with: "Production"), "environment"),
      (deviceBody().replacing(#""production""#, with: "null"), "environment"),
      (deviceBody().replacing(#""production""#, with: "1"), "environment"),
      (deviceBody().replacing("com.example.shop", with: "com.example.shop "), "bundle_id"),
      (deviceBody().replacing("com.example.shop", with: ""), "bundle_id"),
      (deviceBody().replacing("com.example.shop", with: ".pushkit"), "bundle_id"),
      (deviceBody(tokens: #"["\#(deviceToken("a"))"]"#), "tokens"), (deviceBody(tokens: "null"), "tokens"),
      (deviceBody(tokens: #"{"alert":"\#(deviceToken("g"))"}"#), "tokens.alert"),
      (deviceBody(tokens: #"{"alert":"\#(deviceToken("a"))a"}"#), "tokens.alert"),
      (deviceBody(tokens: #"{"alert":"<aaaaaaaa aaaaaaaa>"}"#), "tokens.alert"),
      (deviceBody(tokens: #"{"background":""}"#), "tokens.background"),
      (deviceBody(tokens: #"{"fileprovider":"abab"}"#), "tokens.fileprovider"),
      (deviceBody(tokens: #"{"fileprovider_extension":12}"#), "tokens.fileprovider_extension"),
      (deviceBody(tokens: #"{"alert":{"token":"\#(deviceToken("a"))"}}"#), "tokens.alert"),
      (deviceBody(#""group":"..""#), "group"), (deviceBody(#""group":"a/b""#), "group"),
      (deviceBody(#""device_group":"""#), "device_group"), (deviceBody(#""device_group":"a\u0000""#), "device_group"),
      (deviceBody(#""device_group":"\#(String(repeating: "店", count: 43))""#), "device_group"),
      (deviceBody(#""locale":7"#), "locale"), (deviceBody(#""tone":"../a.wav""#), "tone"),
      (deviceBody(#""tone":"bell""#), "tone"), (deviceBody(#""tone":"bell.mp3""#), "tone"),
      (deviceBody(#""tone":"""#), "tone"), (deviceBody(#""new_key":"yes""#), "new_key"),
    ])
  func invalid(body: String, field: String) async throws {
    let answer = try await backend.put("phone-1", body)
    #expect(problem(answer, 422, "field_invalid"), "\(answer.text)")
    #expect(try answer.string("detail")?.hasPrefix("\(field): ") == true, "\(answer.text)")
    for digit in "ag" { #expect(!answer.text.contains(String(repeating: digit, count: 16))) }
    #expect(try await service.ledger.devices(account: "shop", after: "", limit: 100).isEmpty)
    #expect(try await service.ledger.keys().count == 1)
  }

  @Test(
    "a device's registration with an invalid body, id, header, query or key is refused with the fault's status and code"
  )
  func refused() async throws {
    let plain = try await backend.send(.put, "/v1/devices/phone-1", body: Data(deviceBody().utf8))
    let query = try await backend.send(
      .put, "/v1/devices/phone-1?new_key=true", headers: ["Content-Type": "application/json"],
      body: Data(deviceBody().utf8))
    for (answer, status, code) in [
      (try await backend.put("phone-1", deviceBody(#""locale":"tlh""#)), 422, "locale_unknown"),
      (try await backend.put("phone-1", deviceBody(#""bundle":"com.example.shop""#)), 422, "field_unknown"),
      (
        try await backend.put("phone-1", deviceBody(tokens: #"{"Alert":"\#(deviceToken("a"))"}"#)), 422, "field_unknown"
      ),
      (try await backend.put("phone-1", "{}"), 422, "field_missing"),
      (try await backend.put("phone-1", #"{"bundle_id":"a","environment":"sandbox"}"#), 422, "field_missing"),
      (try await backend.put("phone-1", "[]"), 400, "payload_malformed"),
      (try await backend.put("phone-1", deviceBody(#""tone":"a","tone":"b""#)), 400, "payload_malformed"),
      (try await backend.put("phone-1", deviceBody() + String(repeating: " ", count: 4096)), 413, "payload_too_large"),
      (try await backend.put(String(repeating: "x", count: 129)), 422, "field_invalid"),
      (try await backend.put("%2E%2E"), 422, "field_invalid"), (try await backend.put("a%2Fb"), 422, "field_invalid"),
      (try await backend.put("a%00"), 422, "field_invalid"), (try await backend.put("%E5%BA%97"), 422, "field_invalid"),
      (plain, 415, "media_type_unsupported"), (query, 400, "parameter_invalid"),
      (try await service.stranger.put("phone-1"), 401, "key_missing"),
      (try await service.client([.read, .play]).put("phone-1"), 403, "scope_missing"),
    ] { #expect(problem(answer, status, code), "\(answer.text)") }
    let misspelt = try await backend.put("phone-1", deviceBody(tokens: #"{"alerts":"\#(deviceToken("a"))"}"#))
    #expect(
      try misspelt.string("detail")?.hasPrefix("tokens.alerts: is not a key of this call; did you mean alert?") == true)
    #expect(try await service.ledger.devices(account: "shop", after: "", limit: 100).isEmpty)
  }

  @Test("a device and a group of devices never have the same name in an account")
  func names() async throws {
    #expect(try await backend.put("a", deviceBody(#""device_group":"counter""#, tokens: "{}")).status == 201)
    for (id, more) in [("counter", ""), ("b", #""device_group":"a""#), ("b", #""device_group":"b""#)] {
      #expect(problem(try await backend.put(id, deviceBody(more, tokens: "{}")), 409, "device_name_taken"))
    }
    #expect(try await service.client([.announce], account: "kiosk").put("counter").status == 201)
  }

  @Test("an account with the maximum number of devices cannot register another device")
  func most() async throws {
    let service = try TestService { $0.ledger.limits.mostDevices = 2 }
    let backend = try await service.client([.announce])
    for id in ["a", "b"] { #expect(try await backend.put(id, deviceBody(tokens: "{}")).status == 201) }
    #expect(problem(try await backend.put("c"), 409, "too_many_devices"))
    #expect(try await backend.put("b").status == 200)
    #expect(try await service.client([.announce], account: "kiosk").put("c").status == 201)
  }

  // MARK: Listing and removing

  @Test("the list of devices has pages, and contains only the account's devices")
  func listing() async throws {
    for id in ["b", "a", "c"] { _ = try await backend.put(id, deviceBody(tokens: "{}")) }
    _ = try await service.phone("d", account: "kiosk")
    func ids(_ answer: TestAnswer) throws -> [String] {
      (try answer.value("devices") as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }
    let all = try await backend.get("/v1/devices")
    #expect(try ids(all) == ["a", "b", "c"] && all.object["next"] == nil)
    let first = try await backend.get("/v1/devices?limit=2")
    #expect(try ids(first) == ["a", "b"] && first.string("next") == "b")
    let last = try await backend.get("/v1/devices?after=b&limit=2")
    #expect(try ids(last) == ["c"] && last.object["next"] == nil)
    #expect(try await ids(backend.get("/v1/devices?after=c")).isEmpty)
    for query in ["limit=0", "limit=201", "limit=x", "before=a"] {
      #expect(problem(try await backend.get("/v1/devices?\(query)"), 400, "parameter_invalid"), "\(query)")
    }
  }

  @Test("the key of a removed device is removed too, and the device cannot register itself again")
  func removed() async throws {
    let phone = try await service.phone()
    _ = try await service.phone("phone-1", account: "kiosk")
    #expect(problem(try await backend.send(.delete, "/v1/devices/nobody"), 404, "not_found"))
    let answer = try await backend.send(.delete, "/v1/devices/phone-1")
    #expect(try answer.status == 200 && answer.string("id") == "phone-1")
    // The key may be in the cache for a moment longer.
    #expect(problem(try await phone.put("phone-1", deviceBody(tokens: "{}")), 401, "key_unknown"))
    #expect(problem(try await backend.send(.delete, "/v1/devices/phone-1"), 404, "not_found"))
    #expect(problem(try await backend.get("/v1/devices/phone-1"), 404, "not_found"))
    service.wait(KeyCache.memory)
    #expect(try await phone.get("/v1/devices/phone-1").code == "key_unknown")
    #expect(try await service.ledger.devices(account: "shop", after: "", limit: 100).isEmpty)
    #expect(try await service.ledger.device(account: "kiosk", id: "phone-1") != nil)
    // A phone may remove itself.
    let other = try await service.phone("phone-2")
    #expect(try await other.send(.delete, "/v1/devices/phone-2").status == 200)
  }

  @Test("a request for a device of another account gets the answer for a device that does not exist")
  func otherAccount() async throws {
    _ = try await service.phone()
    let stranger = try await service.client(account: "kiosk")
    for target in ["/v1/devices/phone-1", "/v1/devices/nobody"] {
      for path in [target, "\(target)/announcements"] {
        #expect(problem(try await stranger.get(path), 404, "not_found"))
      }
      #expect(problem(try await stranger.send(.delete, target), 404, "not_found"))
    }
    #expect(try await stranger.get("/v1/devices").text == #"{"devices":[]}"#)
    #expect(try await stranger.put("phone-1").status == 201, "it is another device")
    #expect(try await service.ledger.device(account: "shop", id: "phone-1")?.tokens.isEmpty == true)
  }
}
