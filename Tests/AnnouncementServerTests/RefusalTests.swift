// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import SoundOutputTestSupport
import SpeechEngine
import SQLiteLedger
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Refused requests", .timeLimit(.minutes(10)))
struct RefusalTests {
  private let service: TestService

  init() throws { service = try TestService() }

  /// Expects that no clip was made and no announcement was stored.
  private func expectNothing(_ client: TestClient) async throws {
    #expect(service.clips().isEmpty && service.voice.calls == 0)
    let list = try await client.get("/v1/announcements").value("announcements") as? [Any]
    #expect(list?.isEmpty == true)
  }

  @Test("the error for an invalid body names the field and never its value")
  func semantic() async throws {
    let client = try await service.client()
    let cases: [(body: String, status: Int, code: String, field: String)] = [
      (#"{"amount":"77.77","currency":"USD"}"#, 422, "field_missing", "id"),
      (#"{"id":"x77","currency":"USD"}"#, 422, "field_missing", "amount"),
      (#"{"id":"x77","amount":"77.77"}"#, 422, "field_missing", "currency"),
      (#"{"id":"x77","amount":"77.777","currency":"USD"}"#, 422, "field_invalid", "amount"),
      (#"{"id":"x77","amount":[7777],"currency":"USD"}"#, 422, "field_invalid", "amount"),
      (#"{"id":"x77","amount":"77.77","currency":"x77"}"#, 422, "field_invalid", "currency"),
      (#"{"id":"x77","amount":"77.77","minor":7777,"currency":"USD"}"#, 422, "fields_conflict", "amount"),
      (#"{"id":7777,"amount":"77.77","currency":"USD"}"#, 422, "field_invalid", "id"),
      (#"{"id":"x\u00007777","amount":"77.77","currency":"USD"}"#, 422, "field_invalid", "id"),
      (payment("x77", "77.77", #""kind":"x7777""#), 422, "field_invalid", "kind"),
      (payment("x77", "77.77", #""locale":"xx-77""#), 422, "locale_unknown", "locale"),
      (payment("x77", "77.77", #""deliver":"clip""#), 422, "field_invalid", "deliver"),
      (payment("x77", "77.77", #""deliver":[]"#), 422, "field_invalid", "deliver"),
      (payment("x77", "77.77", #""deliver":["x7777"]"#), 422, "field_invalid", "deliver"),
      (payment("x77", "77.77", #""deliver":["clip","push"]"#), 422, "push_unavailable", "deliver"),
      (payment("x77", "77.77", #""deliver":["play"]"#), 422, "player_unavailable", "deliver"),
      (payment("x77", "77.77", #""rate":7777"#), 422, "field_invalid", "rate"),
      (payment("x77", "77.77", #""rate":"77""#), 422, "field_invalid", "rate"),
      (payment("x77", "77.77", #""method":"x7777""#), 422, "option_invalid", "method"),
      (payment("x77", "77.77", #""format":"x7777""#), 422, "option_invalid", "format"),
      (payment("x77", "77.77", #""format":"caf","encoding":"ima4""#), 422, "option_invalid", "encoding"),
      (payment("x77", "77.77", #""group":"../x""#), 422, "option_invalid", "group"),
      (payment("x77", "77.77", #""voice":"cmn""#), 422, "option_invalid", "voice"),
      (payment("x77", "77.77", #""pack":"nobody""#), 422, "option_invalid", "pack"),
      (payment("x77", "77.77", #""method":"clips""#), 422, "method_unavailable", "method"),
      (payment("x77", "77.77", #""device":7777"#), 422, "field_invalid", "device"),
      (#"{"text":""}"#, 422, "nothing_to_say", "text"), (#"{"text":"   "}"#, 422, "nothing_to_say", "text"),
      (#"{"text":"x7777","amount":"77.77"}"#, 422, "fields_conflict", "text"),
      (#"{"id":"\#(String(repeating: "付", count: 100))","text":"a"}"#, 422, "field_invalid", "id"),
      ("", 400, "payload_malformed", "payload"), ("[7777]", 400, "payload_malformed", "payload"),
      ("{\"id\":\"x7777", 400, "payload_malformed", "payload"), ("{}{}", 400, "payload_malformed", "payload"),
      (#"{"id":"x77","id":"7777","amount":"1.00","currency":"USD"}"#, 400, "payload_malformed", "id"),
    ]
    for (body, status, code, field) in cases {
      let answer = try await client.post(body)
      #expect(answer.status == status && answer.code == code, "\(body): \(answer.text)")
      let detail = try answer.string("detail").orThrow("a detail")
      #expect(detail.contains(field), "\(body): \(detail)")
      #expect(!detail.contains("7777") && !detail.contains("77.77"), "\(body): \(detail)")
    }
    try await expectNothing(client)
  }

  @Test("a body that is not UTF-8 is refused")
  func notUTF8() async throws {
    let client = try await service.client()
    for bytes in [[0xFF, 0xFE, 0x7B, 0x00], [0x7B, 0x22, 0xC3, 0x28, 0x22, 0x7D]] as [[UInt8]] {
      let answer = try await client.send(
        .post, "/v1/announcements", headers: ["Content-Type": "application/json"], body: Data(bytes))
      #expect(answer.status == 400 && answer.code == "payload_malformed")
    }
    try await expectNothing(client)
  }

  @Test(
    "an announcement for which no accepted media type is available is refused before its sound is rendered",
    arguments: ["text/html", "audio/aiff", "image/*", "audio/wav;q=0, application/json;q=0"])
  func notAcceptable(accept: String) async throws {
    let client = try await service.client()
    let answer = try await client.post(payment(), ["Accept": accept])
    #expect(answer.status == 406 && answer.code == "not_acceptable")
    try await expectNothing(client)
    #expect(try await client.post(payment()).status == 201)
    #expect(
      try await client.post(payment(), ["Accept": accept]).status == 406, "also when the response is already stored")
  }

  @Test(
    "a body with an unsupported media type is refused",
    arguments: ["text/plain", "application/xml", "", "application/jsonl", "json"])
  func mediaType(type: String) async throws {
    let client = try await service.client()
    let answer = try await client.post(payment(), ["Content-Type": type])
    #expect(answer.status == 415 && answer.code == "media_type_unsupported")
    try await expectNothing(client)
  }

  @Test(
    "the parameters and the letter case of a body's media type do not matter",
    arguments: ["application/json; charset=utf-8", "Application/JSON", "application/json;"])
  func mediaTypeParameters(type: String) async throws {
    #expect(try await service.client().post(payment(), ["Content-Type": type]).status == 201)
  }

  @Test("a body of more than 64 KiB is refused")
  func tooLarge() async throws {
    let client = try await service.client()
    func body(_ count: Int) -> String {
      let start = payment("p1", "1.00", #""unknown":""#).dropLast()
      return start + String(repeating: "x", count: count - start.utf8.count - 2) + "\"}"
    }
    let large = try await client.post(body(65_537))
    #expect(large.status == 413 && large.code == "payload_too_large")
    // If the stated length is too large, the request is refused before the body is read.
    #expect(try await client.post("{}", ["Content-Length": "65537"]).status == 413)
    try await expectNothing(client)
    #expect(try await client.post(body(65_536)).status == 201)
  }

  @Test("a body of nearly 64 KiB is accepted and played, even if the defaults of its key are added")
  func largestPlayed() async throws {
    let service = try TestService { $0.hasPlayer = true }
    let client = try await service.client(locale: "zh-CN")
    let start = payment("p1", "1.00", #""deliver":["play"],"unknown":""#).dropLast()
    let body = start + String(repeating: "x", count: 65_536 - start.utf8.count - 2) + "\"}"
    #expect(try await client.post(String(body)).status == 201)
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await service.event(.played, of: player)
  }

  @Test("while the engine's queue is full, a request is answered with 503 and Retry-After")
  func engineBusy() async throws {
    let client = try await service.client()
    service.voice.fail(.queueFull)
    let answer = try await client.post(payment())
    #expect(answer.status == 503 && answer.code == "engine_busy" && answer.header("Retry-After") == "1")
    let metrics = try await service.stranger.get("/metrics").text
    #expect(metrics.contains(#"crier_refusals_total{code="engine_busy"} 1"#))
    #expect(service.clips().isEmpty)
    service.voice.fail(nil)
    #expect(try await client.post(payment()).status == 201)
  }

  @Test("while the engine is unavailable, a request is answered with 503")
  func engineUnavailable() async throws {
    let client = try await service.client()
    service.voice.fail(.engineUnavailable)
    let answer = try await client.post(payment())
    #expect(answer.status == 503 && answer.code == "engine_unavailable" && answer.header("Retry-After") != nil)
    service.voice.fail(.textUnspeakable)
    let text = try await client.post(#"{"text":"Hello"}"#)
    #expect(text.status == 422 && text.code == "text_unspeakable")
  }

  @Test("while the ledger is full, a request is answered with 507")
  func diskFull() async throws {
    let service = try TestService { $0.ledger.maximumBytes = 4096 }
    let client = try await service.client()
    let answer = try await client.post(payment())
    #expect(answer.status == 507 && answer.code == "disk_full" && answer.header("Retry-After") == "30")
    #expect(try await client.get("/v1/announcements/p1").status == 404)
  }

  @Test("the error for an unwritable clip folder does not reveal its path")
  func unwritable() async throws {
    let place = service.folder.url.appending(path: "containers/group.crier")
    try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: place)
    let client = try await service.client()
    let answer = try await client.post(payment())
    #expect(answer.status == 500)
    #expect(!answer.text.contains(service.folder.url.lastPathComponent))
    #expect(try await client.get("/v1/announcements/p1").status == 404)
  }
}
