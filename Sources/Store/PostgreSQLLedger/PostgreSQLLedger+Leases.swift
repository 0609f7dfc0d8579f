// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import Ledger
import PostgreSQL

// A lease is a row that names its holder. Writers of the holder and nodes that take the lease exclude each other by an
// advisory lock, which a transaction keeps until it ends: writers share it, and a node that takes the lease has it alone.
// A row lock would do the same, but each write of a sender would then change the row on the disk and, with other writes
// at the same time, use up one of the numbers that PostgreSQL has for groups of lockers (multixacts).
//
// A renewal takes no advisory lock, and has a connection of its own, so it never waits for writers.
extension PostgreSQLLedger {
  public func takeSeat(of kind: DeliverySeat.Kind) async throws(LedgerError) -> DeliverySeat? {
    try await takeLease(kind.rawValue).map { DeliverySeat(kind, lease: $0) }
  }

  /// Takes a lease that is free.
  ///
  /// - Returns: nil if another node has it, or another part of this process.
  func takeLease(_ name: String) async throws(LedgerError) -> HeldLease? {
    let terms = options.lease
    let length = PostgreSQLValue.int64(terms.length.wholeMilliseconds)
    // Most calls find that the lease is held, and only read.
    let isHeld = try await read(while: .taking) { session in
      try session.value(Self.isHeld, [.string(name), length], as: Bool.self) ?? false
    }
    if isHeld { return nil }
    let start = ContinuousClock.now
    let epoch = try await write(while: .taking) { [self] session in
      try session.lock(.leases, name)
      try noteNode(in: session)
      return try session.value(Self.taking, [.string(name), .string(node.id), length], as: Int64.self)
    }
    guard let epoch else { return nil }
    return HeldLease(
      Ledger.Lease(epoch: epoch, terms: terms, askedAt: start),
      renew: { [leaseConnection, node] limit in
        let count = try await leaseConnection.run(within: limit) { session throws(PostgreSQLError) in
          try session.execute(Self.renewing, [.string(name), .int64(epoch), .string(node.id), length])
        }
        if count == 0 { throw HeldLease.Lost() }
      },
      giveBack: { [leaseConnection, node] in
        // The caller's task is cancelled already.
        await Task {
          _ = try? await leaseConnection.run(within: terms.renewal) { session throws(PostgreSQLError) in
            try session.execute(Self.givingBack, [.string(name), .int64(epoch), .string(node.id)])
          }
        }.value
      })
  }

  static let isHeld = "SELECT NOT \(Schema.isFree("$2")) AS value FROM leases WHERE name = $1"
  static let taking = """
    INSERT INTO leases (name, node, epoch, until) VALUES ($1, $2, 1, clock_timestamp() + \(Schema.milliseconds("$3")))
    ON CONFLICT (name) DO UPDATE SET node = excluded.node, epoch = leases.epoch + 1, until = excluded.until
      WHERE \(Schema.isFree("$3"))
    RETURNING epoch AS value
    """
  // A lease that is over but was not taken can still be renewed: nobody else has written meanwhile.
  static let renewing = """
    UPDATE leases SET until = clock_timestamp() + \(Schema.milliseconds("$4"))
    WHERE name = $1 AND epoch = $2 AND node = $3
    """
  static let givingBack = """
    UPDATE leases SET until = least(until, clock_timestamp()) WHERE name = $1 AND epoch = $2 AND node = $3
    """

  /// Runs work in a transaction, as ``write(while:cost:_:)`` does, that is stored only if the sender still has its seat.
  ///
  /// - Throws: ``LedgerError`` with `leaseLost` if another node has taken the seat.
  @discardableResult
  func write<Value: Sendable>(
    while action: LedgerError.Action, under seat: DeliverySeat?, cost: Int? = nil,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws(LedgerError) -> Value {
    guard let seat else { return try await write(while: action, cost: cost, work) }
    guard let lease = seat.lease else { throw error(.leaseLost, while: action) }
    do throws(LedgerError) {
      return try await write(while: action, cost: cost) { [self] session in
        try requireLease(seat.kind.rawValue, epoch: lease.epoch, while: action, in: session)
        return try work(session)
      }
    } catch {
      if error.code == .leaseLost { lease.lose() }
      throw error
    }
  }

  /// Throws `leaseLost` unless a lease has an epoch. Until the transaction ends, no node can take the lease.
  private func requireLease(
    _ name: String, epoch: Int64, while action: LedgerError.Action, in session: borrowing PostgreSQLSession
  ) throws {
    // The second statement sees what was committed before the first one got the lock.
    let results = try session.pipeline { pipeline in
      pipeline.share(.leases, name)
      pipeline.add("SELECT 1 FROM leases WHERE name = $1 AND epoch = $2", [.string(name), .int64(epoch)])
    }
    if results[1].isEmpty { throw error(.leaseLost, while: action) }
  }

  /// Notes that this node was seen just now.
  private func noteNode(in session: borrowing PostgreSQLSession) throws {
    let own = options.node
    try session.execute(
      Self.notingNode,
      [.string(node.id), .string(node.home), .string(own.host), .string(own.version), .string(own.address)])
  }

  static let notingNode = """
    INSERT INTO nodes (id, home, host, version, address, seen_at) VALUES ($1, $2, $3, $4, $5, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, address = excluded.address
    """
}

extension Duration {
  /// The number of milliseconds, without a fraction.
  var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
