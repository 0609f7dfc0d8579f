// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostAddresses
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The limit on failed authentication")
struct FailureGateTests {
  private let service: TestService

  init() throws {
    service = try TestService { $0.settings.keyFailures = try? RateLimit(rate: 0.01, burst: 3) }
  }

  /// Does something as a caller from an address.
  private func from<Value: Sendable>(
    _ address: String?, _ work: @Sendable () async throws -> Value
  ) async rethrows -> Value {
    try await Connection.$current.withValue(Connection(peer: address.flatMap { IPAddress($0) })) { try await work() }
  }

  private func statuses(
    _ address: String?, _ count: Int, _ headers: [String: String] = [:], _ path: String = "/v1/voices"
  ) async throws -> [Int] {
    try await from(address) {
      var statuses: [Int] = []
      for _ in 0..<count { statuses.append(try await service.stranger.get(path, headers).status) }
      return statuses
    }
  }

  @Test("requests without a valid key get 429 above the limit of their address, and other addresses are not affected")
  func limited() async throws {
    #expect(try await statuses("192.0.2.1", 5) == [401, 401, 401, 429, 429])
    let refused = try await from("192.0.2.1") { try await service.stranger.get("/v1/voices") }
    #expect(refused.code == "too_many_failures" && (Int(refused.header("Retry-After") ?? "") ?? 0) > 50)
    #expect(try await statuses("192.0.2.2", 1) == [401])
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.faults == [])
    #expect(metrics.values[#"crier_refusals_total{code="too_many_failures"}"#] == 3)
    #expect(metrics.values[#"crier_requests_total{method="GET",path="/v1/voices",status="429"}"#] == 3)
  }

  @Test("requests with a valid key, and calls that need no key, are not limited by failures from the same address")
  func goodKey() async throws {
    let client = try await service.client()
    _ = try await statuses("192.0.2.1", 10)
    try await from("192.0.2.1") { () async throws in
      for _ in 0..<10 { #expect(try await client.get("/v1/voices").status == 200) }
      #expect(try await client.post(payment()).status == 201)
      #expect(
        try await service.client().get("/v1/voices").status == 200,
        "a key that is used for the first time is not limited either")
      #expect(try await service.stranger.get("/healthz").status == 200)
    }
  }

  @Test("during a flood of unknown keys, known and new valid keys from the same address are served")
  func flood() async throws {
    let service = try TestService { $0.settings.keyFailures = try? RateLimit(rate: 0.001, burst: 1) }
    let client = try await service.client()
    let bad = (0..<101).map { _ in ["Authorization": "Bearer \(APIKey.make().text)"] }
    try await from("192.0.2.1") { () async throws in
      #expect(try await service.stranger.get("/v1/voices", bad[0]).status == 401)
    }
    try await from("192.0.2.1") { () async throws in
      try await withThrowingTaskGroup(of: Int?.self) { group in
        for headers in bad.dropFirst() {
          group.addTask { try await service.stranger.get("/v1/voices", headers).status }
        }
        for _ in 0..<5 {
          group.addTask { () async throws -> Int? in
            #expect(try await client.get("/v1/voices").status == 200)
            #expect(try await service.client().get("/v1/voices").status == 200, "this key was created during the flood")
            return nil
          }
        }
        for try await status in group { #expect(status == nil || status == 429) }
      }
    }
  }

  @Test("invalid keys, signatures and URLs count towards the same limit of failures")
  func kinds() async throws {
    #expect(try await statuses("192.0.2.1", 1, ["Authorization": "Bearer \(APIKey.make().text)"]) == [401])
    #expect(try await statuses("192.0.2.1", 1, ["Authorization": "Crier 00000000"]) == [401])
    let name = String(repeating: "a", count: 64)
    #expect(
      try await statuses("192.0.2.1", 2, [:], "/v1/clips/\(name).wav?expires=1&signature=x") == [401, 429])
  }

  @Test("clients behind a proxy have separate limits of failures, and the proxy itself has no limit")
  func proxies() async throws {
    #expect(try await statuses("127.0.0.1", 4, ["X-Forwarded-For": "192.0.2.1"]) == [401, 401, 401, 429])
    #expect(try await statuses("127.0.0.1", 1, ["X-Forwarded-For": "192.0.2.1, 192.0.2.2"]) == [401])
    #expect(try await statuses("127.0.0.1", 1, ["X-Forwarded-For": "192.0.2.9, 192.0.2.1"]) == [429])
    #expect(try await statuses("127.0.0.1", 6) == Array(repeating: 401, count: 6))
    #expect(try await statuses(nil, 6) == Array(repeating: 401, count: 6))
    // The header of a client that is not a proxy is ignored.
    #expect(
      try await statuses("192.0.2.7", 4, ["X-Forwarded-For": "198.51.100.1"]) == [401, 401, 401, 429])
  }

  @Test("a key that is allowed only from the proxy's address is refused for clients behind the proxy")
  func unreadable() async throws {
    let key = APIKey.make()
    try await service.ledger.createKey(
      NewKey(id: key.id, account: "shop", digest: key.digest, scopes: ["read"], addresses: ["127.0.0.1"]))
    let client = TestClient(server: service.server, key: TestKey(key: key, account: "shop"), log: service.log)
    for (forwarded, status) in [(nil, 200), ("", 403), ("garbage", 403), ("127.0.0.1", 403), ("192.0.2.7", 403)] {
      let headers = forwarded.map { ["X-Forwarded-For": $0] } ?? [:]
      let answer = try await from("127.0.0.1") { try await client.get("/v1/voices", headers) }
      #expect(answer.status == status, "\(forwarded ?? "none")")
    }
  }

  @Test("without a limit in the settings, failed authentications are unlimited")
  func off() async throws {
    let service = try TestService { $0.settings.keyFailures = nil }
    try await from("192.0.2.1") { () async throws in
      for _ in 0..<100 { #expect(try await service.stranger.get("/v1/voices").status == 401) }
    }
  }
}

@Suite("Refusals in the log", .timeLimit(.minutes(10)))
struct RefusalLogTests {
  @Test("identical refusals are sampled in the log and counted completely in the metrics")
  func sampled() async throws {
    let service = try TestService()
    for _ in 0..<2_000 { _ = try await service.stranger.get("/v1/voices") }
    _ = try await service.stranger.get("/v1/nothing")
    func more() -> [Int] {
      service.log.lines.compactMap { line in
        line.firstMatch(of: /and ([0-9]+) more in the last second.*voices/).flatMap { Int($0.1) }
      }
    }
    let written = service.log.lines.count { $0.contains("request") && $0.contains("/v1/voices") }
    try await eventually("all refusals are logged or counted") {
      more().reduce(0, +) + service.log.lines.count { $0.contains("request") && $0.contains("voices") } == 2_000
    }
    #expect(written < 2_000 && more().reduce(0, +) >= 2_000 - 10 * 120)
    #expect(service.log.lines.contains { $0.contains("404") }, "other refusals have their own lines")
    let metrics = try await service.stranger.get("/metrics").text
    #expect(metrics.contains(#"crier_requests_total{method="GET",path="/v1/voices",status="401"} 2000"#))
  }

  @Test("each successful request has a log line, because successes are not sampled")
  func successes() async throws {
    let service = try TestService()
    for _ in 0..<50 { _ = try await service.stranger.get("/healthz") }
    #expect(service.log.lines.count { $0.contains("/healthz") } == 50)
  }
}
