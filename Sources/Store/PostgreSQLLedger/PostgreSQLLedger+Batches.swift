// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation
public import Ledger
import PostgreSQL

// A node works on a batch under the lease of the batch. Each of its writes also finds the batch unfinished: a batch whose
// lease is free is cancelled without the lease.
//
// Taking the lease and cancelling meet at the row of the batch, which both change. If a batch is being cancelled, the node
// that takes the lease waits, and then finds that the batch has ended. If the lease is being taken, the cancellation waits,
// and then finds the lease.
extension PostgreSQLLedger: Ledger.SharedBatchStore {
  public var sharedBatches: (any Ledger.SharedBatchStore)? { self }

  /// The name of a batch's lease.
  static func lease(ofBatch id: String) -> String { "batch:\(id)" }

  /// The largest piece of a list, in bytes.
  static let pieceOfList = 1 << 20

  private static let columns = """
    id, account, request, status, state, starts, created_at, cancelled_at, finished_at
    """

  private func fence(_ seat: BatchSeat) -> Fence {
    Fence(name: Self.lease(ofBatch: seat.batch.id), lease: seat.lease)
  }

  // MARK: - Accepting and cancelling

  public func admission(
    ofAccount account: String, _ limits: Ledger.BatchLimits
  ) async throws(LedgerError) -> Ledger.BatchAdmission {
    if account.hasZero { return .accepted }
    return try await read { try Self.admission(of: account, limits, in: $0) }
  }

  private static func admission(
    of account: String, _ limits: Ledger.BatchLimits, in session: borrowing PostgreSQLSession
  ) throws -> Ledger.BatchAdmission {
    let admission = try session.first(
      """
      SELECT count(*) FILTER (WHERE account = $1) AS own, count(*) AS every FROM batches WHERE finished_at IS NULL
      """, [.string(account)]
    ) { row in limits.admission(own: try row.value("own"), all: try row.value("every")) }
    return admission ?? .accepted
  }

  public func accept(
    _ batch: Ledger.NewBatch, list: Data, _ limits: Ledger.BatchLimits?
  ) async throws(LedgerError) -> Ledger.BatchAdmission {
    try refuse(batch.brokenRule, while: .changingBatches)
    return try await write(while: .changingBatches) { [self] session in
      if let limits {
        try session.lock(.batches, "")
        let admission = try Self.admission(of: batch.account, limits, in: session)
        guard admission == .accepted else { return admission }
      }
      let count = try session.execute(
        """
        INSERT INTO batches (id, account, request, status, state, created_at) VALUES ($1, $2, $3, $4, 'running', $5)
        ON CONFLICT (id) DO NOTHING
        """,
        [
          .string(batch.id), .string(batch.account), .bytes(batch.request), .bytes(batch.status), .int64(timeStamp),
        ])
      if count == 0 { return .accepted }
      for (number, offset) in stride(from: 0, to: list.count, by: Self.pieceOfList).enumerated() {
        try session.execute(
          "INSERT INTO batch_lists (batch, number, bytes) VALUES ($1, $2, $3)",
          [
            .string(batch.id), .int64(Int64(number)), .bytes(Data(list.dropFirst(offset).prefix(Self.pieceOfList))),
          ])
      }
      return .accepted
    }
  }

  public func cancel(batch id: String, account: String) async throws(LedgerError) -> Ledger.BatchCancellation {
    if id.hasZero || account.hasZero { return .unknown }
    return try await write(while: .changingBatches) { [self] session in
      let values: [PostgreSQLValue] = [.string(id), .string(account)]
      let batch = try session.first(
        """
        UPDATE batches SET cancelled_at = $3
        WHERE id = $1 AND account = $2 AND cancelled_at IS NULL AND finished_at IS NULL RETURNING \(Self.columns)
        """, values + [.int64(timeStamp)]
      ) { try Ledger.StoredBatch(row: $0, isHeld: true) }
      guard let batch else {
        let isKnown: Bool? = try session.value(
          "SELECT true AS value FROM batches WHERE id = $1 AND account = $2", values)
        return isKnown == true ? .alreadyEnded : .unknown
      }
      let isHeld: Bool? = try session.value(Self.isHeld, [.string(Self.lease(ofBatch: id)), leaseLength])
      if isHeld == true { return .stopping(batch) }
      let ended = try session.first(
        "UPDATE batches SET state = 'cancelled', finished_at = $2 WHERE id = $1 RETURNING \(Self.columns)",
        [.string(id), .int64(timeStamp)]
      ) { try Ledger.StoredBatch(row: $0, isHeld: false) }
      return ended.map(Ledger.BatchCancellation.ended) ?? .unknown
    }
  }

  // MARK: - Reading

  public func batch(_ id: String, account: String) async throws(LedgerError) -> Ledger.StoredBatch? {
    if id.hasZero || account.hasZero { return nil }
    return try await read { [leaseLength] session in
      try session.first(
        "\(Self.reading("$3")) WHERE id = $1 AND account = $2", [.string(id), .string(account), leaseLength],
        Self.decode)
    }
  }

  public func batches(account: String, limit: Int) async throws(LedgerError) -> [Ledger.StoredBatch] {
    if account.hasZero { return [] }
    return try await read { [leaseLength] session in
      try session.all(
        "\(Self.reading("$3")) WHERE account = $1 ORDER BY created_at DESC, id DESC LIMIT $2",
        [.string(account), Self.limit(limit), leaseLength], Self.decode)
    }
  }

  public func unfinishedBatches() async throws(LedgerError) -> [Ledger.StoredBatch] {
    try await read { [leaseLength] session in
      try session.all(
        "\(Self.reading("$1")) WHERE finished_at IS NULL ORDER BY created_at, id", [leaseLength], Self.decode)
    }
  }

  /// - Parameter length: The expression for the length of a lease in milliseconds.
  private static func reading(_ length: String) -> String {
    """
    SELECT \(columns), EXISTS (
      SELECT 1 FROM leases WHERE name = '\(lease(ofBatch: ""))' || batches.id AND NOT \(Schema.isFree(length))) AS held
    FROM batches
    """
  }

  private static func decode(_ row: PostgreSQLRow) throws -> Ledger.StoredBatch {
    try Ledger.StoredBatch(row: row, isHeld: try row.read("held"))
  }

  public func listPiece(_ number: Int, ofBatch id: String) async throws(LedgerError) -> Data? {
    if id.hasZero { return nil }
    return try await read { session in
      try session.value(
        "SELECT bytes AS value FROM batch_lists WHERE batch = $1 AND number = $2",
        [.string(id), .int64(Int64(number))])
    }
  }

  public func storedRows(fromPiece number: Int, ofBatch id: String) async throws(LedgerError) -> [[Int64]] {
    if id.hasZero { return [] }
    return try await read { session in
      try session.all(
        "SELECT row_numbers FROM batch_results WHERE batch = $1 AND number >= $2 ORDER BY number LIMIT 100",
        [.string(id), .int64(Int64(number))]
      ) { try $0.read("row_numbers") }
    }
  }

  public func pieceCount(ofBatch id: String) async throws(LedgerError) -> Int {
    if id.hasZero { return 0 }
    let count: Int64? = try await read { session in
      try session.value("SELECT count(*) AS value FROM batch_results WHERE batch = $1", [.string(id)])
    }
    return Int(clamping: count ?? 0)
  }

  public func resultPiece(_ number: Int, ofBatch id: String) async throws(LedgerError) -> Data? {
    if id.hasZero { return nil }
    return try await read { session in
      try session.value(
        "SELECT lines AS value FROM batch_results WHERE batch = $1 AND number = $2",
        [.string(id), .int64(Int64(number))])
    }
  }

  // MARK: - Working

  public func takeSeat(ofBatch id: String) async throws(LedgerError) -> BatchSeat? {
    // The name of a lease can be no longer than an index allows.
    guard isText(id, 1...255) else { return nil }
    let begun = Locked<(batch: Ledger.StoredBatch, pieces: Int)?>(nil)
    let lease = try await takeLease(Self.lease(ofBatch: id), terms: options.lease) { session in
      let batch = try session.first(
        """
        UPDATE batches SET starts = starts + 1 WHERE id = $1 AND finished_at IS NULL
        RETURNING \(Self.columns), (SELECT count(*) FROM batch_results WHERE batch = $1) AS pieces
        """, [.string(id)]
      ) { row in (batch: try Ledger.StoredBatch(row: row, isHeld: true), pieces: try row.value("pieces") as Int) }
      begun.withLock { $0 = batch }
      return batch != nil
    }
    guard let lease, let begun = begun.withLock({ $0 }) else { return nil }
    return BatchSeat(begun.batch, nextPiece: begun.pieces, lease: lease)
  }

  public func store(
    _ piece: Ledger.BatchPiece?, status: Data, under seat: BatchSeat
  ) async throws(LedgerError) -> Bool {
    try refuse(Ledger.NewBatch.brokenRule(ofStatus: status), while: .changingBatches)
    let id = seat.batch.id
    return try await write(while: .changingBatches, under: fence(seat), cost: nil) { [self] session in
      let isCancelled = try session.first(
        """
        UPDATE batches SET status = $2 WHERE id = $1 AND finished_at IS NULL
        RETURNING cancelled_at IS NOT NULL AS cancelled
        """, [.string(id), .bytes(status)]
      ) { try $0.read("cancelled", as: Bool.self) }
      guard let isCancelled else { throw error(.leaseLost, while: .changingBatches) }
      if let piece {
        try session.execute(
          """
          INSERT INTO batch_results (batch, number, row_numbers, lines) VALUES ($1, $2, $3, $4)
          ON CONFLICT (batch, number) DO NOTHING
          """, [.string(id), .int64(Int64(piece.number)), .int64s(piece.rows), .bytes(piece.lines)])
      }
      return isCancelled
    }
  }

  public func end(
    _ state: Ledger.StoredBatch.State, status: Data, under seat: BatchSeat
  ) async throws(LedgerError) {
    try refuse(Ledger.NewBatch.brokenRule(ofStatus: status), while: .changingBatches)
    try refuse(state == .running ? "state (a final state)" : nil, while: .changingBatches)
    try await change(
      """
      UPDATE batches SET status = $2, state = CASE WHEN cancelled_at IS NULL THEN $3 ELSE 'cancelled' END,
        finished_at = $4, starts = 0
      WHERE id = $1 AND finished_at IS NULL
      """, [.bytes(status), .string(state.rawValue), .int64(timeStamp)], under: seat)
  }

  public func stop(under seat: BatchSeat) async throws(LedgerError) {
    try await change("UPDATE batches SET starts = 0 WHERE id = $1 AND finished_at IS NULL", [], under: seat)
  }

  /// Runs a statement that changes the batch of a seat, whose id is $1.
  private func change(
    _ sql: String, _ values: [PostgreSQLValue], under seat: BatchSeat
  ) async throws(LedgerError) {
    try await write(while: .changingBatches, under: fence(seat), cost: nil) { [self] session in
      guard try session.execute(sql, [.string(seat.batch.id)] + values) > 0 else {
        throw error(.leaseLost, while: .changingBatches)
      }
    }
  }

  // MARK: - Removing

  public func batches(endedBefore moment: Date) async throws(LedgerError) -> [String] {
    let moment = try milliseconds(moment, "endedBefore", while: .pruning)
    return try await read { session in
      try session.all(
        "SELECT id FROM batches WHERE finished_at < $1 ORDER BY finished_at LIMIT 1000", [.int64(moment)]
      ) { try $0.read("id") }
    }
  }

  public func remove(batch id: String) async throws(LedgerError) {
    if id.hasZero { return }
    try await write(while: .pruning) { session in
      let isEnded: Bool? = try session.value(
        "SELECT finished_at IS NOT NULL AS value FROM batches WHERE id = $1", [.string(id)])
      guard isEnded == true else { return }
      // A lease is locked before its batch, as everywhere.
      try session.execute(Self.removingLease, [.string(Self.lease(ofBatch: id))])
      try session.execute("DELETE FROM batches WHERE id = $1", [.string(id)])
    }
  }
}
