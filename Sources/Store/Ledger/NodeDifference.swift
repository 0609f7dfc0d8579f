// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Ledger {
  /// A thing that is not the same on all nodes of a ledger.
  public struct NodeDifference: Sendable, Hashable {
    public let thing: SharedThing
    /// The nodes that have the thing, in groups with the same fingerprint: larger groups first, and groups of the same
    /// size in the order of their first nodes.
    public let groups: [[Node]]
    /// Whether the difference is normal while the nodes are upgraded one after another.
    public let isOfUpgrade: Bool

    /// The nodes that have something other than most nodes. If no group is larger than all others, these are all nodes
    /// that have the thing.
    public var deviating: [Node] {
      let isMajority = groups.count > 1 && groups[0].count > groups[1].count
      return groups.dropFirst(isMajority ? 1 : 0).flatMap(\.self)
    }

    /// Returns what differs between nodes, sorted by name.
    ///
    /// Nodes that were not heard of for ``Node/patience`` are not compared, and neither are processes that run no service.
    /// If several processes have the same home folder, the last one that started is compared.
    ///
    /// While the signing secrets differ, only these and the versions are compared. Fingerprints that were made with
    /// different secrets say nothing about other things.
    public static func all(among nodes: [Node]) -> [NodeDifference] {
      let compared = running(nodes)
      let versions = comparison(of: .version, compared.map { (node: $0, value: $0.description.version) })
      if let secrets = difference(in: .signingSecret, compared) { return [secrets] + [versions].compactMap(\.self) }
      let things = Set(compared.flatMap(\.fingerprints.keys)).sorted()
      return (things.map { difference(in: $0, compared) } + [versions]).compactMap(\.self)
        .sorted { $0.thing < $1.thing }
    }

    private static func running(_ nodes: [Node]) -> [Node] {
      var latest: [Substring: Node] = [:]
      for node in nodes where !node.fingerprints.isEmpty && node.silence < Node.patience {
        let home = node.id.prefix { $0 != "." }
        if let other = latest[home], other.startedAt >= node.startedAt { continue }
        latest[home] = node
      }
      return latest.values.sorted { ($0.description.host, $0.id) < ($1.description.host, $1.id) }
    }

    private static func difference(in thing: SharedThing, _ nodes: [Node]) -> NodeDifference? {
      comparison(
        of: thing, nodes.compactMap { node in node.fingerprints[thing].map { (node: node, value: $0) } })
    }

    private static func comparison(
      of thing: SharedThing, _ values: [(node: Node, value: String)]
    ) -> NodeDifference? {
      var order: [String] = []
      var groups: [String: [Node]] = [:]
      for (node, value) in values {
        if groups[value] == nil { order.append(value) }
        groups[value, default: []].append(node)
      }
      guard groups.count > 1 else { return nil }
      // The order of equal sizes must not change from call to call.
      let sorted = order.enumerated().map { (place: $0.offset, nodes: groups[$0.element] ?? []) }
        .sorted { ($1.nodes.count, $0.place) < ($0.nodes.count, $1.place) }.map(\.nodes)
      return NodeDifference(thing: thing, groups: sorted, isOfUpgrade: isOfUpgrade(thing, values))
    }

    private static func isOfUpgrade(_ thing: SharedThing, _ values: [(node: Node, value: String)]) -> Bool {
      if thing == .version { return true }
      guard thing.belongsToProgram else { return false }
      // An upgrade never changes what the nodes of one version have.
      let byVersion = Dictionary(grouping: values) { $0.node.description.version }
      return byVersion.values.allSatisfy { Set($0.map(\.value)).count == 1 }
    }
  }
}
