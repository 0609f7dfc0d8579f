// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import PushMessages
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The key of a device", .timeLimit(.minutes(5)))
struct DeviceKeyTests {
  private let service: TestService
  private let backend: TestClient

  init() async throws {
    service = try TestService()
    backend = try await service.client([.announce, .read])
  }

  /// Pushes announcements to a device.
  private func push(_ ids: [String?], to device: String = "phone-1", account: String = "shop") async throws {
    for id in ids {
      let push = NewPush(
        device: device, kind: .alert, priority: 10, expiresAt: Date(timeIntervalSinceNow: 3600),
        body: NewPush.Body(
          beforeSequence: Data(#"{"crier":{"amount":"12.50","sequence":"#.utf8), afterSequence: Data("}}".utf8)))
      guard let id else {
        try await service.ledger.accept([push], account: account)
        continue
      }
      _ = try await service.ledger.accept(
        answer: NewAnswer(
          account: account, key: "id:\(id)", bodyDigest: Data(count: 32), id: id, status: 201, report: Data("{}".utf8)),
        pushing: [push])
    }
  }

  @Test("the key of a device reads and changes only its own device, and does not reveal whether other devices exist")
  func own() async throws {
    let phone = try await service.phone()
    _ = try await service.phone("phone-2")
    let clip = try await backend.post(payment("p1"))
    #expect(clip.status == 201)
    #expect(try await phone.get("/v1/devices/phone-1").string("id") == "phone-1")
    #expect(try await phone.put("phone-1", deviceBody(#""locale":"ja-JP""#)).string("locale") == "ja-JP")
    #expect(try await phone.get("/v1/devices/phone-1/announcements").status == 200)
    let refused: [(HTTPRequest.Method, String)] = [
      (.get, "/v1/devices"), (.get, "/v1/devices/phone-2"), (.put, "/v1/devices/phone-2"),
      (.delete, "/v1/devices/phone-2"), (.get, "/v1/devices/phone-2/announcements"), (.get, "/v1/devices/nobody"),
      (.put, "/v1/devices/nobody"), (.delete, "/v1/devices/nobody"), (.get, "/v1/devices/nobody/announcements"),
      (.get, "/v1/devices/PHONE-1"), (.get, "/v1/announcements"), (.get, "/v1/announcements/p1"),
      (.get, "/v1/announcements/phone-1"), (.post, "/v1/announcements"), (.delete, "/v1/announcements/p1"),
      (.post, "/v1/previews"), (.post, "/v1/audio/speech"), (.get, "/v1/playback"), (.post, "/v1/playback/pause"),
      (.delete, "/v1/playback/phone-1"),
      (.get, "/v1/events"), (.get, "/v1/batches"), (.post, "/v1/batches"), (.get, "/v1/keys"), (.post, "/v1/keys"),
      (.delete, "/v1/keys/phone-1"), (.get, "/v1/locales"), (.get, "/v1/voices"), (.get, "/v1/packs"),
      (.get, "/v1/packs/phone-1/clips"), (.put, "/v1/packs/phone-1/clips/phone-1"),
    ]
    var details: Set<String> = []
    for (method, target) in refused {
      let answer = try await phone.send(method, target, headers: ["Content-Type": "application/json"])
      #expect(answer.status == 403 && answer.code == "scope_missing", "\(method) \(target): \(answer.text)")
      if target.hasPrefix("/v1/devices/"), method == .get { details.insert(try answer.string("detail") ?? "") }
    }
    #expect(details.count == 1)
    #expect(try await service.ledger.device(account: "shop", id: "phone-2") != nil)
  }

  @Test("the key of a device gives no access to a device with the same id in another account")
  func otherAccount() async throws {
    _ = try await service.phone()
    let other = try await service.phone("phone-1", account: "kiosk")
    try await push(["A"])
    #expect(try await other.get("/v1/devices/phone-1/announcements").number("last_sequence") == 0)
    #expect(try await other.put("phone-1", deviceBody(#""locale":"ja-JP""#)).status == 200)
    #expect(try await service.ledger.device(account: "shop", id: "phone-1")?.locale == nil)
    #expect(try await other.send(.delete, "/v1/devices/phone-1").status == 200)
    #expect(try await service.ledger.device(account: "shop", id: "phone-1") != nil)
  }

  @Test("a device cannot put itself into a group, and stays in the group that the backend chose")
  func group() async throws {
    let phone = try await service.phone("phone-1", deviceBody(#""device_group":"counter""#, tokens: "{}"))
    for group in ["kitchen", "counter"] {
      let answer = try await phone.put("phone-1", deviceBody(#""device_group":"\#(group)""#))
      #expect(
        try answer.status == 422 && answer.string("detail")?.hasPrefix("device_group: ") == true, "\(answer.text)")
    }
    #expect(try await phone.put("phone-1").string("device_group") == "counter")
    #expect(try await backend.put("phone-1").object["device_group"] == nil)
  }

  @Test("the key of a device fetches only clips that were pushed to the device, and every other clip gets 404")
  func clips() async throws {
    let phone = try await service.phone()
    let own = try await backend.post(payment("p1", "12.50")).string("clip.name").orThrow("a clip")
    let others = try await service.client(account: "kiosk").post(payment("p1", "99.99"))
    let name = try others.string("clip.name").orThrow("a clip")
    #expect(try await phone.get("/v1/clips/\(own)").status == 404, "it was not pushed")
    try await service.ledger.accept(
      [
        NewPush(
          device: "phone-1", kind: .alert, priority: 10, clip: own, expiresAt: Date() + 3600,
          body: NewPush.Body(Data("{}".utf8)))
      ], account: "shop")
    for client in [phone, backend] {
      let answer = try await client.get("/v1/clips/\(own)")
      #expect(answer.status == 200 && answer.header("Content-Type") == "audio/wav")
    }
    #expect(try await phone.get("/v1/clips/\(own)", ["Range": "bytes=0-9"]).status == 206)
    #expect(try await phone.send(.head, "/v1/clips/\(own)").status == 200)
    let hidden = try await phone.get("/v1/clips/\(name)")
    let missing = try await phone.get("/v1/clips/\(String(repeating: "0", count: 64)).wav")
    #expect(hidden.status == 404 && missing.status == 404)
    #expect(try hidden.string("detail") == missing.string("detail"))
    #expect(try await phone.send(.head, "/v1/clips/\(name)").status == 404)
    // Anybody who has a signed URL can use it.
    let url = try #require(try others.string("clip.url").flatMap { URL(string: $0) })
    #expect(try await service.stranger.get("\(url.path)?\(url.query ?? "")").status == 200)
    #expect(try await phone.get("\(url.path)?\(url.query ?? "")").status == 404)
    // Clips in memory are served without the usual path, but not to a device.
    _ = try await backend.get("/v1/clips/\(name)")
    #expect(try await phone.get("/v1/clips/\(name)").status == 404)
  }

  @Test(
    "no request can make a key with the scope 'device', and a key with this scope but without a device has no access")
  func scope() async throws {
    let admin = try await service.client([.admin])
    for scopes in [#"["device"]"#, #"["read","device"]"#] {
      let answer = try await admin.send(
        .post, "/v1/keys", headers: ["Content-Type": "application/json"], body: Data(#"{"scopes":\#(scopes)}"#.utf8))
      #expect(answer.status == 422 && answer.code == "field_invalid")
      #expect(try answer.string("detail")?.contains("PUT /v1/devices/{id}") == true)
    }
    _ = try await service.phone()
    let forged = try await service.client([.device])
    #expect(try await forged.get("/v1/devices/phone-1").code == "scope_missing")
    #expect(try await forged.get("/v1/clips/a.wav").code == "scope_missing")
    // If the ledger has further scopes for the key of a device, these scopes have no effect.
    let key = APIKey.make()
    try await service.ledger.createKey(
      NewKey(id: key.id, account: "shop", digest: key.digest, scopes: ["device", "read", "admin"], device: "phone-1"))
    let greedy = TestClient(server: service.server, key: TestKey(key: key, account: "shop"))
    #expect(try await greedy.get("/v1/devices/phone-1").status == 200)
    for target in ["/v1/devices", "/v1/keys", "/v1/announcements"] {
      #expect(try await greedy.get(target).code == "scope_missing")
    }
  }

  @Test("the list of keys shows the device to which a key belongs")
  func keyList() async throws {
    _ = try await service.phone()
    let keys = try await service.client([.admin]).get("/v1/keys").value("keys") as? [[String: Any]] ?? []
    #expect(keys.compactMap { $0["device"] as? String } == ["phone-1"])
    #expect(keys.first { $0["device"] != nil }?["scopes"] as? [String] == ["device"])
  }

  // MARK: Catching up

  @Test("a device reads the announcements that were pushed after a sequence number, with their payloads")
  func catchUp() async throws {
    let phone = try await service.phone()
    _ = try await service.phone("phone-2")
    try await push(["A", "B"])
    try await push(["elsewhere"], to: "phone-2")
    try await push([nil, "D"])
    let number = try #require(try await service.ledger.pushes(account: "shop", announcement: "A").first?.number)
    try await service.ledger.finishPush(number, .delivered, reason: nil)
    for client in [phone, backend] {
      let all = try await client.get("/v1/devices/phone-1/announcements")
      #expect(all.status == 200 && all.header("Cache-Control") == "no-store", "\(all.text)")
      let list = try #require(try all.value("announcements") as? [[String: Any]])
      #expect(list.map { $0["sequence"] as? Int } == [1, 2, 3, 4])
      #expect(list.map { $0["id"] as? String } == ["A", "B", nil, "D"])
      #expect(list.map { $0["state"] as? String } == ["delivered", "waiting", "waiting", "waiting"])
      #expect(try all.string("announcements.0.pushed_at")?.isEmpty == false)
      #expect(try all.string("announcements.3.payload.crier.amount") == "12.50")
      #expect(try all.number("announcements.3.payload.crier.sequence") == 4)
      #expect(try all.number("last_sequence") == 4)
    }
    let part = try await phone.get("/v1/devices/phone-1/announcements?after=1&limit=2")
    #expect(try part.string("announcements.0.id") == "B" && part.number("announcements.1.sequence") == 3)
    #expect(try part.value("announcements.2") == nil && part.number("last_sequence") == 4)
    let none = try await phone.get("/v1/devices/phone-1/announcements?after=4")
    #expect(none.text == #"{"announcements":[],"last_sequence":4}"#)
    #expect(try await phone.get("/v1/devices/phone-1/announcements?after=9007199254740991").text == none.text)
    for query in [
      "after=-1", "after=x", "after=9007199254740993", "after=99999999999999999999", "limit=0", "limit=201", "from=1",
    ] {
      let answer = try await phone.get("/v1/devices/phone-1/announcements?\(query)")
      #expect(answer.status == 400 && answer.code == "parameter_invalid", "\(query)")
    }
    #expect(try await backend.get("/v1/devices/nobody/announcements").status == 404)
    #expect(try await service.client([.announce]).get("/v1/devices/phone-1/announcements").status == 403)
  }

  @Test("a device with the id of a removed device cannot read the announcements of the former device")
  func sameName() async throws {
    _ = try await service.phone()
    try await push(["A", "B"])
    #expect(try await backend.send(.delete, "/v1/devices/phone-1").status == 200)
    let phone = try await service.phone()
    #expect(
      try await phone.get("/v1/devices/phone-1/announcements").text == #"{"announcements":[],"last_sequence":2}"#)
    #expect(try await phone.get("/v1/devices/phone-1").number("last_sequence") == 2)
  }

  @Test("an announcement with an unfinished push is not removed, and a removed announcement is not listed")
  func removal() async throws {
    let phone = try await service.phone()
    try await push(["A"])
    let refused = try await backend.send(.delete, "/v1/announcements/A")
    #expect(refused.status == 409 && refused.code == "not_ended")
    let number = try #require(try await service.ledger.pushes(account: "shop", announcement: "A").first?.number)
    try await service.ledger.finishPush(number, .expired, reason: nil)
    #expect(try await backend.send(.delete, "/v1/announcements/A").status == 200)
    #expect(
      try await phone.get("/v1/devices/phone-1/announcements").text == #"{"announcements":[],"last_sequence":1}"#)
  }
}
