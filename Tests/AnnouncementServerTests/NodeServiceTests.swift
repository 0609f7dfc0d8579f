// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerTestSupport
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Nodes that share a ledger", .timeLimit(.minutes(5)))
struct NodeServiceTests {
  /// The lexicon of a node, which a test changes.
  private final class Lexicon: Sendable {
    private let content: Locked<String>

    init(_ content: String) { self.content = Locked(content) }

    var bytes: Data { content.withLock { Data($0.utf8) } }
    func change(to new: String) { content.withLock { $0 = new } }
  }

  private func service(
    _ ledger: any Ledger.NodeStore, secret: UInt8 = 1, lexicon: Lexicon? = nil, log: TestLog = TestLog()
  ) throws -> NodeService? {
    NodeService(
      ledger, deliveries: [.webhooks],
      fingerprints: try NodeFingerprints(secret: Data(repeating: secret, count: 32)), logger: log.logger
    ) {
      lexicon.map { [.lexicon: $0.bytes] } ?? [:]
    }
  }

  @Test("a service with a ledger in a file has no nodes in its checks and metrics")
  func oneMachine() async throws {
    try await LedgerPlaces.removed {
      let ledger = try await LedgerUnderTest.sqlite.makePlace().open()
      #expect(try service(ledger) == nil)
    }
    #expect(!ServiceMetrics().text(ServiceMetrics.Gauges()).contains("crier_node"))
  }

  @Test(
    "the check of the nodes fails if there is a kind of deliveries that no node makes",
    .enabled(if: LedgerUnderTest.all.contains(.postgresql), "This needs a ledger that several machines use."))
  func check() async throws {
    try await LedgerPlaces.removed {
      let place = try await LedgerUnderTest.postgresql.makePlace()
      let (first, second) = (
        try await place.open(LedgerUnderTest.Options(), on: "shop-1"),
        try await place.open(LedgerUnderTest.Options(), on: "shop-2")
      )
      let service = try #require(try service(first))
      let running = Task { try await service.run() }
      try await eventually { await service.check().nodes == 1 }
      let early = await service.check()
      #expect(!early.ok && early.code == "not_held")
      let seat = try #require(try await second.takeSeat(of: .webhooks))
      #expect(await service.check().ok)
      #expect(await service.check().nodes == 2)
      await seat.giveBack()
      #expect(await !service.check().ok)
      running.cancel()
      _ = try? await running.value
    }
  }

  @Test(
    "a node that differs is in the check and the metrics until its file is like the others', and once in the log",
    .enabled(if: LedgerUnderTest.all.contains(.postgresql), "This needs a ledger that several machines use."))
  func different() async throws {
    try await LedgerPlaces.removed {
      let place = try await LedgerUnderTest.postgresql.makePlace()
      let (first, second) = (
        try await place.open(LedgerUnderTest.Options(), on: "shop-1"),
        try await place.open(LedgerUnderTest.Options(), on: "shop-2")
      )
      let (lexicon, log) = (Lexicon("hunter2"), TestLog())
      let one = try #require(try service(first, lexicon: Lexicon("hunter3"), log: log))
      let other = try #require(try service(second, lexicon: lexicon))
      let seat = try #require(try await first.takeSeat(of: .webhooks))
      for _ in 0..<3 {
        await other.look()
        await one.look()
      }
      let check = await one.check()
      #expect(!check.ok && check.code == "differ" && check.nodes == 2)
      let warnings = log.lines.filter { $0.hasPrefix("warning") }
      #expect(warnings.count == 1 && warnings[0].contains("lexicon") && warnings[0].contains("shop-1, shop-2"))
      #expect(!warnings[0].contains("hunter"))
      var gauges = ServiceMetrics.Gauges()
      gauges.nodes = try #require(await one.nodes())
      #expect(ServiceMetrics().text(gauges).contains(#"crier_node_differs{thing="lexicon",node="#))
      lexicon.change(to: "hunter3")
      await other.look()
      await one.look()
      #expect(await one.check().ok)
      #expect(log.lines.last?.contains("All nodes have the same again.") == true)
      await seat.giveBack()
    }
  }

  @Test(
    "of two nodes with different signing secrets, only the secrets are compared",
    .enabled(if: LedgerUnderTest.all.contains(.postgresql), "This needs a ledger that several machines use."))
  func secrets() async throws {
    try await LedgerPlaces.removed {
      let place = try await LedgerUnderTest.postgresql.makePlace()
      let (first, second) = (
        try await place.open(LedgerUnderTest.Options(), on: "shop-1"),
        try await place.open(LedgerUnderTest.Options(), on: "shop-2")
      )
      let one = try #require(try service(first, secret: 1, lexicon: Lexicon("a")))
      await one.look()
      await (try #require(try service(second, secret: 2, lexicon: Lexicon("a")))).look()
      let nodes = try #require(await one.nodes())
      #expect(Ledger.NodeDifference.all(among: nodes).map(\.thing) == [.signingSecret])
    }
  }

  @Test("the metrics show each node with its deliveries and its number of lanes")
  func metrics() async throws {
    var gauges = ServiceMetrics.Gauges()
    gauges.nodes = [
      Ledger.Node(
        id: "aa.01", description: .init(host: "shop-1"), startedAt: Date(), silence: 1.5,
        deliveries: [.webhooks, .pushes], lanes: ["default@shop-1"], fingerprints: [.lexicon: "a"]),
      Ledger.Node(
        id: "bb.02", description: .init(host: "shop-2"), startedAt: Date(), silence: 40, deliveries: [], lanes: []),
      Ledger.Node(
        id: "cc.03", description: .init(host: "shop-3"), startedAt: Date(), silence: 2, deliveries: [], lanes: [],
        fingerprints: [.lexicon: "b"]),
      Ledger.Node(
        id: "dd.04", description: .init(host: "shop-4"), startedAt: Date(), silence: 2, deliveries: [], lanes: [],
        fingerprints: [.lexicon: "a"]),
    ]
    let lines = ServiceMetrics().text(gauges).split(separator: "\n").map(String.init)
    let expected = [
      #"crier_node_seen_seconds{node="aa.01",host="shop-1"} 1.5"#,
      #"crier_node_seen_seconds{node="bb.02",host="shop-2"} 40.0"#,
      #"crier_lease_holder{deliveries="pushes",node="aa.01",host="shop-1"} 1"#,
      #"crier_lease_holder{deliveries="webhooks",node="aa.01",host="shop-1"} 1"#,
      #"crier_node_lanes{node="aa.01",host="shop-1"} 1"#, #"crier_node_lanes{node="bb.02",host="shop-2"} 0"#,
      #"crier_node_differs{thing="lexicon",node="cc.03",host="shop-3"} 1"#,
    ]
    for line in expected { #expect(lines.contains(line), "\(line)") }
    #expect(lines.count { $0.hasPrefix("crier_lease_holder{") } == 2)
    #expect(lines.count { $0.hasPrefix("crier_node_differs{") } == 1)
  }
}
