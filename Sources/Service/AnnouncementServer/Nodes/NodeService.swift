// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Logging
import ServiceLifecycle

/// The part of the service that lets other nodes of the ledger know of this one, and finds out which nodes there are.
final class NodeService: Service {
  /// The interval at which the ledger is told that this node is alive.
  private static let interval: Duration = .seconds(5)
  /// The time after which a node that was not heard of counts as gone, in seconds.
  static let patience: TimeInterval = 20

  private let ledger: any Ledger.NodeStore
  private let failures: RepeatedFailureLog
  /// The deliveries that this node makes if no other node makes them.
  let deliveries: Set<DeliverySeat.Kind>

  /// - Returns: nil if only one machine can use the ledger.
  init?(_ ledger: any Ledger.NodeStore, deliveries: Set<DeliverySeat.Kind>, logger: Logger) {
    guard ledger.nodeID != nil else { return nil }
    (self.ledger, self.deliveries) = (ledger, deliveries)
    failures = RepeatedFailureLog("This node could not be noted in the ledger. The service tries again.", logger)
  }

  func run() async throws {
    // The sleep throws only when the service stops.
    try? await cancelWhenGracefulShutdown { [ledger, failures] in
      while true {
        do throws(LedgerError) { try await ledger.noteNode() } catch { failures.tell(error) }
        try await Task.sleep(for: Self.interval)
      }
    }
  }

  /// Returns the nodes; nil if the ledger cannot be read.
  func nodes() async -> [Ledger.Node]? { try? await ledger.nodes() }

  /// Checks that each kind of deliveries has a node that makes them. The check names no machines, because anybody may
  /// read it.
  func check() async -> Readiness.Check {
    guard let nodes = await nodes() else { return Readiness.Check(ok: false, code: "unreachable") }
    let alive = nodes.count { $0.silence < Self.patience }
    let held = nodes.reduce(into: Set<DeliverySeat.Kind>()) { $0.formUnion($1.deliveries) }
    let isHeld = deliveries.isSubset(of: held)
    return Readiness.Check(ok: isHeld, code: isHeld ? nil : "not_held", nodes: alive)
  }
}
