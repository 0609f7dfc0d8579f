// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging
import ServiceAccess
import ServiceLifecycle

/// The part of the service that lets other nodes of the ledger know of this one, and finds out which nodes there are and
/// what differs between them.
final class NodeService: Service {
  /// The interval at which the ledger is told that this node is alive, and the nodes are compared.
  private static let interval: Duration = .seconds(5)

  private let ledger: any Ledger.NodeStore
  private let failures: RepeatedFailureLog
  /// The deliveries that this node makes if no other node makes them.
  let deliveries: Set<DeliverySeat.Kind>
  private let things: @Sendable () async -> [Ledger.SharedThing: Data]
  private let fingerprints: NodeFingerprints
  private let logger: Logger
  /// The differences that were logged and still exist.
  private let logged = Locked<Set<Ledger.SharedThing>>([])

  /// - Parameters:
  ///   - fingerprints: Makes the texts that other nodes see.
  ///   - things: Returns the bytes of the things that must be the same on all nodes, as this node uses them now.
  /// - Returns: nil if only one machine can use the ledger.
  init?(
    _ ledger: any Ledger.NodeStore, deliveries: Set<DeliverySeat.Kind>, fingerprints: NodeFingerprints, logger: Logger,
    things: @escaping @Sendable () async -> [Ledger.SharedThing: Data] = { [:] }
  ) {
    guard ledger.nodeID != nil else { return nil }
    (self.ledger, self.deliveries, self.fingerprints, self.logger) = (ledger, deliveries, fingerprints, logger)
    self.things = things
    failures = RepeatedFailureLog("This node could not be noted in the ledger. The service tries again.", logger)
  }

  func run() async throws {
    // The sleep throws only when the service stops.
    try? await cancelWhenGracefulShutdown { [self] in
      while true {
        await look()
        try await Task.sleep(for: Self.interval)
      }
    }
  }

  /// Notes this node in the ledger, and logs what has begun to differ between the nodes.
  func look() async {
    var own: [Ledger.SharedThing: String] = [:]
    for (thing, content) in await things() { own[thing] = fingerprints.text(of: thing.rawValue, content) }
    own[.signingSecret] = fingerprints.text(of: Ledger.SharedThing.signingSecret.rawValue, Data())
    do throws(LedgerError) {
      try await ledger.noteNode(own)
      log(Ledger.NodeDifference.all(among: try await ledger.nodes()))
    } catch {
      failures.tell(error)
    }
  }

  private func log(_ differences: [Ledger.NodeDifference]) {
    let now = Set(differences.map(\.thing))
    let earlier = logged.withLock { logged in
      defer { logged = now }
      return logged
    }
    for difference in differences where !earlier.contains(difference.thing) {
      let machines = difference.groups.map { nodes in nodes.map(\.description.host).joined(separator: "+") }
      let metadata: Logger.Metadata = [
        "thing": "\(difference.thing.rawValue)", "machines": "\(machines.joined(separator: ", "))",
      ]
      if difference.isOfUpgrade {
        logger.info("The nodes have different versions, as during an upgrade.", metadata: metadata)
      } else {
        logger.warning(
          "Something that must be the same on all nodes differs. Run crier doctor to see what to do.",
          metadata: metadata)
      }
    }
    for thing in earlier.subtracting(now).sorted() {
      logger.info("All nodes have the same again.", metadata: ["thing": "\(thing.rawValue)"])
    }
  }

  /// Returns the nodes; nil if the ledger cannot be read.
  func nodes() async -> [Ledger.Node]? { try? await ledger.nodes() }

  /// Checks that each kind of deliveries has a node that makes them, and that the nodes do not differ, unless they are
  /// being upgraded. The check names no machines and no things, because anybody may read it.
  func check() async -> Readiness.Check {
    guard let nodes = await nodes() else { return Readiness.Check(ok: false, code: "unreachable") }
    let alive = nodes.count { $0.silence < Ledger.Node.patience }
    let held = nodes.reduce(into: Set<DeliverySeat.Kind>()) { $0.formUnion($1.deliveries) }
    let differs = Ledger.NodeDifference.all(among: nodes).contains { !$0.isOfUpgrade }
    let code = !deliveries.isSubset(of: held) ? "not_held" : differs ? "differ" : nil
    return Readiness.Check(ok: code == nil, code: code, nodes: alive)
  }
}
