// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Ledger
import NIOCore
import NIOHTTP1
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

/// A service that has announced a payment, and whoever repeats the request. Its time stands still, so that it forgets no
/// key.
private struct RepeatingService {
  static let body = payment("once")
  let service: TestService
  let client: TestClient

  init(
    service: TestService? = nil, rate: NewKey.Rate? = nil, isStrict: Bool = false, key: String? = "k"
  ) async throws {
    self.service = try service ?? TestService { $0.time = { .zero } }
    client = try await self.service.client(rate: rate, isStrict: isStrict)
    let first = try await client.post(Self.body, key.map { ["Idempotency-Key": $0] } ?? [:])
    #expect(first.status == 201)
  }

  func head(
    _ more: [(String, String)] = [("Idempotency-Key", "k")], contentType: String? = "application/json",
    length: Int? = body.utf8.count, uri: String = "/v1/announcements", method: HTTPMethod = .POST,
    version: HTTPVersion = .http1_1, bearer: String? = nil
  ) throws -> HTTPRequestHead {
    let key = try bearer ?? client.key.orThrow("a key").bearer
    var fields = [("Host", "crier.test"), ("Authorization", key)] + more
    if let contentType { fields.append(("Content-Type", contentType)) }
    if let length { fields.append(("Content-Length", String(length))) }
    return HTTPRequestHead(version: version, method: method, uri: uri, headers: HTTPHeaders(fields))
  }

  /// The response of the fast path; nil if the request takes the usual path.
  func answer(to head: HTTPRequestHead, _ body: String = body) -> HotResponse? {
    guard case .answerWithBody(let answer) = service.server.hotRequests.decision(about: head) else { return nil }
    return answer(ByteBuffer(string: body))
  }
}

@Suite("Repeated announcements in memory", .timeLimit(.minutes(10)))
struct HotAnnouncementsTests {
  @Test("the fast path responds like the usual path, in every header and every byte", arguments: ["k", nil])
  func same(key: String?) async throws {
    let repeating = try await RepeatingService(key: key)
    let usual = try await repeating.client.post(RepeatingService.body, key.map { ["Idempotency-Key": $0] } ?? [:])
    let answer = try #require(repeating.answer(to: repeating.head(key.map { [("Idempotency-Key", $0)] } ?? [])))
    #expect(Data(answer.body.readableBytesView) == usual.body)
    #expect(usual.status == 200 && answer.head.status.code == 200)
    var fields = Dictionary(uniqueKeysWithValues: answer.head.headers.map { ($0.name.lowercased(), $0.value) })
    var expected = Dictionary(uniqueKeysWithValues: usual.headers.map { ($0.name.canonicalName, $0.value) })
    // These differ in each response.
    for name in ["x-request-id", "ratelimit-remaining"] {
      #expect(fields[name]?.isEmpty == false && expected[name]?.isEmpty == false)
      (fields[name], expected[name]) = (nil, nil)
    }
    // The server library adds the length, the server and the date, and the message rules add the other two.
    #expect(fields["date"] != nil && fields["content-length"] == String(usual.body.count))
    expected["server"] = "crier"
    for name in ["date", "content-length"] { expected[name] = fields[name] }
    for (name, value) in MessageRules.browserFields { expected[name.lowercased()] = value }
    #expect(fields == expected)
  }

  @Test("a request that the usual path might answer differently takes the usual path")
  func usual() async throws {
    let repeating = try await RepeatingService()
    let key = ("Idempotency-Key", "k")
    for field in [
      ("Expect", "100-continue"), ("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"), ("Upgrade", "h2c"),
      ("Prefer", "handling=strict"), ("Connection", "close"), ("Accept", "audio/wav"), ("Accept", "text/html"),
      ("Idempotency-Key", "other"), ("Authorization", "Bearer other"), ("Content-Type", "application/json"),
      ("Range", "bytes=0-9"),
    ] {
      #expect(repeating.answer(to: try repeating.head([key, field])) == nil, "\(field)")
    }
    for value in ["", "k ", "\"k", "kä", "\u{A0}k", String(repeating: "k", count: 256)] {
      #expect(repeating.answer(to: try repeating.head([("Idempotency-Key", value)])) == nil, "\(value)")
    }
    let heads = [
      try repeating.head(contentType: nil), try repeating.head(contentType: "text/plain"),
      try repeating.head(contentType: "application/json; charset=utf-8"), try repeating.head(length: nil),
      try repeating.head(length: HotAnnouncements.largestBody + 1), try repeating.head(method: .PUT),
      try repeating.head(version: .http1_0), try repeating.head(uri: "/v1/announcements?x=1"),
      try repeating.head(uri: "/v1/announcements/"), try repeating.head(uri: "/v1/previews"), try repeating.head([]),
    ]
    for head in heads { #expect(repeating.answer(to: head) == nil, "\(head)") }
    // What does not change the answer changes nothing.
    for field in [
      ("Connection", "Keep-Alive"), ("Accept", "*/*"), ("Accept", "application/json"), ("User-Agent", "shop"),
    ] {
      #expect(repeating.answer(to: try repeating.head([key, field])) != nil, "\(field)")
    }
    #expect(repeating.answer(to: try repeating.head([("idempotency-key", "\"k\"")])) != nil)
  }

  @Test("another body, an unknown payment and a removed announcement take the usual path")
  func unknown() async throws {
    let repeating = try await RepeatingService()
    let head = try repeating.head()
    for body in [RepeatingService.body + " ", payment("twice"), ""] {
      #expect(repeating.answer(to: head, body) == nil, "\(body)")
    }
    let text = #"{"text":"Hello","locale":"en-US"}"#
    #expect(try await repeating.client.post(text).status == 201)
    // A text without an id and without a key is announced each time.
    #expect(repeating.answer(to: try repeating.head([]), text) == nil)
    #expect(repeating.answer(to: head) != nil)
    #expect(try await repeating.client.send(.delete, "/v1/announcements/once").status == 200)
    #expect(repeating.answer(to: head) == nil)
  }

  @Test("a key without the right to announce, a strict key, and another account's key take the usual path")
  func refused() async throws {
    let repeating = try await RepeatingService()
    let reader = try await repeating.service.client([.read])
    #expect(try await reader.get("/v1/announcements").status == 200)
    let other = try await repeating.service.client(account: "other")
    #expect(try await other.get("/v1/announcements").status == 200)
    for bearer in [
      try reader.key.orThrow("a key").bearer, try other.key.orThrow("a key").bearer,
      "Bearer \(APIKey.make().text)", "Bearer crier_", "Basic x", "",
    ] {
      #expect(repeating.answer(to: try repeating.head(bearer: bearer)) == nil)
    }
    let strict = try await RepeatingService(isStrict: true)
    #expect(strict.answer(to: try strict.head()) == nil)
  }

  @Test("the location of an id with other characters is percent-encoded as on the usual path")
  func location() async throws {
    let repeating = try await RepeatingService()
    let body = payment("Ä 1/2")
    #expect(try await repeating.client.post(body).status == 201)
    let usual = try await repeating.client.post(body).header("Location")
    let answer = try #require(repeating.answer(to: repeating.head([], length: body.utf8.count), body))
    #expect(usual == "/v1/announcements/%C3%84%201%2F2" && answer.head.headers["Location"] == usual.map { [$0] })
  }

  @Test("after a day, a request takes the usual path")
  func expired() async throws {
    for (margin, isFast) in [(3_600.0, true), (-60, false)] {
      let repeating = try await RepeatingService(
        service: try TestService {
          $0.time = { .zero }
          $0.now = { Date(timeIntervalSinceNow: -Ledger.answerLifetime + margin) }
        })
      #expect((repeating.answer(to: try repeating.head()) != nil) == isFast)
    }
  }

  @Test("a revoked key is accepted no longer than keys are cached")
  func revoked() async throws {
    let repeating = try await RepeatingService()
    let key = try repeating.client.key.orThrow("a key")
    #expect(try await repeating.service.ledger.revokeKey(key.key.id) != nil)
    #expect(repeating.answer(to: try repeating.head()) != nil)
    repeating.service.wait(KeyRing.memory)
    #expect(repeating.answer(to: try repeating.head()) == nil)
    #expect(try await repeating.client.post(RepeatingService.body, ["Idempotency-Key": "k"]).status == 401)
  }

  @Test("each request counts towards the key's rate limit, and a refused one does not")
  func limited() async throws {
    let repeating = try await RepeatingService(rate: NewKey.Rate(perSecond: 0.001, burst: 4))
    let head = try repeating.head()
    for remaining in ["2", "1", "0"] {
      let answer = try #require(repeating.answer(to: head))
      #expect(answer.head.headers["RateLimit-Remaining"] == [remaining])
    }
    for _ in 0..<10 { #expect(repeating.answer(to: head) == nil) }
    #expect(try await repeating.client.post(RepeatingService.body, ["Idempotency-Key": "k"]).status == 429)
  }

  @Test("requests on the fast path are counted in the metrics, and a stopping service has no fast path")
  func counted() async throws {
    let repeating = try await RepeatingService()
    let series = "crier_requests_total{method=\"POST\",path=\"/v1/announcements\",status=\"200\"}"
    func count() async throws -> Int {
      Int(MetricLines(try await repeating.service.stranger.get("/metrics").text).values[series] ?? 0)
    }
    let before = try await count()
    let head = try repeating.head()
    #expect(repeating.answer(to: head) != nil)
    #expect(try await count() == before + 1)
    repeating.service.server.stopping.stop()
    #expect(repeating.answer(to: head) == nil)
  }
}
