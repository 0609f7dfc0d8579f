// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Ledger
import ServiceAccess
import TextFormats

/// The route `GET /v1/nodes`, which lists the nodes that share the ledger.
struct NodeRoutes: Sendable {
  let ledger: any Ledger.NodeStore

  var routes: [Route] {
    [
      .get("/v1/nodes", .key(.operate)) { _ in
        try ServiceJSON.response(.ok, Answer(of: try await ledger.nodes(), asked: ledger.nodeID))
      }
    ]
  }

  /// The nodes, and what differs between them; both are empty if the ledger is a file.
  struct Answer: Encodable {
    struct Node: Encodable {
      var id: String
      /// The name of the machine.
      var host: String
      var version: String
      @ExplicitNull var address: String?
      /// Whether the node answered this request.
      var isThis: Bool
      var startedAt: Date
      /// The time since the node was last heard of, in seconds.
      var silenceSeconds: Double
      /// Whether the node was heard of recently.
      var isRunning: Bool
      var deliveries: [String]
      var lanes: [String]
    }

    struct Difference: Encodable {
      var thing: String
      /// The ids of the nodes that have the thing, in groups that have the same; the largest group first.
      var groups: [[String]]
      /// Whether the difference is normal while the nodes are upgraded.
      var isOfUpgrade: Bool
    }

    var nodes: [Node]
    var differences: [Difference]

    /// - Parameter own: The id of the node that answers.
    init(of nodes: [Ledger.Node], asked own: String?) {
      self.nodes = nodes.map { node in
        Node(
          id: node.id, host: node.description.host, version: node.description.version,
          address: node.description.address, isThis: node.id == own, startedAt: node.startedAt,
          silenceSeconds: (node.silence * 10).rounded() / 10, isRunning: node.silence < Ledger.Node.patience,
          deliveries: node.deliveries.map(\.rawValue).sorted(), lanes: node.lanes)
      }
      differences = Ledger.NodeDifference.all(among: nodes).map { difference in
        Difference(
          thing: difference.thing.rawValue, groups: difference.groups.map { $0.map(\.id) },
          isOfUpgrade: difference.isOfUpgrade)
      }
    }
  }
}
