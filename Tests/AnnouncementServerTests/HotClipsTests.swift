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

/// A service that has a clip in memory, and whoever may fetch it. Its time stands still, so that it forgets no key.
private struct HotService {
  let service: TestService
  let client: TestClient
  /// The clip's path.
  let path: String
  /// The clip's signed URL, from its path on.
  let signed: String

  init(rate: NewKey.Rate? = nil, _ change: (inout TestService.Options) -> Void = { _ in }) async throws {
    service = try TestService {
      $0.time = { .zero }
      change(&$0)
    }
    client = try await service.client(rate: rate)
    let report = try await client.post(payment(), ["Idempotency-Key": "k"])
    path = "/v1/clips/\(try report.string("clip.name").orThrow("a name"))"
    let url = try report.string("clip.url").orThrow("a URL")
    signed = try String(url[url.range(of: "/v1/").orThrow("a path").lowerBound...])
  }

  func head(
    _ uri: String? = nil, _ more: [(String, String)] = [], method: HTTPMethod = .GET, version: HTTPVersion = .http1_1,
    bearer: String? = nil
  ) throws -> HTTPRequestHead {
    let key = try bearer ?? client.key.orThrow("a key").bearer
    let fields = [("Host", "crier.test"), ("Authorization", key)] + more
    return HTTPRequestHead(version: version, method: method, uri: uri ?? path, headers: HTTPHeaders(fields))
  }

  /// The answer while the key is remembered.
  func answer(to head: HTTPRequestHead) throws -> HotResponse? {
    #expect(service.server.hotRequests.clips.answer(to: try self.head()) != nil)
    return service.server.hotRequests.clips.answer(to: head)
  }
}

@Suite("Clips in memory", .timeLimit(.minutes(10)))
struct HotClipsTests {
  @Test("the fast path responds like the usual path, in every header and every byte")
  func same() async throws {
    let hot = try await HotService()
    let usual = try await hot.client.get(hot.path)
    let answer = try #require(try hot.answer(to: hot.head()))
    #expect(Data(answer.body.readableBytesView) == usual.body)
    #expect(answer.head.status.code == 200 && UInt(usual.status) == answer.head.status.code)
    var fields = Dictionary(uniqueKeysWithValues: answer.head.headers.map { ($0.name.lowercased(), $0.value) })
    var expected = Dictionary(uniqueKeysWithValues: usual.headers.map { ($0.name.canonicalName, $0.value) })
    // These differ in each response.
    for name in ["x-request-id", "ratelimit-remaining"] {
      #expect(fields[name]?.isEmpty == false && expected[name]?.isEmpty == false)
      (fields[name], expected[name]) = (nil, nil)
    }
    // These two the server library adds, to all answers.
    let date = try #require(fields["date"])
    #expect(date.wholeMatch(of: #/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/#) != nil)
    (expected["server"], expected["date"]) = ("crier", date)
    // The message rules add these to the answers of the library.
    for (name, value) in MessageRules.browserFields { expected[name.lowercased()] = value }
    #expect(fields == expected)
  }

  @Test("a request for anything but a complete clip takes the usual path")
  func usual() async throws {
    let hot = try await HotService()
    for field in [
      ("Range", "bytes=0-9"), ("If-None-Match", "\"x\""), ("If-Range", "\"x\""), ("Connection", "close"),
      ("Connection", "Upgrade"), ("Content-Length", "0"), ("Transfer-Encoding", "chunked"), ("Expect", "100-continue"),
      ("Upgrade", "h2c"), ("rAnGe", "bytes=0-9"), ("Authorization", "Bearer other"),
    ] {
      #expect(try hot.answer(to: hot.head(nil, [field])) == nil, "\(field)")
    }
    #expect(try hot.answer(to: hot.head(method: .HEAD)) == nil)
    #expect(try hot.answer(to: hot.head(method: .POST)) == nil)
    #expect(try hot.answer(to: hot.head(version: .http1_0)) == nil)
    #expect(try hot.answer(to: hot.head("/v1/clips/\(String(repeating: "0", count: 64)).wav")) == nil)
    #expect(try hot.answer(to: hot.head("/v1/clips/")) == nil)
    #expect(try hot.answer(to: hot.head("/healthz")) == nil)
    // What does not change the answer changes nothing.
    for field in [("Connection", "Keep-Alive"), ("Accept", "image/png"), ("User-Agent", "phone")] {
      #expect(try hot.answer(to: hot.head(nil, [field])) != nil, "\(field)")
    }
  }

  @Test("a request without the right to the clip takes the usual path and is refused there")
  func refused() async throws {
    let hot = try await HotService()
    let announcer = try await hot.service.client([.announce])
    #expect(try await announcer.get(hot.path).status == 403)
    for bearer in [
      try announcer.key.orThrow("a key").bearer, "Bearer \(APIKey.make().text)", "Bearer crier_", "Basic x", "",
    ] {
      #expect(try hot.answer(to: hot.head(bearer: bearer)) == nil)
    }
    let stranger = HTTPRequestHead(version: .http1_1, method: .GET, uri: hot.path)
    #expect(try hot.answer(to: stranger) == nil)
  }

  @Test("a revoked key is accepted no longer than keys are cached")
  func revoked() async throws {
    let hot = try await HotService()
    let other = try await hot.service.client()
    let key = try other.key.orThrow("a key")
    #expect(try await other.get(hot.path).status == 200)
    #expect(try await hot.service.ledger.revokeKey(key.key.id) != nil)
    // Nobody asks the ledger here: what was remembered is forgotten by time alone.
    #expect(try hot.answer(to: hot.head(bearer: key.bearer)) != nil)
    hot.service.wait(KeyRing.memory)
    #expect(hot.service.server.hotRequests.clips.answer(to: try hot.head(bearer: key.bearer)) == nil)
    #expect(try await other.get(hot.path).status == 401)
    #expect(try await hot.client.get(hot.path).status == 200)
    #expect(try hot.answer(to: hot.head(bearer: key.bearer)) == nil)
  }

  @Test("a valid signed URL needs no key, and an invalid or expired one is refused")
  func signed() async throws {
    let hot = try await HotService()
    func head(_ uri: String) -> HTTPRequestHead { HTTPRequestHead(version: .http1_1, method: .GET, uri: uri) }
    #expect(try hot.answer(to: head(hot.signed)) != nil)
    for uri in [
      hot.signed + "x", hot.signed.replacing("expires=", with: "expires=1"),
      hot.signed.replacing("signature", with: "s"),
      hot.path + "?" + (hot.signed.components(separatedBy: "&").last ?? ""),
    ] {
      #expect(try hot.answer(to: head(uri)) == nil, "\(uri)")
    }
    // The usual way refuses a parameter that is given twice, with its reason.
    for more in ["&expires=1", "&a=1&a=2"] {
      #expect(try hot.answer(to: head(hot.signed + more)) == nil)
      #expect(try hot.answer(to: hot.head(hot.signed + more)) == nil)
    }
    // A key that is sent is what counts, as in the usual way.
    #expect(try hot.answer(to: hot.head(hot.signed, bearer: "Bearer \(APIKey.make().text)")) == nil)
  }

  @Test("each request counts towards the key's rate limit, and a refused one does not")
  func limited() async throws {
    let hot = try await HotService(rate: NewKey.Rate(perSecond: 0.001, burst: 5))
    let head = try hot.head()
    // One is taken by the announcement.
    #expect(try await hot.client.get(hot.path).header("RateLimit-Remaining") == "3")
    for remaining in ["2", "1", "0"] {
      let answer = try #require(hot.service.server.hotRequests.clips.answer(to: head))
      #expect(answer.head.headers["RateLimit-Remaining"] == [remaining])
    }
    for _ in 0..<10 { #expect(hot.service.server.hotRequests.clips.answer(to: head) == nil) }
    #expect(try await hot.client.get(hot.path).status == 429)
  }

  @Test("requests on the fast path are counted in the metrics, and a stopping service has no fast path")
  func counted() async throws {
    let hot = try await HotService()
    let series = "crier_requests_total{method=\"GET\",path=\"/v1/clips/{name}\",status=\"200\"}"
    func count() async throws -> Int {
      let page = try await hot.service.stranger.get("/metrics").text
      let line = page.split(separator: "\n").first { $0.hasPrefix(series) }
      return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
    }
    let before = try await count()
    #expect(hot.service.server.hotRequests.clips.answer(to: try hot.head()) != nil)
    #expect(try await count() == before + 1)
    // By a URL, for which nothing is remembered that could be forgotten.
    let signed = HTTPRequestHead(version: .http1_1, method: .GET, uri: hot.signed)
    #expect(hot.service.server.hotRequests.clips.answer(to: signed) != nil)
    hot.service.server.stopping.stop()
    #expect(hot.service.server.hotRequests.clips.answer(to: signed) == nil)
  }
}
