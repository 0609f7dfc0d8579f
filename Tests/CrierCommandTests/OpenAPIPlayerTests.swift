// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The service conforms to /openapi.json: the player", .timeLimit(.minutes(10)))
struct OpenAPIPlayerTests {
  private func announcement(_ id: String) -> String {
    #"{"id":"\#(id)","amount":"1","currency":"USD","locale":"en-US","deliver":["play"],"rate":450}"#
  }

  /// Opens an event stream and reads the beginning of its answer.
  private func listen(_ service: Conformity, _ headers: [String] = []) throws -> RawConnection {
    let stream = try service.service.connect()
    try stream.send(
      "GET", "/v1/events", headers: ["Authorization: Bearer \(service.keys["read"] ?? "")"] + headers)
    let head = try HTTPAnswer(Data(try stream.receive(through: "\r\n\r\n").utf8))
    try service.record(head, "events", 200, isStream: true)
    return stream
  }

  /// Returns the events up to the first of a kind about an announcement, and checks each against the document.
  private func events(_ service: Conformity, _ stream: RawConnection, until kind: String, _ id: String) throws
    -> [JSONValue]
  {
    var events: [JSONValue] = []
    while true {
      let name = try stream.receive(through: "data: ")
      let event = try JSONValue(try stream.receive(through: "\n"))
      let schema = name.contains("event: shop\n") ? "Shop" : "Event"
      let violations = service.document.schema.violations(
        of: event, schema: try JSONValue(##"{"$ref": "#/components/schemas/\##(schema)"}"##))
      #expect(violations == [], "\(event)")
      events.append(event)
      if event["kind"]?.string == kind, event["id"]?.string == id { return events }
    }
  }

  private func outputs(_ service: Conformity) throws {
    let outputs = try service.check("listOutputs", 200).json()["outputs"]?.array ?? []
    #expect(outputs.contains { $0["id"] == .string("null") && $0["in_use"] == .boolean(true) })
    try service.check("setOutput", json: #"{"output":"null"}"#, 200)
    try service.check("setOutput", json: #"{"output":null}"#, 200)
    try service.check("setOutput", json: #"{"output":"garage"}"#, 422, "output_unknown")
    try service.check("setOutput", json: #"{"output":1}"#, 422, "field_invalid")
    try service.check("setOutput", json: #"{"outputs":1}"#, 422, "field_unknown")
    try service.check("setOutput", json: "{}", 422, "field_missing")
    try service.check("setOutput", json: "[]", 400, "payload_malformed")
    try service.check("setOutput", headers: ["Content-Type: text/plain"], body: "1", 415, "media_type_unsupported")
    try service.check("setOutput", json: String(repeating: " ", count: 5000), 413, "payload_too_large")
    try service.check("testOutput", 202)
    for id in ["listOutputs", "setOutput", "testOutput"] { try service.checkRefusals(id) }
  }

  @Test("the answers to the player's calls, and the player's events, conform to /openapi.json")
  func player() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try Conformity(crier)
    let stream = try listen(service)
    try service.check("getPlayback", key: service.keys["read"], 200)
    try service.check("getShop", key: service.keys["read"], 200)
    try service.check("replay", 409, "nothing_to_replay")
    try service.check("announce", json: announcement("1"), 201)
    let kinds = try events(service, stream, until: "played", "1").compactMap { $0["kind"]?.string }
    for kind in ["accepted", "rendered", "waiting", "playing", "played"] {
      #expect(kinds.contains(kind), "\(kinds)")
    }
    try service.check("getAnnouncement", at: "1", 200)
    try service.check("cancel", at: "1", 409, "already_ended")
    try service.check("replay", 202)
    try service.check("replay", json: "{}", key: service.keys["play"], 202)
    try service.check("replay", json: #"{"id":"1"}"#, 202)
    try service.check("replay", json: #"{"id":"nobody"}"#, 404, "not_found")
    try service.check("replay", json: "{", 400, "payload_malformed")
    try service.check("replay", json: "[]", 400, "payload_malformed")
    for id in ["5", "null"] { try service.check("replay", json: #"{"id":\#(id)}"#, 422, "field_invalid") }
    try service.check("replay", json: #"{"ids":"1"}"#, 422, "field_unknown")
    try service.check("replay", json: String(repeating: " ", count: 5000), 413, "payload_too_large")
    try service.check("replay", headers: ["Content-Type: text/plain"], body: "1", 415, "media_type_unsupported")

    try service.check("pause", key: service.keys["play"], 200)
    let paused = try service.check("getShop", 200).json()
    #expect(paused["problems"]?.array?.contains { $0["code"]?.string == "paused" } == true)
    try service.check("announce", json: announcement("2"), 201)
    try service.check("announce", json: announcement("3"), 201)
    let waiting = try service.check("getPlayback", 200).json()
    #expect(waiting["state"] == .string("paused") && waiting["waiting"]?.array?.isEmpty == false)
    try service.check("replay", json: #"{"id":"2"}"#, 409, "nothing_to_replay")
    try service.check("cancel", at: "2", 200)
    try service.check("restore", json: #"{"id":"2"}"#, key: service.keys["play"], 200)
    try service.check("restore", json: #"{"id":"2"}"#, 200)
    try service.check("restore", json: #"{"id":"1"}"#, 409, "not_restorable")
    try service.check("restore", json: #"{"id":"nobody"}"#, 404, "not_found")
    try service.check("restore", json: "[]", 400, "payload_malformed")
    try service.check("restore", json: "{}", 422, "field_missing")
    try service.check("restore", headers: ["Content-Type: text/plain"], body: "1", 415, "media_type_unsupported")
    try service.check("restore", json: String(repeating: " ", count: 5000), 413, "payload_too_large")
    try service.check("cancel", at: "2", 200)
    try service.check("cancel", at: "nobody", 404, "not_found")
    try service.check("cancel", at: "1", 200)
    let replay = try #require(try service.check("replay", json: #"{"id":"1"}"#, 202).json()["number"]?.number)
    try service.check("cancelReplay", at: "\(Int(replay))", 200)
    try service.check("cancelReplay", at: "\(Int(replay))", 409, "already_ended")
    try service.check("cancelReplay", at: "nobody", 404, "not_found")
    try service.check("setVolume", json: #"{"volume":40}"#, key: service.keys["play"], 200)
    try service.check("setVolume", json: #"{"volume":null}"#, 200)
    try service.check("setVolume", json: #"{"volume":101}"#, 422, "field_invalid")
    try service.check("setVolume", json: #"{"volume":1,"mute":true}"#, 422, "field_unknown")
    let misspelt = try service.service.send(
      "PUT", "/v1/playback/volume", headers: ["Content-Type: application/json"], body: Data(#"{"Volme":1}"#.utf8))
    #expect(try misspelt.json()["detail"]?.string == "Volme: is not a key of this call; did you mean volume?")
    try service.check("setVolume", json: "{}", 422, "field_missing")
    try service.check("setVolume", json: "[]", 400, "payload_malformed")
    try service.check("setVolume", headers: ["Content-Type: text/plain"], body: "1", 415, "media_type_unsupported")
    try service.check("setVolume", json: String(repeating: " ", count: 5000), 413, "payload_too_large")
    let clip = try service.check("getAnnouncement", at: "1", 200).json()["clip"]?["name"]?.string
    let sound = try service.service.send("GET", "/v1/clips/\(try #require(clip))").body
    let chimed = try service.service.send(
      "PUT", "/v1/playback/chime", headers: ["Content-Type: audio/wav"], body: sound)
    try service.record(chimed, "setChime", 200)
    #expect(try chimed.json()["chime"]?["set"] == .boolean(true))
    try service.check("setChime", headers: ["Content-Type: audio/wav"], body: "noise", 422, "file_malformed")
    try service.check("setChime", headers: ["Content-Type: text/plain"], body: "1", 415, "media_type_unsupported")
    try service.check("removeChime", 200)
    let kindChimed = try service.service.send(
      "PUT", "/v1/playback/chime/refunded", headers: ["Content-Type: audio/wav"], body: sound)
    try service.record(kindChimed, "setKindChime", 200)
    #expect(try kindChimed.json()["chimes"]?["refunded"]?["set"] == .boolean(true))
    try service.check("setKindChime", at: "refunded", json: #"{"chime":"none"}"#, 200)
    try service.check("setKindChime", at: "bonus", json: #"{"chime":"none"}"#, 404, "not_found")
    try service.check("setKindChime", at: "refunded", json: #"{"chime":"all"}"#, 422, "field_invalid")
    try service.check("setKindChime", at: "refunded", json: "{}", 422, "field_missing")
    try service.check("setKindChime", at: "refunded", json: #"{"chimes":1}"#, 422, "field_unknown")
    try service.check("setKindChime", at: "refunded", json: "[]", 400, "payload_malformed")
    let audio = ["Content-Type: audio/wav"]
    try service.check("setKindChime", at: "refunded", headers: audio, body: "noise", 422, "file_malformed")
    let text = ["Content-Type: text/plain"]
    try service.check("setKindChime", at: "refunded", headers: text, body: "1", 415, "media_type_unsupported")
    try service.check("removeKindChime", at: "refunded", 200)
    try service.check("removeKindChime", at: "bonus", 404, "not_found")
    try service.check("resume", 200)
    _ = try events(service, stream, until: "played", "3")
    for _ in 0..<6 { _ = try service.service.send("POST", "/v1/playback/replay") }
    try service.check("replay", 429, "too_many_replays")
    for id in [
      "getShop", "getPlayback", "pause", "resume", "replay", "restore", "setVolume", "setChime", "removeChime",
      "cancel",
      "cancelReplay",
    ] {
      try service.checkRefusals(id, "1")
    }
    try outputs(service)
    for id in ["setKindChime", "removeKindChime"] { try service.checkRefusals(id, "refunded") }

    let again = try listen(service, ["Last-Event-ID: 0"])
    #expect(try events(service, again, until: "accepted", "1").first?["position"]?.number == 1)
    for last in ["-1", "one", "1.5", ""] {
      try service.check(
        "events", headers: ["Last-Event-ID\(last.isEmpty ? ";" : ": \(last)")"], 400, "parameter_invalid")
    }
    try service.check("events", headers: ["Accept: application/json"], 406, "not_acceptable")
    try service.checkRefusals("events")
    // OutputCallTests provoke the conflicts with outputs that cannot be opened.
    service.expectAllProvoked(tag: "Player", isWithoutConflicts: ["setOutput"])

    let others = try (0..<23).map { _ in try listen(service) }
    // A connection is closed with its last reference.
    try withExtendedLifetime((stream, again, others)) {
      _ = try service.check("events", 429, "account_busy")
    }
  }

  @Test("the state of the player names the announcement that plays")
  func playing() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try Conformity(crier)
    let stream = try listen(service)
    let text = String(repeating: "It is open until nine. ", count: 6)
    try service.check("announce", json: #"{"id":"long","text":"\#(text)","locale":"en-US","deliver":["play"]}"#, 201)
    _ = try events(service, stream, until: "playing", "long")
    let status = try service.check("getPlayback", 200).json()
    #expect(status["playing"]?["id"] == .string("long") && status["state"] == .string("playing"))
    try service.check("cancel", at: "long", 200)
    _ = try events(service, stream, until: "cancelled", "long")
  }

  @Test("a service without an output answers the player's calls as /openapi.json says")
  func noPlayer() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try Conformity(crier, ["--port", "0", "--output", "none"])
    for id in ["getPlayback", "pause", "resume", "replay", "cancel", "cancelReplay"] {
      try service.check(id, at: "1", 503, "player_unavailable")
    }
    try service.check("announce", json: announcement("1"), 422, "player_unavailable")
    _ = try listen(service)
    try service.check("readiness", key: "", 200)
  }
}
