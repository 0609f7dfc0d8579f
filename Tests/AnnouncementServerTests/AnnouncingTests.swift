// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HTTPTypes
import Ledger
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Posting announcements")
struct AnnouncingTests {
  private let service: TestService

  init() throws { service = try TestService() }

  private static func sha256(_ data: Data) -> String {
    SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined()
  }

  @Test("a payment is answered with its report, its location and the URL of its clip")
  func created() async throws {
    let client = try await service.client()
    let answer = try await client.post(payment("20261120", "12.50", #""locale":"zh-CN""#))
    #expect(answer.status == 201)
    #expect(answer.header("Location") == "/v1/announcements/20261120")
    #expect(answer.header("Content-Type") == "application/json" && answer.header("Cache-Control") == "no-store")
    #expect(try answer.string("id") == "20261120" && answer.string("locale") == "zh-CN")
    #expect(try answer.string("amount.value") == "12.50" && answer.string("amount.currency") == "USD")
    #expect(try answer.value("cached") as? Bool == false)
    let url = try #require(URL(string: try answer.string("clip.url").orThrow("a URL")))
    #expect(url.host() == "crier.test")
    let name = try answer.string("clip.name").orThrow("a name")
    #expect(service.clips() == [name])
    let clip = try await service.stranger.get("\(url.path())?\(url.query() ?? "")")
    #expect(try clip.status == 200 && Self.sha256(clip.body) == answer.string("clip.sha256"))
    let byKey = try await client.get("/v1/clips/\(name)")
    #expect(byKey.body == clip.body && byKey.header("ETag") == "\"\(Self.sha256(clip.body))\"")
    #expect(try await client.get("/v1/clips/\(name)", ["Range": "bytes=0-3"]).text == "RIFF")
    #expect(try await client.get("/v1/clips/\(name)", ["Range": "bytes=99999999-"]).status == 416)
    let head = try await client.send(.head, "/v1/clips/\(name)")
    #expect(head.status == 200 && head.body.isEmpty && head.header("Content-Length") == String(clip.body.count))
    #expect(try await client.get("/v1/clips/\(name)", ["If-None-Match": byKey.header("ETag") ?? ""]).status == 304)
  }

  @Test("a forged signed URL is refused, and an unknown clip is not found")
  func clipRefused() async throws {
    let client = try await service.client()
    let name = try await client.post(payment()).string("clip.name").orThrow("a name")
    let forged = try await service.stranger.get(
      "/v1/clips/\(name)?expires=9999999999&signature=\(String(repeating: "A", count: 43))")
    #expect(forged.status == 401 && forged.code == "signature_invalid")
    #expect(try await service.stranger.get("/v1/clips/\(name)").code == "key_missing")
    #expect(try await service.stranger.get("/v1/clips/\(name)?signature=").code == "signature_missing")
    for query in [
      "?expires=9999999999&amp;signature=A", "?expires=9999999999&signature%3DA", "%3Fexpires%3D9&signature=A",
    ] {
      let answer = try await service.stranger.get("/v1/clips/\(name)\(query)")
      #expect(answer.status == 401 && answer.code == "signature_malformed", "\(query)")
      #expect(try answer.string("detail")?.contains("&amp;") == true)
      // With a key, the signature is not needed.
      let byKey = try await client.get("/v1/clips/\(name)?expires=9999999999&amp;signature=A")
      #expect(byKey.status == 200)
    }
    let none = String(repeating: "0", count: 64)
    for path in [
      "\(none).wav", "\(none).mp3", "..%2F..%2Fledger.sqlite", "\(none.uppercased()).wav", "ledger.sqlite", ".wav",
    ] {
      let answer = try await client.get("/v1/clips/\(path)")
      #expect(answer.status == 404 && answer.code == "not_found", "\(path)")
    }
  }

  @Test(
    "the sound in the response has the values that the report gives",
    arguments: [("wav", "audio/wav"), ("aiff", "audio/aiff"), ("caf", "audio/x-caf")])
  func sound(format: String, media: String) async throws {
    let client = try await service.client()
    let body = payment("p1", "12.50", #""format":"\#(format)""#)
    let sound = try await client.post(body, ["Accept": media])
    #expect(sound.status == 201 && sound.header("Content-Type") == media)
    #expect(sound.header("Crier-Announcement-Id") == "p1" && sound.header("Location") == "/v1/announcements/p1")
    let report = try await client.post(body)
    #expect(report.status == 200)
    #expect(try report.string("clip.sha256") == Self.sha256(sound.body))
    #expect(sound.header("ETag") == "\"\(Self.sha256(sound.body))\"")
    #expect(try report.string("clip.format") == format && report.number("clip.bytes") == sound.body.count)
    let again = try await client.post(body, ["Accept": "audio/*"])
    #expect(again.status == 200 && again.body == sound.body)
  }

  @Test("a repeated request renders a deleted clip again and returns its sound")
  func removedClip() async throws {
    let client = try await service.client()
    let sound = try await client.post(payment(), ["Accept": "audio/wav"])
    let file = service.folder.url.appending(path: "containers/group.crier/Library/Sounds/\(service.clips()[0])")
    try FileManager.default.removeItem(at: file)
    let fresh = try TestService(in: service.folder)
    let again = try await TestClient(server: fresh.server, key: client.key).post(payment(), ["Accept": "audio/wav"])
    #expect(again.status == 200 && again.body == sound.body)
    #expect(fresh.voice.calls == 1 && fresh.clips().count == 1)
    // The service has the clip in memory. The next announcement of the words puts the clip back into its folder.
    try FileManager.default.removeItem(at: file)
    #expect(try await client.post(payment("p2")).status == 201)
    #expect(service.clips().count == 1)
  }

  @Test("a text without an id takes the Idempotency-Key as its id, or else a new id from the service")
  func texts() async throws {
    let client = try await service.client()
    let text = #"{"text":"We close soon"}"#
    let first = try await client.post(text)
    let second = try await client.post(text)
    #expect(first.status == 201 && second.status == 201)
    #expect(try first.string("id") != second.string("id"))
    #expect(try first.string("clip.name") == second.string("clip.name"))
    let keyed = try await client.post(text, ["Idempotency-Key": "k-1"])
    #expect(keyed.status == 201)
    #expect(try keyed.string("id") == "k-1")
    #expect(try await client.post(text, ["Idempotency-Key": "k-1"]).body == keyed.body)
    let named = try await client.post(#"{"text":"We close soon","id":"t 1"}"#)
    #expect(try named.string("id") == "t 1")
    #expect(named.header("Location") == "/v1/announcements/t%201")
    #expect(service.voice.calls == 1)
  }

  @Test("an id such as “..”, which HTTP clients remove from a path, is refused", arguments: [".", ".."])
  func dots(id: String) async throws {
    let answer = try await service.client().post(#"{"id":"\#(id)","amount":"1.00","currency":"USD"}"#)
    #expect(answer.status == 422 && answer.code == "field_invalid")
  }

  @Test(
    "an announcement with any characters in its id is found at its Location",
    arguments: ["订单-42", "a/b?c#d%25", "é", "e\u{301}", "👩‍👩‍👧", "...", "%2F", "a b", "+", "ünïcödé~_.-", "𝔘"])
  func anyID(id: String) async throws {
    let client = try await service.client()
    let encoded = String(decoding: try JSONEncoder().encode(id), as: UTF8.self)
    let answer = try await client.post(#"{"id":\#(encoded),"amount":"1.00","currency":"USD"}"#)
    #expect(answer.status == 201)
    let place = try #require(answer.header("Location"))
    #expect(place.utf8.allSatisfy { (0x21...0x7E).contains($0) })
    let found = try await client.get(place)
    #expect(found.status == 200)
    #expect(try found.string("id").map { Array($0.utf8) } == Array(id.utf8))
  }

  @Test("an option that a request omits comes from its key, and an option of the request takes precedence")
  func keyDefaults() async throws {
    let service = try TestService { $0.settings.groups = ["group.third"] }
    let client = try await service.client(locale: "zh-CN", group: "group.other")
    let left = try await client.post(payment("p1"))
    #expect(try left.string("locale") == "zh-CN")
    #expect(service.clips("group.other").count == 1 && service.clips().isEmpty)
    let said = try await client.post(payment("p2", "12.50", #""locale":"en-US","group":"group.third""#))
    #expect(try said.string("locale") == "en-US")
    #expect(service.clips("group.third").count == 1)
    let plain = try await service.client(account: "other").post(payment("p1"))
    #expect(try plain.string("locale") == "en-US")
    #expect(service.clips().count == 1)
    let name = try left.string("clip.name").orThrow("a name")
    #expect(try await client.get("/v1/clips/\(name)").status == 200, "a clip is found in any group")
  }

  @Test("the clip of a request is made with the options of the request")
  func options() async throws {
    let client = try await service.client()
    let plain = try await client.post(payment("p1"))
    let options =
      #""method":"speech","voice":"en-us+f5","rate":200,"format":"caf","encoding":"ulaw","sample_rate":8000"#
    let other = try await client.post(payment("p2", "12.50", options))
    #expect(other.status == 201)
    #expect(try other.string("clip.format") == "caf" && other.string("clip.encoding") == "ulaw")
    #expect(try other.number("clip.sample_rate") == 8_000 && plain.number("clip.sample_rate") == 22_050)
    #expect(try other.string("voice") == "en-us+f5" && plain.string("voice") != "en-us+f5")
    #expect(try plain.string("clip.name") != other.string("clip.name"))
  }

  @Test("fifty payments with the same words are fifty announcements that share one clip")
  func sameWords() async throws {
    let client = try await service.client()
    service.voice.hold()
    let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { [service] group in
      for number in 0..<50 { group.addTask { try await client.post(payment("p\(number)")) } }
      await service.voice.isAsked()
      service.voice.release()
      return try await group.reduce(into: [TestAnswer]()) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.status == 201 })
    #expect(Set(try answers.map { try $0.string("id") }).count == 50)
    #expect(Set(try answers.map { try $0.string("clip.sha256") }).count == 1)
    #expect(service.voice.calls == 1)
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.faults == [])
    let hits = ["memory", "shared", "disk"].compactMap { metrics.values[#"crier_cache_hits_total{tier="\#($0)"}"#] }
    #expect(hits.reduce(0, +) == 49)
    #expect(metrics.values[#"crier_requests_total{method="POST",path="/v1/announcements",status="201"}"#] == 50)
  }
}
