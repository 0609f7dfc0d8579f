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
    let name = kind.rawValue
    // Most calls find that the lease is held, and only read.
    let isHeld = try await read(while: .taking) { [leaseLength] session in
      try session.value(Self.isHeld, [.string(name), leaseLength], as: Bool.self) ?? false
    }
    if isHeld { return nil }
    return try await takeLease(name, terms: options.lease).map { DeliverySeat(kind, lease: $0) }
  }

  var leaseLength: PostgreSQLValue { .int64(options.lease.length.wholeMilliseconds) }

  /// Takes a lease that is free.
  ///
  /// - Parameters:
  ///   - home: The home that may have held the lease last; nil for any.
  ///   - place: The place of the caller's locked files, if the caller has the locked file that belongs to the lease. A node
  ///     with the same place that held the lease has ended then, so the lease is free even before its time is over.
  ///   - reports: The latest report of a player, which renewals store.
  ///   - begin: Changes what belongs to the lease, in the same transaction. If it returns false, there is no need for the
  ///     lease, and it is removed.
  /// - Returns: nil if another node has the lease, or another part of this process.
  func takeLease(
    _ name: String, terms: Ledger.Lease.Terms, ofHome home: String? = nil, lockedAt place: String? = nil,
    isLostByTime: Bool = true, reports: Locked<PlayerReport?>? = nil,
    begin: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Bool = { _ in true }
  ) async throws(LedgerError) -> HeldLease? {
    let length = leaseLength
    let start = ContinuousClock.now
    let epoch = try await write(while: .taking) { [self] session in
      try session.lock(.leases, name)
      try noteNode(in: session)
      let epoch = try session.value(
        Self.taking, [.string(name), .string(node.id), length, .string(home), .string(place)], as: Int64.self)
      guard let epoch else { return nil as Int64? }
      if try begin(session) { return epoch }
      try session.execute(Self.removingLease, [.string(name)])
      return nil
    }
    guard let epoch else { return nil }
    return HeldLease(
      Ledger.Lease(epoch: epoch, terms: terms, askedAt: start), isLostByTime: isLostByTime,
      renew: { [leaseConnection, node] limit in
        let report = try? reports?.withLock { $0 }?.bytes
        let values: [PostgreSQLValue] = [
          .string(name), .int64(epoch), .string(node.id), length, .bytes(report.map { Data($0) }),
        ]
        let count = try await leaseConnection.run(within: limit) { session throws(PostgreSQLError) in
          try session.execute(Self.renewing, values)
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
    ON CONFLICT (name) DO UPDATE
      SET node = excluded.node, epoch = leases.epoch + 1, until = excluded.until, report = NULL
      WHERE (\(Schema.isFree("$3")) OR EXISTS (SELECT 1 FROM nodes WHERE id = leases.node AND place = $5::text))
        AND ($4::text IS NULL OR EXISTS (SELECT 1 FROM nodes WHERE id = leases.node AND home = $4))
    RETURNING epoch AS value
    """
  // A lease that is over but was not taken can still be renewed: nobody else has written meanwhile.
  static let renewing = """
    UPDATE leases SET until = clock_timestamp() + \(Schema.milliseconds("$4")), report = coalesce($5::bytea, report)
    WHERE name = $1 AND epoch = $2 AND node = $3
    """
  static let removingLease = "DELETE FROM leases WHERE name = $1"
  static let givingBack = """
    UPDATE leases SET until = least(until, clock_timestamp()) WHERE name = $1 AND epoch = $2 AND node = $3
    """

  /// Runs work in a transaction, as ``write(while:cost:_:)`` does. The transaction is stored only if the sender still
  /// holds its lease (``DeliverySeat``).
  ///
  /// - Throws: ``LedgerError`` with `leaseLost` if another node has taken the lease.
  @discardableResult
  func write<Value: Sendable>(
    while action: LedgerError.Action, under seat: DeliverySeat?, cost: Int? = nil,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws(LedgerError) -> Value {
    guard let seat else { return try await write(while: action, cost: cost, work) }
    guard let lease = seat.lease else { throw error(.leaseLost, while: action) }
    return try await write(while: action, under: Fence(name: seat.kind.rawValue, lease: lease), cost: cost, work)
  }

  /// A lease without which writes are not stored.
  struct Fence: Sendable {
    let name: String
    let lease: HeldLease
  }

  /// Runs work in a transaction that is stored only if this node still has a lease.
  func write<Value: Sendable>(
    while action: LedgerError.Action, under fence: Fence, cost: Int?,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws(LedgerError) -> Value {
    do throws(LedgerError) {
      return try await writeUnfenced(while: action, cost: cost) { [self] session in
        try require(fence, while: action, in: session)
        return try work(session)
      }
    } catch {
      if error.code == .leaseLost { fence.lease.lose() }
      throw error
    }
  }

  /// Throws `leaseLost` unless this node has a lease. Until the transaction ends, no other node can take it.
  private func require(
    _ fence: Fence, while action: LedgerError.Action, in session: borrowing PostgreSQLSession
  ) throws {
    // The second statement sees what was committed before the first one got the lock.
    let results = try session.pipeline { pipeline in
      pipeline.share(.leases, fence.name)
      pipeline.add(
        "SELECT 1 FROM leases WHERE name = $1 AND epoch = $2", [.string(fence.name), .int64(fence.lease.epoch)])
    }
    if results[1].isEmpty { throw error(.leaseLost, while: action) }
  }
}

extension Duration {
  /// The number of milliseconds, without a fraction.
  var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
