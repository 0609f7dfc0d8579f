// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Requests from memory over a socket", .timeLimit(.minutes(10)))
struct HotRequestsOnSocketTests {
  private let listening = ListeningTests()

  /// A request that announces a payment.
  private static func post(_ body: String, _ key: String, _ more: String = "") -> String {
    "POST /v1/announcements HTTP/1.1\r\nHost: crier.test\r\nAuthorization: \(key)\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\(more)\r\n\(body)"
  }

  @Test("requests that are answered from memory and others are answered in their order, each once")
  func order() async throws {
    // Time stands still, so that the service does not forget the key.
    try await listening.serve({ $0.time = { .zero } }) { service, port in
      let client = try await service.client()
      let clip = try await client.post(payment("a")).string("clip.name").orThrow("a name")
      let key = try client.key.orThrow("a key").bearer
      #expect(service.server.hotRequests.clips.clips.fileInMemory(named: clip) != nil)
      let clipRequest = ListeningTests.get("/v1/clips/\(clip)", "Authorization: \(key)\r\n")
      let text =
        Self.post(payment("a"), key) + clipRequest + Self.post(payment("b"), key) + Self.post(payment("a"), key)
        + Self.post(payment("b"), key) + ListeningTests.get("/healthz", "") + clipRequest
        + Self.post(payment("a"), key, "Connection: close\r\n")
      let answer = try await ListeningTests.talk(port, text)
      let statuses = answer.matches(of: #/HTTP\/1\.1 (\d{3})/#).map { String($0.output.1) }
      #expect(statuses == ["200", "200", "201", "200", "200", "200", "200", "200"])
      let ids = answer.matches(of: #/[Ll]ocation: \/v1\/announcements\/(\w)/#).map { String($0.output.1) }
      #expect(ids == ["a", "b", "a", "b", "a"])
      let fields = answer.lowercased().components(separatedBy: "\r\nx-content-type-options: nosniff\r\n").count - 1
      #expect(fields == statuses.count)
    }
  }

  @Test("a repeated announcement without a host, or with two, is refused")
  func host() async throws {
    try await listening.serve({ $0.time = { .zero } }) { service, port in
      let client = try await service.client()
      #expect(try await client.post(payment("a")).status == 201)
      let key = try client.key.orThrow("a key").bearer
      let whole = Self.post(payment("a"), key, "Connection: close\r\n")
      #expect(try await ListeningTests.talk(port, whole).hasPrefix("HTTP/1.1 200"))
      for host in ["", "Host: a\r\nHost: b\r\n"] {
        let text = whole.replacing("Host: crier.test\r\n", with: host)
        #expect(try await ListeningTests.talk(port, text).hasPrefix("HTTP/1.1 400"))
      }
    }
  }
}
