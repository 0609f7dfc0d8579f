// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public var nodeID: String? { node.id }

  public func noteNode(_ fingerprints: [Ledger.SharedThing: String]?) async throws(LedgerError) {
    try await write(while: .taking) { [self] session in
      try noteNode(fingerprints, in: session)
      try session.execute(Self.forgettingNodes)
    }
  }

  /// Notes that this node was heard of just now.
  ///
  /// - Parameter fingerprints: The new fingerprints; nil to keep those that the row has.
  func noteNode(
    _ fingerprints: [Ledger.SharedThing: String]? = nil, in session: borrowing PostgreSQLSession
  ) throws {
    let own = options.node
    let lines = fingerprints.map { PostgreSQLValue.strings(Ledger.Node.lines($0)) }
    try session.execute(
      Self.notingNode,
      [
        .string(node.id), .string(node.home), .string(own.host), .string(own.version), .string(own.address),
        .string(node.place), lines ?? .null,
      ])
  }

  static let notingNode = """
    INSERT INTO nodes (id, home, host, version, address, place, fingerprints, seen_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7::text[], clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, address = excluded.address,
      fingerprints = coalesce(excluded.fingerprints, nodes.fingerprints)
    """

  // The order keeps two nodes that forget the same nodes from waiting for each other in a circle.
  static let forgettingNodes = """
    DELETE FROM nodes WHERE id IN (
      SELECT id FROM nodes AS old
      WHERE seen_at < clock_timestamp() - interval '1 day' AND NOT EXISTS (SELECT 1 FROM leases WHERE node = old.id)
      ORDER BY id FOR UPDATE SKIP LOCKED)
    """

  public func nodes() async throws(LedgerError) -> [Ledger.Node] {
    try await read { [leaseLength] session in try session.all(Self.knownNodes, [leaseLength], Self.node) }
  }

  static func node(_ row: PostgreSQLRow) throws -> Ledger.Node {
    let names: [String] = try row.read("names")
    let lines: [String] = try row.read("fingerprints")
    return Ledger.Node(
      id: try row.read("id"),
      description: .init(
        host: try row.read("host"), version: try row.read("version"), address: try row.read("address")),
      startedAt: try row.value("started_at"), silence: Double(try row.value("silence") as Int) / 1000,
      deliveries: Set(names.compactMap(DeliverySeat.Kind.init)),
      lanes: names.filter { $0.hasPrefix("lane:") }.map { String($0.dropFirst("lane:".count)) },
      batches: names.count { $0.hasPrefix(lease(ofBatch: "")) }, fingerprints: Ledger.Node.fingerprints(lines))
  }

  static let knownNodes = """
    SELECT id, host, version, address, (extract(epoch FROM started_at) * 1000)::bigint AS started_at,
      greatest(0, extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint AS silence, names,
      coalesce(fingerprints, '{}') AS fingerprints
    FROM nodes, LATERAL (
      SELECT coalesce(array_agg(name ORDER BY name), '{}') AS names FROM leases
      WHERE node = nodes.id AND NOT \(Schema.isFree("$1"))
    ) AS held
    WHERE seen_at > clock_timestamp() - interval '1 hour' OR names <> '{}'
    ORDER BY host, id
    """
}
