// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLTestSupport
import Testing
import WebhookMessages

@testable import PostgreSQLLedger

@Suite(
  "Guards that two nodes share", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct GuardsAtOnceTests {
  /// Returns the results of a call that both nodes make several times at once.
  private func atOnce<Value: Sendable>(
    _ nodes: TwoNodes, times: Int = 3, _ call: @escaping @Sendable (PostgreSQLLedger, Int) async throws -> Value
  ) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
      for place in 0..<2 * times { group.addTask { try await call(nodes.both[place % 2], place) } }
      return try await group.reduce(into: [Value]()) { $0.append($1) }
    }
  }

  private func code(_ call: () async throws -> Void) async -> LedgerError.Code? {
    do {
      try await call()
      return nil
    } catch {
      return (error as? LedgerError)?.code
    }
  }

  @Test("only one copy of a signed request is admitted, even if both nodes get it while it is being forgotten")
  func replay() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<20 {
      let outcomes = try await atOnce(nodes) { ledger, _ in
        try await ledger.admitSignedRequest(digest("a\(round)"), keyID: "key", signedAt: Int64(round), atMost: 1_000)
      }
      #expect(outcomes.count { $0 == .admitted } == 1 && outcomes.count { $0 == .replayed } == 5)
    }
    let outcomes = try await atOnce(nodes, times: 30) { ledger, place in
      if place < 2 { try await ledger.forgetSignedRequests(before: 20) }
      return try await ledger.admitSignedRequest(
        digest("a\(place % 20)"), keyID: "key", signedAt: Int64(place % 20), atMost: 1_000)
    }
    #expect(outcomes.allSatisfy { $0 == .replayed || $0 == .forgotten })
  }

  @Test("the requests of a key count towards its limit on both nodes, and forgotten requests make room on both")
  func limit() async throws {
    let nodes = try await TwoNodes()
    for place in 0..<10 {
      let outcome = try await nodes.both[place % 2].admitSignedRequest(
        digest("a\(place)"), keyID: "key", signedAt: Int64(place), atMost: 10)
      #expect(outcome == .admitted)
    }
    for ledger in nodes.both {
      #expect(try await ledger.admitSignedRequest(digest("b"), keyID: "key", signedAt: 20, atMost: 10) == .tooMany)
    }
    #expect(try await nodes.first.forgetSignedRequests(before: 1) == 1)
    #expect(try await nodes.second.admitSignedRequest(digest("b"), keyID: "key", signedAt: 20, atMost: 10) == .admitted)
  }

  @Test("a sign-in code that both nodes exchange at the same time gives one key")
  func signIn() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<10 {
      try await nodes.first.createSignInCode(
        NewSignInCode(
          id: "code\(round)", digest: digest("code\(round)"), scope: "read", account: "shop", name: "Ann", days: 1),
        lifetime: 60, by: .key("admin"))
      let results = try await atOnce(nodes) { ledger, place in
        try await ledger.signIn(
          withCode: digest("code\(round)"), keyID: "key\(round)-\(place)", keyDigest: digest("key\(round)-\(place)"))
      }
      #expect(results.count { if case .signedIn = $0 { true } else { false } } == 1)
      #expect(results.count { $0 == .used } == 5)
    }
    #expect(try await nodes.second.keys().count == 10)
  }

  @Test(
    "a key that both nodes rotate at the same time has one successor, and each change of keys changes their version")
  func rotation() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<10 {
      try await nodes.first.createKey(
        NewKey(id: "key\(round)", account: "shop", digest: digest("key\(round)"), scopes: ["read"]), by: .key("admin"))
      let version = try await nodes.second.keysVersion()
      let codes = try await atOnce(nodes) { ledger, place in
        await code {
          _ = try await ledger.rotateKey(
            "key\(round)", to: "new\(round)-\(place)", digest: digest("new\(round)-\(place)"), overlap: 0,
            by: .key("admin"))
        }
      }
      #expect(codes.count { $0 == nil } == 1 && codes.count { $0 == .keyNotInForce } == 5)
      #expect(try await nodes.first.keysVersion() > version)
    }
  }

  @Test("a payment that a provider reports to both nodes at the same time is stored once")
  func providers() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<20 {
      let reports = (0..<3).map { place in
        var report = Ledger.NewProviderPayment(account: "shop", endpoint: "till")
        report.identity = Ledger.NewProviderPayment.Identity(
          id: digest("\(round) \(place)").prefix(16), sum: digest("sum").prefix(8))
        report.payload = Data("{}".utf8)
        return report
      }
      let outcomes = try await atOnce(nodes) { ledger, place in
        // The payments come in another order each time.
        let order = (0..<3).map { reports[($0 + place) % 3] }
        return Array(zip(order, try await ledger.accept(providerPayments: order)))
      }
      for report in reports {
        let own = outcomes.flatMap { $0 }.filter { $0.0 == report }.map(\.1)
        #expect(own.count { $0 == .accepted } == 1 && own.count { $0 == .duplicate } == 5)
      }
    }
    #expect(try await nodes.first.waitingProviderPayments(after: 0, limit: 1_000).count == 60)
  }

  @Test("two nodes that register endpoints at the same time keep the limit of the account")
  func endpoints() async throws {
    let nodes = try await TwoNodes()
    let codes = try await atOnce(nodes, times: 12) { ledger, place in
      await code {
        try await ledger.register(
          NewWebhookEndpoint(account: "shop", url: try WebhookURL("https://shop.example/\(place)")), by: .key("admin"))
      }
    }
    #expect(codes.count { $0 == nil } == Ledger.mostWebhookEndpoints)
    #expect(codes.count { $0 == .tooManyWebhookEndpoints } == 24 - Ledger.mostWebhookEndpoints)
  }
}
