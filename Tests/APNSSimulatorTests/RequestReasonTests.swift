// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Crypto
import Foundation
import Testing

/// A request with one fault, and the answer that Apple documents for it.
private struct Wrong: CustomTestStringConvertible {
  var status: Int
  var reason: String
  var what: String
  var method = "POST"
  var path = "/3/device/\(Bench.device)"
  /// Header fields that replace those of a push that is right. `nil` removes one.
  var fields: [String: String?] = [:]
  /// Header fields that are added.
  var added: [(String, String)] = []
  var body = Bench.alert

  var testDescription: String { "\(reason): \(what)" }

  static let requests: [Wrong] = [
    Wrong(status: 405, reason: "MethodNotAllowed", what: "GET", method: "GET"),
    Wrong(status: 405, reason: "MethodNotAllowed", what: "PUT", method: "PUT"),
    Wrong(status: 404, reason: "BadPath", what: "another version", path: "/2/device/\(Bench.device)"),
    Wrong(status: 404, reason: "BadPath", what: "a longer path", path: "/3/device/\(Bench.device)/1"),
    Wrong(status: 400, reason: "MissingDeviceToken", what: "no token", path: "/3/device/"),
    Wrong(status: 400, reason: "BadDeviceToken", what: "not hexadecimal", path: "/3/device/" + "xy" * 32),
    Wrong(status: 400, reason: "BadDeviceToken", what: "too short", path: "/3/device/0f0f"),
    Wrong(status: 400, reason: "BadDeviceToken", what: "half a byte", path: "/3/device/" + "0f" * 32 + "0"),
    Wrong(
      status: 400, reason: "DuplicateHeaders", what: "two topics", added: [("apns-topic", "com.example.shop")]),
    Wrong(status: 400, reason: "DuplicateHeaders", what: "two tokens", added: [("authorization", "bearer a.b.c")]),
    Wrong(status: 400, reason: "MissingTopic", what: "no topic", fields: ["apns-topic": nil]),
    Wrong(status: 400, reason: "BadTopic", what: "a space", fields: ["apns-topic": "com.example.my shop"]),
    Wrong(status: 400, reason: "BadTopic", what: "an empty part", fields: ["apns-topic": "com..shop"]),
    Wrong(status: 400, reason: "TopicDisallowed", what: "another app", fields: ["apns-topic": "com.example.other"]),
    Wrong(status: 400, reason: "InvalidPushType", what: "no type", fields: ["apns-push-type": nil]),
    Wrong(status: 400, reason: "InvalidPushType", what: "an unknown type", fields: ["apns-push-type": "banner"]),
    Wrong(
      status: 400, reason: "InvalidPushType", what: "fileprovider without its suffix",
      fields: ["apns-push-type": "fileprovider"], body: #"{"container-identifier":"1"}"#),
    Wrong(
      status: 400, reason: "InvalidPushType", what: "alert with a suffix",
      fields: ["apns-topic": "com.example.shop.pushkit.fileprovider"]),
    Wrong(status: 400, reason: "BadMessageId", what: "not a UUID", fields: ["apns-id": "1"]),
    Wrong(
      status: 400, reason: "BadMessageId", what: "braces", fields: ["apns-id": "{6b29fc40-ca47-1067-b31d-00dd010662da}"]
    ),
    Wrong(status: 400, reason: "BadPriority", what: "7", fields: ["apns-priority": "7"]),
    Wrong(
      status: 400, reason: "BadPriority", what: "background at once",
      fields: ["apns-push-type": "background", "apns-priority": "10"], body: #"{"aps":{"content-available":1}}"#),
    Wrong(
      status: 400, reason: "BadPriority", what: "background without a priority",
      fields: ["apns-push-type": "background"], body: #"{"aps":{"content-available":1}}"#),
    Wrong(status: 400, reason: "BadExpirationDate", what: "a date", fields: ["apns-expiration": "2030-01-01"]),
    Wrong(status: 400, reason: "BadExpirationDate", what: "negative", fields: ["apns-expiration": "-1"]),
    Wrong(
      status: 400, reason: "BadExpirationDate", what: "too large", fields: ["apns-expiration": "99999999999999999999"]),
    Wrong(status: 400, reason: "BadCollapseId", what: "65 bytes", fields: ["apns-collapse-id": "a" * 65]),
    Wrong(status: 400, reason: "PayloadEmpty", what: "no body", body: ""),
    Wrong(status: 413, reason: "PayloadTooLarge", what: "4,097 bytes", body: payload(bytes: 4_097)),
    Wrong(status: 413, reason: "PayloadTooLarge", what: "100,000 bytes", body: payload(bytes: 100_000)),
    Wrong(status: 400, reason: "BadRequest", what: "not JSON", body: "alert"),
    Wrong(status: 400, reason: "BadRequest", what: "a list", body: "[1]"),
    Wrong(status: 400, reason: "BadRequest", what: "an alert without aps", body: #"{"alert":"12.50"}"#),
    Wrong(
      status: 400, reason: "BadRequest", what: "a background push with a sound",
      fields: ["apns-push-type": "background", "apns-priority": "5"],
      body: #"{"aps":{"content-available":1,"sound":"a.wav"}}"#),
    Wrong(
      status: 400, reason: "BadRequest", what: "a file-provider push without its container",
      fields: ["apns-push-type": "fileprovider", "apns-topic": "com.example.shop.pushkit.fileprovider"],
      body: #"{"aps":{}}"#),
  ]
}

/// Returns an alert of exactly this many bytes.
private func payload(bytes: Int) -> String {
  let frame = #"{"aps":{"alert":""}}"#
  return #"{"aps":{"alert":""# + "a" * (bytes - frame.utf8.count) + #""}}"#
}

private func * (text: String, count: Int) -> String { String(repeating: text, count: count) }

@Suite("Reasons of the push simulator", .timeLimit(.minutes(5)))
struct RequestReasonTests {
  @Test(
    "a wrong request gets the status and reason that Apple documents, and is not accepted", arguments: Wrong.requests)
  private func wrong(_ request: Wrong) async throws {
    try await Bench.with {
      $0.topics = [Bench.topic]
      $0.requiresPushType = true
    } _: { bench in
      var headers = try bench.headers().filter { request.fields[$0.0] == nil }
      for (name, value) in request.fields { if let value { headers.append((name, value)) } }
      let answer = try await bench.curl.send(
        request.method, request.path, headers: headers + request.added, body: Array(request.body.utf8))
      #expect(answer.status == request.status && answer.reason == request.reason)
      #expect(answer.headers["apns-id"].flatMap(UUID.init) != nil || request.reason == "BadMessageId")
      #expect(bench.simulator.counts.accepted == 0 && bench.simulator.counts.refused == [request.reason: 1])
    }
  }

  @Test(
    "a request without apns-push-type is accepted, and its type follows from its topic and payload",
    arguments: [
      ("", #"{"aps":{"alert":"12.50"}}"#, "alert"), ("", #"{"aps":{"content-available":1}}"#, "background"),
      ("", #"{"aps":{"content-available":1,"badge":1}}"#, "alert"),
      (".pushkit.fileprovider", #"{"container-identifier":"1"}"#, "fileprovider"), (".voip", "{}", "voip"),
    ])
  func withoutType(suffix: String, body: String, type: String) async throws {
    try await Bench.with { bench in
      let fields = ["apns-push-type": nil, "apns-topic": Bench.topic + suffix]
      #expect(try await bench.push(fields, body: body).status == 200)
      let push = try #require(bench.simulator.deliveries(to: Bench.device).first)
      #expect(push.type == type && !push.namesType)
    }
  }

  @Test("a request without apns-push-type is refused if it has no topic, or if its payload fits no type")
  func withoutTypeWrong() async throws {
    try await Bench.with { bench in
      let token = try bench.token()
      #expect(try await bench.push(token: token, ["apns-push-type": nil], body: "{}").reason == "BadRequest")
      #expect(
        try await bench.push(token: token, ["apns-push-type": nil, "apns-topic": nil]).reason == "MissingTopic")
      #expect(try await bench.push(token: token, ["apns-push-type": ""]).reason == "InvalidPushType")
      #expect(try await bench.push(token: token, ["apns-push-type": "alert"]).status == 200)
      #expect(bench.simulator.deliveries(to: Bench.device).map(\.namesType) == [true])
    }
  }

  @Test("the stream of refusals has each refused push with its status and reason, and no accepted push")
  func refusals() async throws {
    try await Bench.with {
      $0.topics = [Bench.topic]
    } _: { bench in
      var refusals = bench.simulator.refusals().makeAsyncIterator()
      let token = try bench.token()
      #expect(try await bench.push(token: token).status == 200)
      _ = try await bench.push(token: token, ["apns-topic": "com.example.other"])
      _ = try await bench.push(token: "a.b.c", ["apns-push-type": nil])
      let topic = try #require(await refusals.next())
      #expect(topic.status == 400 && topic.reason == "TopicDisallowed" && topic.topic == "com.example.other")
      #expect(topic.type == "alert" && topic.device == Bench.device && !topic.isFault)
      let signature = try #require(await refusals.next())
      #expect(signature.status == 403 && signature.reason == "InvalidProviderToken" && signature.type == nil)
    }
  }

  @Test("a payload of 4,096 bytes and a collapse id of 64 bytes are accepted")
  func limits() async throws {
    try await Bench.with { bench in
      let answer = try await bench.push(["apns-collapse-id": "a" * 64], body: payload(bytes: 4_096))
      #expect(answer.status == 200 && answer.body.isEmpty)
      #expect(bench.simulator.deliveries(to: Bench.device).map(\.payload.count) == [4_096])
    }
  }

  @Test(
    "each type of push is accepted with its topic and content",
    arguments: [
      ("alert", "", "10", #"{"aps":{"alert":{"title":"1"},"sound":"a.wav"}}"#),
      ("alert", "", "5", #"{"aps":{"badge":3}}"#),
      ("background", "", "5", #"{"aps":{"content-available":1},"crier":{}}"#),
      ("fileprovider", ".pushkit.fileprovider", "5", #"{"container-identifier":"1"}"#),
      ("voip", ".voip", "10", #"{"a":1}"#),
    ])
  func types(type: String, suffix: String, priority: String, body: String) async throws {
    try await Bench.with {
      $0.topics = [Bench.topic]
    } _: { bench in
      let answer = try await bench.push(
        ["apns-push-type": type, "apns-topic": Bench.topic + suffix, "apns-priority": priority], body: body)
      #expect(answer.status == 200)
      let push = try #require(bench.simulator.deliveries(to: Bench.device).first)
      #expect(push.type == type && push.topic == Bench.topic + suffix && push.priority == Int(priority))
      #expect(push.payload == Array(body.utf8) && push.received == Bench.start && push.delivered == Bench.start)
    }
  }

  @Test("the answer to a push returns the push's id, or a new id if the request has none")
  func ids() async throws {
    try await Bench.with { bench in
      let token = try bench.token()
      let id = "6b29fc40-ca47-1067-b31d-00dd010662da"
      let given = try await bench.push(token: token, ["apns-id": id])
      #expect(given.status == 200 && given.headers["apns-id"] == id)
      let made = try await bench.push(token: token)
      let newID = try #require(made.headers["apns-id"].flatMap(UUID.init))
      #expect(bench.simulator.deliveries(to: Bench.device).map(\.id) == [UUID(uuidString: id), newID])
    }
  }

  @Test("if a key is limited to one app, a push to another app is refused")
  func topicsOfKeys() async throws {
    try await Bench.with { bench in
      var configuration = APNSSimulator.Configuration()
      configuration.topics = [Bench.topic, "com.example.other"]
      configuration.now = { Bench.start }
      configuration.keys = .listed([
        try ProviderKey(id: Bench.keyID, team: Bench.team, pem: bench.key.pemRepresentation, topics: [Bench.topic])
      ])
      let simulator = try await APNSSimulator.start(configuration)
      let folder = FileManager.default.temporaryDirectory.appending(path: "apns-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let other = Bench(
        simulator: simulator, curl: try Curl(simulator, folder: folder), key: bench.key, clock: bench.clock)
      let token = try bench.token()
      #expect(try await other.push(token: token).status == 200)
      #expect(
        try await other.push(token: token, ["apns-topic": "com.example.other"]).reason == "TopicDisallowed")
      await simulator.stop()
    }
  }
}
