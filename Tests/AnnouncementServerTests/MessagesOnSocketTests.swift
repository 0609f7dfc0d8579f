// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import NIOCore
import NIOPosix
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The rules of HTTP/1.1 on a socket", .timeLimit(.minutes(10)))
struct MessagesOnSocketTests {
  private let listening = ListeningTests()
  private static let next = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

  /// A text that is sent over a connection, and the end of its answer.
  private struct Turn {
    var say: String
    var hear: String
  }

  /// Sends a text and reads its answer, turn by turn.
  ///
  /// - Returns: The answer of each turn.
  private static func converse(_ port: Int, _ turns: [Turn]) async throws -> [String] {
    let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await connection.executeThenClose { inbound, outbound in
      var (heard, rest) = ([String](), "")
      try await outbound.write(ByteBuffer(string: turns[0].say))
      for try await piece in inbound {
        rest += String(buffer: piece)
        while let range = rest.range(of: turns[heard.count].hear) {
          heard.append(String(rest[..<range.upperBound]))
          rest = String(rest[range.upperBound...])
          if heard.count == turns.count { return heard }
          try await outbound.write(ByteBuffer(string: turns[heard.count].say))
        }
      }
      throw Missing(what: turns[heard.count].hear)
    }
  }

  @Test(
    "an ambiguous HTTP message is refused, and nothing after it is read",
    arguments: [
      ("", 400, "GET /healthz HTTP/1.1\r\n\r\n"), ("", 400, "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
      ("", 400, "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n"), ("", 400, "GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n"),
      ("Content-Length: 4\r\nTransfer-Encoding: chunked", 400, ""),
      ("Transfer-Encoding: chunked\r\nContent-Length: 4", 400, ""), ("Content-Length: 4\r\nContent-Length: 5", 400, ""),
      ("Content-Length: 4\r\nContent-Length: 4", 400, ""), ("Content-Length: 4, 4", 400, ""),
      ("Content-Length: +4", 400, ""), ("Content-Length: -4", 400, ""), ("Content-Length: 0x4", 400, ""),
      ("Content-Length: 99999999999999999999", 400, ""), ("X-A: b\r\n c", 400, ""), ("X-A: b\rc", 400, ""),
      ("X-A: b\u{0}c", 400, ""), ("X-A : b", 400, ""), (" X-A: b", 400, ""), (": b", 400, ""), ("X A: b", 400, ""),
      ("Transfer-Encoding: gzip, chunked", 501, ""), ("Transfer-Encoding: chunked, gzip", 400, ""),
      ("Transfer-Encoding: identity", 501, ""), ("Transfer-Encoding: xchunked", 501, ""),
      ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400, ""),
      ("Transfer-Encoding: \u{0B}chunked", 400, ""), ("Expect: a-reply", 417, ""),
      ("", 400, "GET /healthz HTTP/1.1\nHost: a\n\n"), ("", 400, "GET /heal thz HTTP/1.1\r\nHost: a\r\n\r\n"),
      ("", 400, "GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n"), ("", 400, "GET /healthz HTTP/1.2\r\nHost: a\r\n\r\n"),
      ("", 400, "GET /healthz HTTP/0.9\r\nHost: a\r\n\r\n"), ("", 400, "GET /healthz\r\n\r\n"),
      ("", 400, "get /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
    ])
  func ambiguous(field: String, status: Int, whole: String) async throws {
    let text = whole.isEmpty ? "GET /healthz HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n" : whole
    try await listening.serve { service, port in
      let answer = try await ListeningTests.talk(port, text + Self.next)
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "one answer: \(answer)")
    }
  }

  @Test(
    "malformed chunks of a body end the connection",
    arguments: ["zz\r\n", "-1\r\nx\r\n0\r\n\r\n", "1\nx\n0\n\n", "1\r\nxy\r\n"])
  func chunks(body: String) async throws {
    try await listening.serve { service, port in
      let head = "POST /v1/announcements HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      let answer = try await ListeningTests.talk(port, head + body + Self.next)
      #expect(!answer.contains(" 200 "), "\(answer)")
    }
  }

  @Test("a response to HTTP/1.0 has no chunks and closes the connection, and the request needs no Host header")
  func old() async throws {
    try await listening.serve { service, port in
      for path in ["/healthz", "/nothing", "/console.js"] {
        let answer = try await ListeningTests.talk(
          port, "GET \(path) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + Self.next)
        #expect(answer.hasPrefix("HTTP/1.0 ") && answer.components(separatedBy: "\nServer:").count <= 2)
        let head = answer.components(separatedBy: "\r\n\r\n")[0].lowercased()
        #expect(head.contains("connection: close") && !head.contains("transfer-encoding"))
      }
    }
  }

  @Test("an event stream for HTTP/1.0 has no chunks")
  func oldStream() async throws {
    try await listening.serve { service, port in
      let key = try await service.client().key.orThrow("a key").bearer
      let heard = try await Self.converse(
        port,
        [
          Turn(say: "GET /v1/events HTTP/1.0\r\nAuthorization: \(key)\r\n\r\n", hear: "\r\n\r\n"),
          Turn(say: "", hear: "\n\n"),
        ])
      #expect(heard[0].hasPrefix("HTTP/1.0 200 ") && !heard[0].lowercased().contains("chunked"))
      #expect(heard[1] == ": crier\n\n")
    }
  }

  @Test("a connection is closed when the client's Connection header says close, in any spelling")
  func closes() async throws {
    try await listening.serve { service, port in
      let answer = try await ListeningTests.talk(
        port, ListeningTests.get("/healthz", "Connection: Close\r\n") + Self.next)
      #expect(answer.components(separatedBy: "HTTP/1.1 200").count == 2)
    }
  }

  // MARK: 100 Continue

  private static func post(_ path: String, key: String?, _ length: Int, _ more: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: a\r\n\(key.map { "Authorization: \($0)\r\n" } ?? "")Expect: 100-continue\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(length)\r\n\(more)\r\n"
  }

  @Test("a client that waits for 100 Continue receives it when the body is read, and the connection stays open")
  func continues() async throws {
    try await listening.serve { service, port in
      let key = try await service.client().key.orThrow("a key").bearer
      let turns = ["p1", "p2"].flatMap { id in
        [
          Turn(say: Self.post("/v1/announcements", key: key, payment(id).utf8.count), hear: "\r\n\r\n"),
          Turn(say: payment(id), hear: "\r\n\r\n"), Turn(say: "", hear: #""warnings":[]}"#),
        ]
      }
      let heard = try await Self.converse(port, turns)
      for start in [0, 3] {
        #expect(heard[start] == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(heard[start + 1].hasPrefix("HTTP/1.1 201 "))
      }
    }
  }

  @Test("a signed request whose client waits for 100 Continue receives it")
  func continuesSigned() async throws {
    try await listening.serve { service, port in
      let key = try await service.client().key.orThrow("a key").key
      let body = payment()
      let signed = SignedRequest(
        signing: .init(
          method: "POST", target: "/v1/announcements", contentType: "application/json", body: Data(body.utf8)),
        with: key.digest, at: Int64(Date().timeIntervalSince1970))
      let fields = signed.headerFields.map { "\($0.name): \($0.value)\r\n" }.joined()
      let head = Self.post("/v1/announcements", key: "Crier \(key.id)", body.utf8.count, fields)
      let heard = try await Self.converse(
        port, [Turn(say: head, hear: "\r\n\r\n"), Turn(say: body, hear: "\r\n\r\n")])
      #expect(heard[0] == "HTTP/1.1 100 Continue\r\n\r\n" && heard[1].hasPrefix("HTTP/1.1 201 "))
    }
  }

  @Test("a request that is refused before its body is read gets no 100 Continue, and its connection ends")
  func refusedAtOnce() async throws {
    try await listening.serve { service, port in
      let key = try await service.client().key.orThrow("a key").bearer
      let reader = try await service.client([.read]).key.orThrow("a key").bearer
      let exhausted = try await service.client(rate: .init(perSecond: 0.001, burst: 1))
      _ = try await exhausted.get("/v1/voices")
      let last = try exhausted.key.orThrow("a key").bearer
      for (path, key, length, more, status) in [
        ("/v1/announcements", nil, 9, "", 401), ("/v1/announcements", "Bearer x", 9, "", 401),
        ("/v1/announcements", reader, 9, "", 403), ("/v1/nothing", key, 9, "", 404),
        ("/v1/announcements/x", key, 9, "", 405), ("/v1/announcements", key, 1 << 30, "", 413),
        ("/v1/announcements", key, 9, "Content-Encoding: gzip\r\n", 415), ("/v1/announcements", last, 9, "", 429),
        ("/v1/batches", key, 9, "Content-Encoding: gzip\r\n", 415),
      ] as [(String, String?, Int, String, Int)] {
        let answer = try await ListeningTests.talk(port, Self.post(path, key: key, length, more))
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && !answer.contains("HTTP/1.1 100"), "\(path): \(answer)")
        #expect(answer.lowercased().contains("connection: close"))
      }
    }
  }

  @Test("a request without a body, or with HTTP/1.0, gets no 100 Continue")
  func nothingToContinue() async throws {
    try await listening.serve { service, port in
      let key = try await service.client().key.orThrow("a key").bearer
      for text in [
        Self.post("/v1/announcements", key: key, 0, "Connection: close\r\n"),
        Self.post("/v1/announcements", key: key, 2).replacing("HTTP/1.1", with: "HTTP/1.0") + "{}",
        ListeningTests.get("/healthz", "Expect: 100-continue\r\nConnection: close\r\n"),
      ] {
        let answer = try await ListeningTests.talk(port, text)
        #expect(answer.hasPrefix("HTTP/1.") && !answer.contains(" 100 Continue"), "\(answer)")
      }
    }
  }

  @Test("a compressed body is refused, the error names the accepted coding, and the coding identity is accepted")
  func compressed() async throws {
    let service = try TestService()
    let client = try await service.client()
    for coding in ["gzip", "deflate, gzip", "br", "x-gzip"] {
      let answer = try await client.post(payment(), ["Content-Encoding": coding])
      #expect(answer.status == 415 && answer.code == "content_coding_unsupported")
      #expect(answer.header("Accept-Encoding") == "identity")
    }
    #expect(try await client.post(payment(), ["Content-Encoding": "identity"]).status == 201)
  }

  // MARK: Every answer

  @Test("every response forbids browsers to guess its media type, and other sites to embed it")
  func fields() async throws {
    try await listening.serve { service, port in
      let client = try await service.client()
      let name = try await client.post(payment()).string("clip.name").orThrow("a name")
      let key = try client.key.orThrow("a key").bearer
      let tag = try await service.stranger.get("/").header("ETag").orThrow("a tag")
      let close = "Connection: close\r\n"
      let clip = ListeningTests.get("/v1/clips/\(name)", "Authorization: \(key)\r\n")
      for text in [
        ListeningTests.get("/healthz"), ListeningTests.get("/nothing"), ListeningTests.get("/v1/voices"),
        ListeningTests.get("/").replacing("crier.test", with: "localhost"),
        ListeningTests.get("/").replacing("crier.test", with: "evil.example"),
        ListeningTests.get("/", "If-None-Match: \(tag)\r\n\(close)"), "HEAD / HTTP/1.0\r\n\r\n", "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", clip + clip + clip + ListeningTests.get("/healthz"),
      ] {
        let answer = try await ListeningTests.talk(port, text).lowercased()
        let count = answer.matches(of: #/http\/1\.[01] \d{3}/#).count
        #expect(count > 0)
        #expect(answer.components(separatedBy: "\r\nx-content-type-options: nosniff\r\n").count == count + 1)
        #expect(answer.components(separatedBy: "\r\ncross-origin-resource-policy: same-origin\r\n").count == count + 1)
      }
    }
  }

  @Test("a request id reveals neither the number of requests nor the next id")
  func requestIDs() async throws {
    let service = try TestService()
    var ids: [String] = []
    for _ in 0..<50 { ids.append(try await service.stranger.get("/healthz").header("X-Request-Id").orThrow("an id")) }
    #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    // No half of an id occurs twice, because each half has 64 random bits.
    #expect(Set(ids.map { $0.prefix(16) }).count == 50 && Set(ids.map { $0.suffix(16) }).count == 50)
    let numbers = ids.compactMap { UInt64($0.suffix(16), radix: 16) }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 &- $0 > 1_000 })
  }

  // MARK: Names

  @Test(
    "the console and the metrics are served only under the service's own names, so other sites cannot read them",
    arguments: [
      "/", "/console.css", "/console.js", "/console/page.js", "/languages/en-US.json", "/openapi.json", "/metrics",
    ])
  func names(path: String) async throws {
    let service = try TestService { $0.settings.publicURL = "https://pay.example" }
    var stranger = service.stranger
    for name in ["localhost:8080", "127.0.0.1", "[::1]:8080", "pay.example", "crier.test"] {
      stranger.authority = name
      #expect(try await stranger.get(path).status == 200, "\(name)")
    }
    for name in ["evil.example", "evil.example:8080", "192.0.2.7", nil] {
      stranger.authority = name
      let answer = try await stranger.get(path)
      #expect(answer.status == 421 && answer.code == "host_unknown", "\(name ?? "none")")
    }
  }

  @Test("calls with a key, and the health check, are served under any name")
  func otherNames() async throws {
    let service = try TestService()
    var client = try await service.client()
    client.authority = "evil.example"
    for path in ["/healthz", "/v1/voices"] { #expect(try await client.get(path).status == 200) }
    client.key = nil
    #expect(try await client.get("/v1/voices").status == 401)
  }
}
