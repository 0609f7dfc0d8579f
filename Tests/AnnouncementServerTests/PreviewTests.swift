// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Previews", .timeLimit(.minutes(5)))
struct PreviewTests {
  private let service: TestService

  init() throws { service = try TestService() }

  private func preview(
    _ client: TestClient, _ body: String, _ headers: [String: String] = ["Content-Type": "application/json"]
  ) async throws -> TestAnswer {
    try await client.send(.post, "/v1/previews", headers: headers, body: Data(body.utf8))
  }

  private static let nameless = #"{"amount":"12.50","currency":"USD"}"#

  @Test("a preview has the report of an announcement, and its clip can be fetched")
  func report() async throws {
    let client = try await service.client()
    let preview = try await preview(client, payment("p1"))
    #expect(preview.status == 200 && preview.header("Cache-Control") == "no-store")
    #expect(try preview.string("id") == "p1")
    #expect(try preview.string("text").map { $0.contains("twelve") } == true)
    let announced = try await client.post(payment("p1"))
    #expect(announced.status == 201)
    #expect(Set(try preview.object.keys) == Set(try announced.object.keys))
    #expect(try preview.string("clip.name") == announced.string("clip.name"))
    let url = try preview.string("clip.url").orThrow("a URL")
    let target = try URLComponents(string: url).orThrow("an address")
    let clip = try await service.stranger.get(target.percentEncodedPath + "?" + (target.percentEncodedQuery ?? ""))
    #expect(clip.status == 200 && clip.header("Content-Type") == "audio/wav")
  }

  @Test("the answer to a preview is the clip's bytes if the client prefers them, as for an announcement")
  func sound() async throws {
    let client = try await service.client()
    for (format, media) in [("wav", "audio/wav"), ("aiff", "audio/aiff"), ("caf", "audio/x-caf")] {
      let body = payment("p1", "12.50", #""format":"\#(format)""#)
      let json = ["Content-Type": "application/json"]
      let sound = try await preview(client, body, json.merging(["Accept": media]) { $1 })
      #expect(sound.status == 200 && sound.header("Content-Type") == media)
      #expect(sound.header("Cache-Control") == "no-store" && sound.header("Location") == nil)
      let name = try await preview(client, body).string("clip.name").orThrow("a name")
      let clip = try await client.get("/v1/clips/\(name)")
      #expect(sound.body == clip.body && sound.header("ETag") == clip.header("ETag"))
      #expect(try await client.post(body, ["Accept": media, "Idempotency-Key": format]).body == sound.body)
      try await _ = client.send(.delete, "/v1/announcements/p1")
    }
  }

  @Test("a preview for which no accepted media type is available is refused before its clip is made")
  func notAcceptable() async throws {
    let client = try await service.client()
    for accept in ["image/png", "audio/x-caf"] {
      let headers = ["Content-Type": "application/json", "Accept": accept]
      let answer = try await preview(client, Self.nameless, headers)
      #expect(answer.status == 406 && answer.code == "not_acceptable")
    }
    #expect(service.clips().isEmpty)
  }

  @Test("a preview is not stored or listed, has no event, and does not answer a later request")
  func nothingIsStored() async throws {
    let client = try await service.client()
    let events = await client.stream("/v1/events")
    _ = await events.next()
    for _ in 0..<2 { #expect(try await preview(client, payment("p1")).status == 200) }
    #expect(
      try await preview(client, Self.nameless, ["Content-Type": "application/json", "Idempotency-Key": "k"]).status
        == 200)
    #expect(try await client.get("/v1/announcements").value("announcements.0") == nil)
    #expect(try await client.get("/v1/announcements/p1").status == 404)
    #expect(try await service.ledger.lastEventPosition() == 0)
    // The id and the key are still free for other bodies.
    #expect(try await client.post(payment("p1", "13.50")).status == 201)
    #expect(try await client.post(payment("p2"), ["Idempotency-Key": "k"]).status == 201)
    let first = try await events.event("rendered")
    #expect(try first.string("id") == "p1")
    events.end()
  }

  @Test("a payment without an id has a preview, and the report of the preview has no id")
  func nameless() async throws {
    let client = try await service.client(locale: "zh-CN")
    let answer = try await preview(client, Self.nameless)
    #expect(answer.status == 200)
    #expect(try answer.value("id") == nil && answer.string("locale") == "zh-CN")
    let text = try await preview(client, #"{"text":"The shop closes.","locale":"en-US","format":"aiff","memo":1}"#)
    #expect(try text.status == 200 && text.string("clip.format") == "aiff")
    #expect(try text.string("warnings.0")?.hasPrefix("memo") == true)
  }

  @Test(
    "a preview with a field about the delivery is refused with the name of the field",
    arguments: [#""deliver":["play"]"#, #""deliver":["clip"]"#, #""deliver":7"#, #""device":"till""#])
  func delivery(field: String) async throws {
    let answer = try await preview(try await service.client(), #"{"amount":"1","currency":"USD",\#(field)}"#)
    #expect(answer.status == 422 && answer.code == "field_unknown")
    #expect(try answer.string("detail")?.hasPrefix(String(field.dropFirst().prefix(6))) == true)
  }

  @Test("a preview that cannot be made is refused like an announcement")
  func refusals() async throws {
    let client = try await service.client()
    for (body, status, code) in [
      ("{", 400, "payload_malformed"), (#"{"amount":"1"}"#, 422, "field_missing"),
      (#"{"amount":"1","currency":"USD","locale":"tlh"}"#, 422, "locale_unknown"),
      (#"{"text":"a","group":"group.other"}"#, 422, "option_invalid"),
      (#"{"text":"a","format":"mp3"}"#, 422, "option_invalid"),
      (#"{"text":"\#(String(repeating: "a", count: 1 << 16))"}"#, 413, "payload_too_large"),
    ] {
      let answer = try await preview(client, body)
      #expect(answer.status == status && answer.code == code, "\(answer.text)")
    }
    let strict = ["Content-Type": "application/json", "Prefer": "handling=strict"]
    #expect(try await preview(client, #"{"text":"a","memo":1}"#, strict).code == "field_unknown")
    #expect(try await preview(client, #"{"text":"a"}"#, strict).header("Preference-Applied") == "handling=strict")
    #expect(try await preview(client, Self.nameless, [:]).status == 415)
    #expect(try await preview(try await service.client([.read]), Self.nameless).code == "scope_missing")
    #expect(try await preview(service.stranger, Self.nameless).status == 401)
  }

  @Test("the clips of previews count towards the daily limit")
  func limit() async throws {
    let service = try TestService { $0.settings.work.clipsADay = 1 }
    let client = try await service.client()
    #expect(try await preview(client, payment("p1")).status == 200)
    #expect(try await preview(client, payment("p1")).status == 200)
    #expect(try await preview(client, payment("p1", "13.50")).code == "daily_limit")
  }
}
