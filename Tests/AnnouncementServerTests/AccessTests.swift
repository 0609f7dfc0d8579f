// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Access to calls")
struct AccessTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private static let calls: [(HTTPRequest.Method, String, Permission)] = [
    (.post, "/v1/announcements", .announce), (.get, "/v1/announcements", .read), (.get, "/v1/announcements/x", .read),
    (.get, "/v1/clips/x", .read), (.get, "/v1/playback", .read), (.post, "/v1/playback/pause", .attend),
    (.post, "/v1/playback/resume", .attend), (.post, "/v1/playback/replay", .attend),
    (.delete, "/v1/playback/x", .play),
    (.delete, "/v1/playback/replays/x", .play), (.delete, "/v1/batches/x", .announce),
    (.get, "/v1/events", .read), (.post, "/v1/batches", .announce), (.get, "/v1/batches/x", .read),
    (.get, "/v1/locales", .read), (.get, "/v1/voices", .read), (.get, "/v1/packs", .read),
    (.head, "/v1/locales", .read), (.get, "/v1/devices", .read), (.put, "/v1/devices/x", .register),
    (.get, "/v1/devices/x", .read), (.delete, "/v1/devices/x", .announce), (.delete, "/v1/playback/chime", .operate),
    (.get, "/v1/keys", .manageKeys),
  ]

  @Test("every call needs a key")
  func withoutKey() async throws {
    for (method, path, _) in Self.calls {
      let answer = try await service.stranger.send(method, path)
      #expect(answer.status == 401, "\(path)")
      #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
      if method != .head { #expect(answer.code == "key_missing") }
      #expect(answer.header("RateLimit-Limit") == nil)
    }
  }

  @Test("every call needs a key with a scope that allows the call")
  func scopes() async throws {
    let admin = try await service.client([.admin])
    for (method, path, permission) in Self.calls {
      let others = try await service.client(Scope.allCases.filter { !$0.allows(permission) })
      let answer = try await others.send(method, path)
      #expect(answer.status == 403, "\(path)")
      if method != .head { #expect(answer.code == "scope_missing") }
      for scope in permission.scopes where method != .head {
        #expect(try answer.string("detail")?.contains(scope.rawValue) == true)
      }
      guard path != "/v1/events" else { continue }
      let status = try await admin.send(method, path).status
      #expect(![401, 403, 404].contains(status) || path.hasSuffix("/x"), "\(path): \(status)")
      for scope in permission.scopes {
        let own = try await service.client([scope]).send(method, path)
        #expect(own.code != "scope_missing" && own.status == status, "\(path) \(scope)")
      }
    }
  }

  @Test(
    "paths that are open to everybody need no key, and ignore an invalid key",
    arguments: [
      "/healthz", "/metrics", "/openapi.json", "/", "/console.js", "/console/page.js", "/languages/en-US.json",
    ])
  func open(path: String) async throws {
    #expect(try await service.stranger.get(path).status == 200)
    #expect(try await service.stranger.get(path, ["Authorization": "Bearer nonsense"]).status == 200)
  }

  @Test("an unknown path gets 404 and an unknown method gets 405, even without a key")
  func notFound() async throws {
    for path in ["/v1", "/v2/announcements", "/v1/announcements/", "/console.html", "/../etc/passwd", "/%2e%2e"] {
      let answer = try await service.stranger.get(path)
      #expect(answer.status == 404 && answer.code == "not_found", "\(path)")
    }
    for (path, meant) in [
      ("/v1/announcements/", "/v1/announcements"), ("/v1/announcements//?a=b", "/v1/announcements"),
      ("/v1/clips/a.wav/", "/v1/clips/{name}"), ("/v1/playback/pause/", "/v1/playback/pause"),
      ("/healthz/", "/healthz"),
    ] {
      for method in [HTTPRequest.Method.get, .post, .delete] {
        let answer = try await service.stranger.send(method, path)
        #expect(answer.status == 404 && answer.code == "not_found", "\(path)")
        #expect(
          try answer.string("detail")
            == "There is no call with this path. Did you mean \(meant), without a slash at the end?")
      }
    }
    for path in ["//", "/v2/announcements/", "/v1/announcements/a/b/"] {
      #expect(try await service.stranger.get(path).text.contains("The paths are listed in /openapi.json."), "\(path)")
    }
    let answer = try await service.stranger.send(.put, "/v1/announcements")
    #expect(answer.status == 405 && answer.code == "method_not_allowed")
    #expect(answer.header("Allow") == "GET, HEAD, POST")
  }

  @Test("every response has a request id, and a problem document repeats the request id")
  func requestID() async throws {
    let answer = try await service.stranger.get("/v1/locales")
    #expect(answer.header("X-Request-Id") == (try answer.string("request_id")))
    #expect(try await service.stranger.get("/healthz").header("X-Request-Id")?.isEmpty == false)
  }

  @Test("a key above its limit gets 429, and another key is served")
  func limit() async throws {
    let client = try await service.client(rate: .init(perSecond: 0.001, burst: 2))
    let answers = [
      try await client.get("/v1/voices"), try await client.get("/v1/nothing"), try await client.get("/v1/voices"),
    ]
    #expect(answers.map(\.status) == [200, 404, 200])
    #expect(answers[0].header("RateLimit-Limit") == "2" && answers[0].header("RateLimit-Remaining") == "1")
    #expect(answers[2].header("RateLimit-Remaining") == "0")
    let refused = try await client.get("/v1/voices")
    #expect(refused.status == 429 && refused.code == "rate_limited")
    #expect(refused.header("RateLimit-Limit") == "2" && refused.header("RateLimit-Remaining") == "0")
    #expect((Int(refused.header("Retry-After") ?? "") ?? 0) > 900)
    #expect((Int(refused.header("RateLimit-Reset") ?? "") ?? 0) > 1_900)
    #expect(try await service.client().get("/v1/voices").status == 200)
    #expect(try await service.stranger.get("/metrics").text.contains(#"crier_refusals_total{code="rate_limited"} 1"#))
  }

  @Test("a request that is refused for its scope counts towards the rate limit")
  func refusedCounts() async throws {
    let client = try await service.client([.read], rate: .init(perSecond: 0.01, burst: 1))
    #expect(try await client.post(payment()).status == 403)
    #expect(try await client.get("/v1/voices").status == 429)
  }

  // MARK: Signed requests

  private func signed(
    _ client: TestClient, _ method: HTTPRequest.Method = .post, body: String, at seconds: TimeInterval = 1,
    target: String = "/v1/announcements", idempotencyKey: String? = nil, version: SignedRequest.Version = .two
  ) throws -> [String: String] {
    let key = try client.key.orThrow("a key").key
    let request = SignedRequest(
      signing: .init(
        method: method.rawValue, target: target, idempotencyKey: idempotencyKey,
        contentType: method == .post ? "application/json" : nil, body: Data(body.utf8)),
      with: key.digest, at: Int64(Date().timeIntervalSince1970 + seconds), version: version)
    var headers = ["Authorization": "Crier \(key.id)"]
    headers["Idempotency-Key"] = idempotencyKey
    for (name, value) in request.headerFields { headers[name] = value }
    return headers
  }

  @Test("a signed request is accepted only once")
  func signedRequest() async throws {
    let client = try await service.client()
    let headers = try signed(client, body: payment())
    let answer = try await client.post(payment(), headers)
    #expect(answer.status == 201 && answer.header("RateLimit-Limit") != nil)
    let again = try await client.post(payment(), headers)
    #expect(again.status == 401 && again.code == "replayed")
    #expect(try await client.post(payment(), try signed(client, body: payment(), at: 2)).status == 200)
  }

  @Test("all services that share a folder together accept a signed request only once, also after a restart")
  func signedRequestToTwo() async throws {
    let client = try await service.client()
    let headers = try signed(client, body: payment())
    #expect(try await client.post(payment(), headers).status == 201)
    for _ in 0..<2 {
      let other = try TestService(in: service.folder)
      let again = try await TestClient(server: other.server, key: client.key).post(payment(), headers)
      #expect(again.status == 401 && again.code == "replayed")
    }
  }

  @Test("a request signed before the service started is accepted, because the ledger remembers earlier requests")
  func signedBeforeStart() async throws {
    let client = try await service.client()
    #expect(try await client.post(payment(), try signed(client, body: payment(), at: -60)).status == 201)
  }

  @Test("a signed request that the rate limit refuses is not remembered and may be sent again unchanged")
  func signedAboveLimit() async throws {
    let client = try await service.client(rate: .init(perSecond: 0.001, burst: 1))
    #expect(try await client.get("/v1/voices").status == 200)
    let headers = try signed(client, body: payment())
    for _ in 0..<2 {
      let answer = try await client.post(payment(), headers)
      #expect(answer.status == 429 && answer.code == "rate_limited" && answer.header("RateLimit-Limit") == "1")
    }
  }

  @Test("a replay of a signed request does not count towards the key's rate limit")
  func replaysAreNobodys() async throws {
    let client = try await service.client(rate: .init(perSecond: 0.001, burst: 2))
    let headers = try signed(client, body: payment())
    #expect(try await client.post(payment(), headers).status == 201)
    for _ in 0..<5 {
      let again = try await client.post(payment(), headers)
      #expect(again.code == "replayed" && again.header("RateLimit-Limit") == nil)
    }
    #expect(try await client.post(payment(), try signed(client, body: payment(), at: 2)).status == 200)
  }

  @Test(
    "a signed GET or HEAD writes nothing to the ledger and may be repeated within its time window",
    arguments: ["GET", "HEAD"])
  func signedReading(name: String) async throws {
    let method = try HTTPRequest.Method(name).orThrow("a method")
    let client = try await service.client()
    func send(at seconds: TimeInterval, _ target: String = "/v1/voices") async throws -> Int {
      let headers = try signed(client, method, body: "", at: seconds, target: "/v1/voices")
      return try await client.send(method, target, headers: headers).status
    }
    for _ in 0..<3 { #expect(try await send(at: -20) == 200) }
    for seconds in [-310, 3_600] as [TimeInterval] { #expect(try await send(at: seconds) == 401) }
    #expect(try await send(at: -20, "/v1/voices?a=1") == 401)
    #expect(try await service.ledger.forgetSignedRequests(before: .max) == 0, "no request was recorded")
  }

  @Test("a changed Idempotency-Key or Content-Type invalidates a signature")
  func signedFields() async throws {
    let client = try await service.client()
    for (name, value) in [("Idempotency-Key", "k-2"), ("Content-Type", "text/csv"), ("Idempotency-Key", "")] {
      var headers = try signed(client, body: payment(), idempotencyKey: "k-1")
      headers[name] = value
      let answer = try await client.post(payment(), headers)
      #expect(answer.status == 401 && answer.code == "signature_invalid", "\(name): \(value)")
    }
    var headers = try signed(client, body: payment())
    headers["Idempotency-Key"] = "k-1"
    #expect(try await client.post(payment(), headers).code == "signature_invalid", "the added field was not signed")
    #expect(service.voice.calls == 0)
    headers = try signed(client, body: payment(), idempotencyKey: "k-1")
    #expect(try await client.post(payment(), headers).status == 201)
  }

  @Test("a signature of version 1 is accepted once, and refused for a request with an Idempotency-Key")
  func firstVersion() async throws {
    let client = try await service.client()
    var headers = try signed(client, body: payment(), version: .one)
    #expect(try await client.post(payment(), headers).status == 201)
    #expect(try await client.post(payment(), headers).code == "replayed")
    headers = try signed(client, body: payment("p2"), version: .one)
    headers["Idempotency-Key"] = "k-1"
    let answer = try await client.post(payment("p2"), headers)
    #expect(answer.status == 401 && answer.code == "signature_outdated")
  }

  @Test("a request is refused if its key has expired or may not be used from the address, and the log names the key")
  func outside() async throws {
    for (expiresAt, addresses, status, code) in [
      (Date(timeIntervalSinceNow: -1), [String](), 401, "key_expired"),
      (nil, ["192.0.2.7"], 403, "address_not_allowed"),
    ] as [(Date?, [String], Int, String)] {
      let key = APIKey.make()
      try await service.ledger.createKey(
        NewKey(
          id: key.id, account: "shop", digest: key.digest, scopes: ["announce"], expiresAt: expiresAt,
          addresses: addresses))
      let client = TestClient(server: service.server, key: TestKey(key: key, account: "shop"), log: service.log)
      for headers in [[:], try signed(client, body: payment())] {
        let answer = try await client.post(payment(), headers)
        #expect(answer.status == status && answer.code == code)
        #expect((answer.header("WWW-Authenticate") != nil) == (status == 401))
        let line = try service.log.lines.last { $0.contains(code) }.orThrow("a line of the log")
        #expect(line.contains(APIKey.logName(ofDigest: key.digest)), "the line names the key: \(line)")
      }
    }
    #expect(try await service.ledger.entry(account: "shop", id: "p1") == nil)
  }

  @Test("a signature of another body, target or key is refused")
  func wrongSignature() async throws {
    let client = try await service.client()
    let changed = try await client.post(payment("p1", "99.00"), try signed(client, body: payment()))
    #expect(changed.status == 401 && changed.code == "signature_invalid")
    let target = try await client.post(payment(), try signed(client, body: payment(), target: "/v1/announcements?a=1"))
    #expect(target.code == "signature_invalid")
    var headers = try signed(client, body: payment())
    headers["Authorization"] = "Crier \(try await service.client().key.orThrow("a key").key.id)"
    #expect(try await client.post(payment(), headers).code == "signature_invalid")
    #expect(service.voice.calls == 0)
  }

  @Test("a signature is refused if it is too old, from the future, missing, malformed or from an unknown key")
  func badSignature() async throws {
    let client = try await service.client()
    // The second time is far ahead, because on a busy machine seconds pass until the service checks it.
    for seconds in [-310, 3_600] as [TimeInterval] {
      let answer = try await client.post(payment(), try signed(client, body: payment(), at: seconds))
      #expect(answer.status == 401 && answer.code == "timestamp_outside_window")
    }
    var headers = try signed(client, body: payment())
    headers["Crier-Signature"] = nil
    #expect(try await client.post(payment(), headers).code == "signature_missing")
    headers["Crier-Signature"] = "v2=00"
    #expect(try await client.post(payment(), headers).code == "signature_malformed")
    headers = try signed(client, body: payment())
    headers["Authorization"] = "Crier 00000000"
    #expect(try await client.post(payment(), headers).code == "key_unknown")
    headers["Authorization"] = "Crier not-an-id"
    #expect(try await client.post(payment(), headers).code == "key_unknown")
  }

  @Test("a signed body has the same size limit as any other body")
  func signedBody() async throws {
    let client = try await service.client()
    let large = payment("p1", "1.00", #""note":"\#(String(repeating: "x", count: 70_000))""#)
    let answer = try await client.post(large, try signed(client, body: large))
    #expect(answer.status == 413 && answer.code == "payload_too_large")
  }
}

@Suite("The request log")
struct LogTests {
  @Test("each request has a log line, and no log line has a key, an amount, an id, a name or a text")
  func lines() async throws {
    let service = try TestService()
    let client = try await service.client(account: "Zhang's shop")
    let body = payment("id-zqzq", "77.31", #""payer":"Zhang San","note":"lunch""#)
    _ = try await client.post(body)
    _ = try await client.post(body)
    _ = try await client.post(payment("id-zqzq", "77.32"))
    _ = try await client.post(payment("id-zqzq", "77.317"))
    service.voice.fail(.engineUnavailable)
    _ = try await client.post(#"{"text":"Zhang San","id":"id-zqzq2"}"#)
    _ = try await client.get("/v1/announcements/id-zqzq?limit=Zhang")
    _ = try await client.get("/v1/nothing/id-zqzq")
    _ = try await service.stranger.get("/v1/voices", ["Authorization": "Bearer \(APIKey.make().text.dropLast())"])
    let lines = service.log.lines
    #expect(lines.count { $0.contains("request") } >= 8)
    #expect(lines.contains { $0.contains("201") && $0.contains("/v1/announcements") })
    for code in ["id_conflict", "not_found", "engine_unavailable"] {
      #expect(lines.contains { $0.contains("request") && $0.contains(code) }, "a refusal's line has its code: \(code)")
    }
    let key = try client.key.orThrow("a key").key
    let name = APIKey.logName(ofDigest: key.digest)
    #expect(lines.contains { $0.contains(name) }, "the line names the key by its log name")
    for secret in [key.id, "77.3", "zqzq", "Zhang", "lunch", key.text, String(key.text.suffix(20)), "crier_"] {
      #expect(!lines.contains { $0.contains(secret) }, "\(secret)")
    }
  }
}
