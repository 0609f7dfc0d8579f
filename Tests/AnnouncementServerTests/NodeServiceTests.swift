// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Nodes that share a ledger", .timeLimit(.minutes(5)))
struct NodeServiceTests {
  @Test("a service with a ledger in a file has no nodes in its checks and metrics")
  func oneMachine() async throws {
    try await LedgerPlaces.removed {
      let ledger = try await LedgerUnderTest.sqlite.makePlace().open()
      #expect(NodeService(ledger, deliveries: [.webhooks], logger: TestLog().logger) == nil)
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
      let service = try #require(NodeService(first, deliveries: [.webhooks], logger: TestLog().logger))
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

  @Test("the metrics show each node with its deliveries and its number of lanes")
  func metrics() async throws {
    var gauges = ServiceMetrics.Gauges()
    gauges.nodes = [
      Ledger.Node(
        id: "aa.01", description: .init(host: "shop-1"), startedAt: Date(), silence: 1.5,
        deliveries: [.webhooks, .pushes], lanes: ["default@shop-1"]),
      Ledger.Node(
        id: "bb.02", description: .init(host: "shop-2"), startedAt: Date(), silence: 40, deliveries: [], lanes: []),
    ]
    let lines = ServiceMetrics().text(gauges).split(separator: "\n").map(String.init)
    let expected = [
      #"crier_node_seen_seconds{node="aa.01",host="shop-1"} 1.5"#,
      #"crier_node_seen_seconds{node="bb.02",host="shop-2"} 40.0"#,
      #"crier_lease_holder{deliveries="pushes",node="aa.01",host="shop-1"} 1"#,
      #"crier_lease_holder{deliveries="webhooks",node="aa.01",host="shop-1"} 1"#,
      #"crier_node_lanes{node="aa.01",host="shop-1"} 1"#, #"crier_node_lanes{node="bb.02",host="shop-2"} 0"#,
    ]
    for line in expected { #expect(lines.contains(line), "\(line)") }
    #expect(lines.count { $0.hasPrefix("crier_lease_holder{") } == 2)
  }
}
