// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Announcements
import Crypto
import Foundation
import HTTPTypes
import Ledger
import PushDelivery
import PushMessages
import ServiceAccess
import SoundOutputTestSupport
import SQLiteLedger
import TestSupport
import Testing

@testable import AnnouncementServer

/// Announcements that are pushed to phones, through the simulator of APNs.
@Suite("Pushing announcements")
struct PushDeliveryCallTests {
  private static let key = P256.Signing.PrivateKey()
  static let tokens = [String(repeating: "ab", count: 32), String(repeating: "cd", count: 32)]

  /// A service that pushes to the app `com.example.shop` through a simulator.
  func service(
    _ simulator: APNSSimulator, lifetime: TimeInterval = 3600, hasPlayer: Bool = false
  ) throws -> TestService {
    let folder = try TemporaryFolder()
    let authority = folder.url.appending(path: "ca.pem")
    try Data(simulator.certificateAuthority.utf8).write(to: authority)
    let server = PushServer(host: "localhost", port: simulator.port, trustRoots: authority)
    let key = try PushDelivery.ProviderKey(pem: Self.key.pemRepresentation, id: "ABC123DEFG", team: "TEAM123456")
    let client = PushClient(connections: try PushConnections(server: server), tokens: ProviderTokens(key: key))
    let app = PushSchedule.App(bundleID: "com.example.shop", environment: .production)
    return try TestService(in: folder) {
      $0.pushes = PushParts(clients: [app: client], lifetime: lifetime)
      $0.hasPlayer = hasPlayer
    }
  }

  func register(
    _ id: String, _ token: String?, in service: TestService, locale: String? = nil, group: String? = nil,
    app: String = "com.example.shop"
  ) async throws {
    let key = APIKey.make()
    _ = try await service.ledger.register(
      NewDevice(
        account: "shop", id: id, app: app, environment: .production, deviceGroup: group, locale: locale,
        tokens: token.map { [.alert: $0] } ?? [:]),
      key: NewKey(id: key.id, account: "shop", digest: key.digest, scopes: ["device"], device: id), renewsKey: false,
      with: nil, by: .currentUser)
  }

  struct State: Decodable {
    struct Delivery: Decodable { var push: [Push]? }
    struct Push: Decodable {
      var device: String
      var state: String
      var reason: String?
      var sequence: Int?
    }
    var delivery: Delivery
  }

  /// Waits until all pushes of an announcement have ended.
  func outcome(of id: String, _ client: TestClient) async throws -> [State.Push] {
    var pushes: [State.Push] = []
    try await eventually {
      let answer = try await client.get("/v1/announcements/\(id)")
      pushes = try JSONDecoder().decode(State.self, from: answer.body).delivery.push ?? []
      return !pushes.isEmpty && pushes.allSatisfy { !["waiting", "sending"].contains($0.state) }
    }
    return pushes
  }

  private struct Payload: Decodable {
    struct Notification: Decodable {
      struct Alert: Decodable {
        var title: String?
        var body: String?
      }
      var alert: Alert
      var sound: String
    }
    struct Content: Decodable {
      struct Clip: Decodable {
        var url: String
        var sha256: String
        var bytes: Int
      }
      var id: String
      var sequence: Int
      var locale: String
      var amount: String
      var currency: String
      var clip: Clip
    }
    var aps: Notification
    var crier: Content
  }

  @Test("a phone gets a notification in its language, with the amount and a clip with the right digest")
  func delivered() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service, locale: "zh-CN")
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    for number in 1...3 {
      let answer = try await client.post(payment("p\(number)", "12.50", #""deliver":["push"],"device":"phone""#))
      #expect(answer.status == 201)
      let pushes = try await outcome(of: "p\(number)", client)
      #expect(pushes.map(\.state) == ["delivered"])
      #expect(pushes.map(\.sequence) == [number])
    }
    let received = simulator.deliveries(to: Self.tokens[0])
    #expect(received.count == 3)
    for (index, push) in received.enumerated() {
      let payload = try JSONDecoder().decode(Payload.self, from: Data(push.payload))
      #expect(payload.crier.sequence == index + 1)
      #expect(payload.crier.id == "p\(index + 1)")
      #expect(payload.crier.locale == "zh-CN")
      #expect(payload.crier.amount == "12.50" && payload.crier.currency == "USD")
      #expect(payload.aps.alert.title?.contains("12.50") == true)
      let url = try #require(URLComponents(string: payload.crier.clip.url))
      let clip = try await service.stranger.get("\(url.percentEncodedPath)?\(url.percentEncodedQuery ?? "")")
      #expect(clip.body.count == payload.crier.clip.bytes)
      let digest = SHA256.hash(data: clip.body).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      #expect(digest == payload.crier.clip.sha256)
      #expect(payload.aps.sound == url.path.split(separator: "/").last.map(String.init))
    }
    await simulator.stop()
  }

  @Test("an announcement that is both pushed and played has one clip, in the language of the report")
  func playedToo() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator, hasPlayer: true)
    try await register("phone", Self.tokens[0], in: service, locale: "zh-CN")
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    service.output.hearAll()
    let player = try await service.startPlayer()
    let answer = try await client.post(payment("p1", "12.50", #""deliver":["play","push"],"device":"phone""#))
    #expect(answer.status == 201)
    #expect(try answer.string("locale") == "zh-CN")
    try await service.event(.played, of: player)
    _ = try await outcome(of: "p1", client)
    let state = try await client.get("/v1/announcements/p1")
    let name = try answer.string("clip.name")
    #expect(try state.string("delivery.play.clip") == name)
    let (heard, reported) = (
      try state.number("delivery.play.heard_ms").orThrow("a length"),
      try answer.number("clip.duration_ms").orThrow("a length")
    )
    #expect(abs(heard - reported) <= 1)
    let pushed = try #require(simulator.deliveries(to: Self.tokens[0]).first)
    let payload = try JSONDecoder().decode(Payload.self, from: Data(pushed.payload))
    #expect(payload.aps.sound == name && payload.crier.locale == "zh-CN")
    #expect(service.clips() == [name], "nothing was made twice")
  }

  @Test("the sequence number of a push replaces only its placeholder, even if the push's texts have the same digits")
  func digits() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    let id = String(Int64.max)
    let body = #"{"id":"\#(id)","text":"\#(id)","deliver":["push"],"device":"phone"}"#
    #expect(try await client.post(body).status == 201)
    #expect(try await outcome(of: id, client).map(\.state) == ["delivered"])
    let pushed = try #require(simulator.deliveries(to: Self.tokens[0]).first)
    let payload = try #require(try JSONSerialization.jsonObject(with: Data(pushed.payload)) as? [String: Any])
    let content = try #require(payload["crier"] as? [String: Any])
    #expect(content["id"] as? String == id && content["sequence"] as? Int == 1)
  }

  @Test("a push to a group goes to each device in its own language, and the language of a request has priority")
  func group() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("a", Self.tokens[0], in: service, locale: "zh-CN", group: "shop-7")
    try await register("b", Self.tokens[1], in: service, locale: "en-US", group: "shop-7")
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    _ = try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"shop-7""#))
    #expect(try await outcome(of: "p1", client).map(\.device) == ["a", "b"])
    _ = try await client.post(payment("p2", "12.50", #""deliver":["push"],"device":"shop-7","locale":"es-MX""#))
    _ = try await outcome(of: "p2", client)
    let locales = try Self.tokens.map { token in
      try simulator.deliveries(to: token).map {
        try JSONDecoder().decode(Payload.self, from: Data($0.payload)).crier.locale
      }
    }
    #expect(locales == [["zh-CN", "es-MX"], ["en-US", "es-MX"]])
    await simulator.stop()
  }

  @Test("a phone without a language gets the default language, and not the language of another phone of its group")
  func ownLanguages() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("a", Self.tokens[0], in: service, locale: "zh-CN", group: "shop-7")
    try await register("b", Self.tokens[1], in: service, group: "shop-7")
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    _ = try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"shop-7""#))
    _ = try await outcome(of: "p1", client)
    let locales = try Self.tokens.map { token in
      try JSONDecoder().decode(Payload.self, from: Data(simulator.deliveries(to: token)[0].payload)).crier.locale
    }
    #expect(locales == ["zh-CN", "en-US"])
    await simulator.stop()
  }

  @Test("a phone whose language the voice cannot speak gets another language, and the report has a warning")
  func languageThatCannotSayIt() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    // The voice speaks English only.
    let voice = #""deliver":["push"],"device":"shop-7","method":"speech","voice":"en-us+f2""#
    for (phones, names) in [(["zh-CN", "en-US"], ["a", "b"]), (["en-US", "zh-CN"], ["c", "d"])] {
      for (index, name) in names.enumerated() {
        try await register(name, Self.tokens[index], in: service, locale: phones[index], group: "shop-7")
      }
      let client = try await service.client()
      let answer = try await client.post(payment("p-\(names[0])", "12.50", voice))
      #expect(answer.status == 201, "\(answer.text)")
      #expect(try answer.string("locale") == "en-US")
      #expect((try answer.value("warnings") as? [String])?.contains { $0.contains("zh-CN") } == true, "\(answer.text)")
      #expect(try await service.ledger.pushes(account: "shop", announcement: "p-\(names[0])").count == 2)
      for name in names { try await service.ledger.removeDevice(account: "shop", id: name, by: .currentUser) }
    }
    let client = try await service.client()
    try await register("e", Self.tokens[0], in: service, locale: "zh-CN")
    let refused = try await client.post(
      payment("p-e", "12.50", voice.replacing("shop-7", with: "e")))
    #expect(refused.status == 422, "\(refused.text)")
    await simulator.stop()
  }

  @Test("fields beside the payment set the badge, level, score, thread, volume and attachment of the notification")
  func notificationOptions() async throws {
    struct Options: Decodable {
      struct Notification: Decodable {
        struct Sound: Decodable {
          var critical: Int
          var name: String
          var volume: Decimal
        }
        var badge: Int
        var level: String
        var score: Decimal
        var thread: String
        var sound: Sound

        enum CodingKeys: String, CodingKey {
          case badge, sound
          case level = "interruption-level"
          case score = "relevance-score"
          case thread = "thread-id"
        }
      }
      var aps: Notification
      var attachment: String

      enum CodingKeys: String, CodingKey {
        case aps
        case attachment = "attachment-url"
      }
    }
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    let body = """
      {"aps":{"badge":3,"relevance-score":0.29,"thread-id":"till-2","sound":{"critical":1,"volume":0.57}},\
      "attachment-url":"https://shop.example/tea.jpg","payment":{"id":"p1","amount":"12.50","currency":"USD"},\
      "deliver":["push"],"device":"phone"}
      """
    let answer = try await client.post(body)
    #expect(answer.status == 201, "\(answer.text)")
    #expect((try answer.value("warnings") as? [String])?.first?.hasPrefix("aps.mutable-content: ") == true)
    _ = try await outcome(of: "p1", client)
    let delivery = try #require(simulator.deliveries(to: Self.tokens[0]).first)
    let payload = try JSONDecoder().decode(Options.self, from: Data(delivery.payload))
    #expect(payload.aps.badge == 3 && payload.aps.level == "critical" && payload.aps.thread == "till-2")
    #expect(payload.aps.score == Decimal(string: "0.29") && payload.aps.sound.volume == Decimal(string: "0.57"))
    #expect(payload.aps.sound.critical == 1)
    #expect(try payload.aps.sound.name == answer.string("clip.name"))
    #expect(payload.attachment == "https://shop.example/tea.jpg")
    let refused = try await client.post(
      body.replacing("p1", with: "p2").replacing(#""badge":3"#, with: #""badge":-3"#))
    #expect(refused.status == 422 && refused.text.contains("aps.badge"), "\(refused.text)")
    await simulator.stop()
  }

  @Test(
    "a received payment has the level 'time-sensitive', and a pending payment has the level 'active'",
    arguments: [("received", "time-sensitive"), ("pending", "active")])
  func levels(kind: String, level: String) async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    _ = try await client.post(payment("p1", "12.50", #""kind":"\#(kind)","deliver":["push"],"device":"phone""#))
    _ = try await outcome(of: "p1", client)
    let delivery = try #require(simulator.deliveries(to: Self.tokens[0]).first)
    let payload = String(decoding: delivery.payload, as: UTF8.self)
    #expect(payload.contains(#""interruption-level":"\#(level)""#), "\(payload)")
    await simulator.stop()
  }

  @Test("a repeated request causes no second push, whatever its Idempotency-Key")
  func again() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    let body = payment("p1", "12.50", #""deliver":["push"],"device":"phone""#)
    #expect(try await client.post(body).status == 201)
    #expect(try await client.post(body).status == 200)
    #expect(try await client.post(body, ["Idempotency-Key": "other"]).status == 200)
    _ = try await outcome(of: "p1", client)
    #expect(try await service.ledger.pushCounts() == [.delivered: 1])
    await simulator.stop()
  }

  @Test("a phone that removed the app loses its token, and the next push ends without being sent")
  func unregistered() async throws {
    let simulator = try await APNSSimulator.start()
    let later = Int64(Date().timeIntervalSince1970 * 1000) + 3_600_000
    simulator.set(APNSSimulator.Device(Self.tokens[0], state: .unregistered(since: later)))
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    for (id, reason) in [("p1", "Unregistered"), ("p2", "NoToken")] {
      _ = try await client.post(payment(id, "1.00", #""deliver":["push"],"device":"phone""#))
      let pushes = try await outcome(of: id, client)
      #expect(pushes.map(\.state) == ["unregistered"])
      #expect(pushes.map(\.reason) == [reason])
    }
    #expect(simulator.counts.requests == 1)
    await simulator.stop()
  }

  @Test("a test push is sent once, names no payment, and is not among the phone's announcements")
  func tested() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client([.admin])
    let answer = try await client.send(.post, "/v1/devices/phone/test")
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try answer.string("state") == "delivered" && answer.object.keys.contains("reason"))
    #expect(try answer.value("reason") == nil && answer.string("text")?.contains("Apple accepted") == true)
    let body = try #require(simulator.deliveries(to: Self.tokens[0]).first?.payload)
    #expect(simulator.deliveries(to: Self.tokens[0]).count == 1)
    #expect(!String(decoding: body, as: UTF8.self).contains("crier\""))
    let device = try await client.get("/v1/devices/phone")
    #expect(try device.number("last_sequence") == 0 && device.string("last_outcomes.alert.state") == "delivered")
    #expect(try await service.ledger.pushCounts().isEmpty)
    #expect(try await service.ledger.administrativeActs().last?.action == .deviceTested)
    await simulator.stop()
  }

  @Test("a test push that Apple refuses has a reason in words, also in the last outcome of the phone")
  func testRefused() async throws {
    let simulator = try await APNSSimulator.start()
    let later = Int64(Date().timeIntervalSince1970 * 1000) + 3_600_000
    simulator.set(APNSSimulator.Device(Self.tokens[0], state: .unregistered(since: later)))
    let service = try service(simulator)
    try await register("gone", Self.tokens[0], in: service)
    try await register("bare", nil, in: service)
    try await register("other", Self.tokens[1], in: service, app: "com.example.other")
    let client = try await service.client([.admin])
    for (id, state, reason, words) in [
      ("gone", "unregistered", "Unregistered", "removed from the phone"),
      ("gone", "unregistered", "NoToken", "has no token"), ("bare", "unregistered", "NoToken", "has no token"),
      ("other", "failed", "AppNotConfigured", "setting 'apns'"),
    ] {
      let answer = try await client.send(.post, "/v1/devices/\(id)/test")
      #expect(try answer.status == 200 && answer.string("state") == state && answer.string("reason") == reason)
      #expect(try answer.string("text")?.contains(words) == true, "\(answer.text)")
      let device = try await client.get("/v1/devices/\(id)")
      #expect(try device.string("last_outcomes.alert.text") == answer.string("text"))
      #expect(try device.string("last_outcomes.alert.reason") == reason)
    }
    #expect(try await client.send(.post, "/v1/devices/nobody/test").code == "not_found")
    await simulator.stop()
  }

  @Test("a test push is refused if the service sends no pushes, and for a key without the scope 'announce'")
  func testUnavailable() async throws {
    let service = try TestService()
    try await register("phone", Self.tokens[0], in: service)
    let admin = try await service.client([.admin])
    #expect(try await admin.send(.post, "/v1/devices/phone/test").code == "push_unavailable")
    let client = try await service.client([.read, .play])
    #expect(try await client.send(.post, "/v1/devices/phone/test").code == "scope_missing")
  }

  @Test("the phones of a group get an announcement even if another phone of the group has another app")
  func mixedGroup() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("a", Self.tokens[0], in: service, group: "shop-7", app: "com.example.other")
    try await register("b", Self.tokens[1], in: service, group: "shop-7")
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    let answer = try await client.post(payment("p1", "1.00", #""deliver":["push"],"device":"shop-7""#))
    #expect(answer.status == 201, "\(answer.text)")
    try await eventually { try await service.ledger.pushCounts()[.delivered] != nil }
    #expect(simulator.deliveries(to: Self.tokens[1]).count == 1)
    #expect(try await service.ledger.pushCounts() == [.delivered: 1, .waiting: 1])
    await simulator.stop()
  }

  @Test("the service also sends pushes that another process accepted, after the sender of that process has ended")
  func otherProcess() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    // Another sender has the seat.
    let other = try SQLiteLedger(at: service.ledgerFile)
    var seat = try await other.takeSeat(of: .pushes)
    let push = NewPush(
      device: "phone", kind: .alert, priority: 10, expiresAt: Date() + 3600,
      body: NewPush.Body(Data(#"{"aps":{"alert":"12.50"}}"#.utf8)))
    try await other.accept([push], account: "shop")
    service.run { [server = service.server] in try await server.pushService?.run() }
    withExtendedLifetime(seat) {}
    seat = nil
    try await eventually { try await service.ledger.pushCounts() == [.delivered: 1] }
    // This service is the sender now, and nobody tells it of the next push.
    try await other.accept([push], account: "shop")
    try await eventually { try await service.ledger.pushCounts() == [.delivered: 2] }
    #expect(simulator.deliveries(to: Self.tokens[0]).count == 2)
    await simulator.stop()
  }

  @Test("a clip in the language of a second phone can be fetched by that phone, and is removed with the announcement")
  func secondLanguage() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("a", Self.tokens[0], in: service, locale: "zh-CN", group: "shop-7")
    try await register("b", Self.tokens[1], in: service, locale: "en-US", group: "shop-7")
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    let answer = try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"shop-7""#))
    let first = try #require(try answer.string("clip.name"))
    _ = try await outcome(of: "p1", client)
    let delivery = try #require(simulator.deliveries(to: Self.tokens[1]).first)
    let payload = try JSONDecoder().decode(Payload.self, from: Data(delivery.payload))
    let second = payload.aps.sound
    #expect(first != second)
    #expect(try await service.ledger.wasPushed(clip: second, account: "shop", device: "b"))
    #expect(try await !service.ledger.wasPushed(clip: second, account: "shop", device: "a"))
    let removed = try await client.send(.delete, "/v1/announcements/p1")
    #expect(try removed.value("clips") as? [String] == [first, second].sorted(), "\(removed.text)")
    for name in [first, second] { #expect(try await client.get("/v1/clips/\(name)").status == 404) }
    await simulator.stop()
  }

  @Test("a push to a token that APNs refuses as bad fails, and the token stays with a count of refusals")
  func badToken() async throws {
    var configuration = APNSSimulator.Configuration()
    configuration.devices = []
    let simulator = try await APNSSimulator.start(configuration)
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    _ = try await client.post(payment("p1", "1.00", #""deliver":["push"],"device":"phone""#))
    let pushes = try await outcome(of: "p1", client)
    // The simulator knows no such token: APNs says BadDeviceToken, which never deletes the token.
    #expect(pushes.map(\.state) == ["failed"])
    #expect(pushes.map(\.reason) == ["BadDeviceToken"])
    let device = try await service.ledger.device(account: "shop", id: "phone")
    #expect(device?.tokens[.alert]?.refusals == 1)
    await simulator.stop()
  }

  @Test("a push to a device without a token ends as unregistered")
  func withoutToken() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", nil, in: service)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    _ = try await client.post(payment("p1", "1.00", #""deliver":["push"],"device":"phone""#))
    #expect(try await outcome(of: "p1", client).map(\.state) == ["unregistered"])
    await simulator.stop()
  }

  @Test(
    "a push that no device can receive is refused with the reason, and makes no clip",
    arguments: [
      (#""deliver":["push"]"#, "device_missing"), (#""deliver":["push"],"device":"nobody""#, "device_unknown"),
      (#""deliver":["push"],"device":"other""#, "app_not_configured"),
    ])
  func refused(options: String, code: String) async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("other", Self.tokens[0], in: service, app: "com.example.other")
    let answer = try await service.client().post(payment("p1", "1.00", options))
    #expect(answer.status == 422)
    #expect(answer.code == code)
    #expect(service.clips().isEmpty)
    await simulator.stop()
  }

  @Test("a service without the setting 'apns' refuses pushes")
  func unavailable() async throws {
    let service = try TestService()
    let answer = try await service.client().post(payment("p1", "1.00", #""deliver":["push"],"device":"phone""#))
    #expect(answer.code == "push_unavailable")
  }
}
