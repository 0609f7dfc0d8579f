// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import Foundation
import Ledger
import Logging

/// The work on a batch of a ledger that several nodes use.
///
/// Lines of the result are stored together, once a second or when there are many, in the same transaction as the status
/// that counts them. Each transaction needs the lease of the batch. If this node has lost the lease, the work is lost:
/// another node begins with the rows that have no stored result.
actor LedgerBatchWork: BatchWork {
  /// The number of rows whose lines are stored at once.
  private static let mostRows = 500
  /// The size at which lines are stored, in bytes.
  private static let mostBytes = 512 << 10
  private static let pause: Duration = .seconds(1)

  nonisolated let record: Batches.Record
  private let ledger: any Ledger.SharedBatchStore
  private let seat: BatchSeat
  private let logger: Logger
  private var noteClips: @Sendable () async -> Void = {}

  private var nextOfList = 0
  /// The numbers of the rows whose results were stored by former holders.
  private var storedRows = IndexSet()
  private var lines = Data()
  private var rows: [Int64] = []
  private var status: Batches.Status
  /// The piece that is being stored, and the status after it. If storing fails, the same piece is stored again.
  private var pending: (piece: Ledger.BatchPiece?, status: Data)?
  private var nextPiece: Int
  /// Lets one piece be stored at a time.
  private let turns = Turns<Int>()
  private nonisolated let flags: Locked<(isCancelled: Bool, isLost: Bool)>

  /// The work is now another node's.
  private struct Lost: Error {}

  init(_ record: Batches.Record, _ ledger: any Ledger.SharedBatchStore, _ seat: BatchSeat, _ logger: Logger) {
    (self.record, self.ledger, self.seat, self.logger) = (record, ledger, seat, logger)
    (status, nextPiece) = (record.status, seat.nextPiece)
    flags = Locked((isCancelled: seat.batch.isCancelled, isLost: false))
  }

  nonisolated var isStopping: Bool { flags.withLock { $0.isCancelled || $0.isLost } }
  nonisolated var isLost: Bool { flags.withLock { $0.isLost } }

  func open(noteClips: @escaping @Sendable () async -> Void) async throws {
    self.noteClips = noteClips
    var number = 0
    while case let pieces = try await ledger.storedRows(fromPiece: number, ofBatch: seat.batch.id), !pieces.isEmpty {
      for row in pieces.joined() { storedRows.insert(Int(row)) }
      number += pieces.count
    }
  }

  func piece() async throws -> [UInt8] {
    let piece = try await patiently { [ledger, seat, nextOfList] () async throws(LedgerError) in
      try await ledger.listPiece(nextOfList, ofBatch: seat.batch.id)
    }
    nextOfList += 1
    return [UInt8](piece ?? Data())
  }

  func hasResult(ofRow row: Int) -> Bool { storedRows.contains(row) }

  // MARK: Storing

  func add(_ line: String, ofRow row: Int, _ status: Batches.Status) async throws {
    lines.append(contentsOf: (line + "\n").utf8)
    rows.append(Int64(row))
    self.status = status
    if rows.count >= Self.mostRows || lines.count >= Self.mostBytes { try await synchronize() }
  }

  func keepStoring() async {
    while !isLost, (try? await Task.sleep(for: Self.pause)) != nil {
      do { try await store(isPatient: false) } catch { logger.debug("A batch waits.", metadata: ["error": "\(error)"]) }
      // Without this, a node that cannot reach the database would go on for as long as it has rows.
      if !seat.isUsable { lose() }
    }
  }

  func synchronize() async throws { try await store(isPatient: true) }

  private func store(isPatient: Bool) async throws {
    try await turns.take([0]) { try await self.storeAdded(isPatient) }
  }

  private func storeAdded(_ isPatient: Bool) async throws {
    let (noteClips, ledger, seat) = (self.noteClips, self.ledger, self.seat)
    // A clip of another node's row could otherwise be removed as nobody's.
    await noteClips()
    if pending == nil {
      let piece = rows.isEmpty ? nil : Ledger.BatchPiece(number: nextPiece, lines: lines, rows: rows)
      pending = (piece, try JSONEncoder().encode(status))
      (lines, rows) = (Data(), [])
    }
    guard let pending else { return }
    let store = { () async throws(LedgerError) -> Bool in
      try await ledger.store(pending.piece, status: pending.status, under: seat)
    }
    let isCancelled = try await isPatient ? patiently(store) : once(store)
    if pending.piece != nil { nextPiece += 1 }
    self.pending = nil
    if isCancelled { flags.withLock { $0.isCancelled = true } }
  }

  private func lose() { flags.withLock { $0.isLost = true } }

  /// Makes a call once.
  ///
  /// - Throws: ``Lost`` if the work is now another node's; the error of the ledger.
  private func once<Value: Sendable>(_ call: () async throws(LedgerError) -> Value) async throws -> Value {
    do throws(LedgerError) {
      return try await call()
    } catch {
      if error.code == .leaseLost || !seat.isUsable {
        lose()
        throw Lost()
      }
      throw error
    }
  }

  /// Makes a call until the database has carried it out.
  ///
  /// - Throws: ``Lost`` if the work is now another node's; the error of the ledger if it does not pass by itself;
  ///   `CancellationError`.
  private func patiently<Value: Sendable>(_ call: () async throws(LedgerError) -> Value) async throws -> Value {
    while true {
      do {
        return try await once(call)
      } catch let error as LedgerError {
        guard [.unreachable, .outcomeUnknown, .busy, .readOnly].contains(error.code) else { throw error }
        try await Task.sleep(for: Self.pause)
      }
    }
  }

  // MARK: Ending

  func end(_ outcome: Batches.Status, areClipsNoted: Bool) async {
    do {
      try await synchronize()
      // The ledger knows whether the batch was cancelled at the last moment.
      let ended = outcome.ended(isCancelled: false, at: Date())
      let data = try JSONEncoder().encode(ended)
      let state: Ledger.StoredBatch.State = ended.state == .done ? .done : .failed
      try await patiently { [ledger, seat] () async throws(LedgerError) in
        try await ledger.end(state, status: data, under: seat)
      }
    } catch {
      logger.error(
        "The result of a batch could not be stored. A node of the ledger goes on with the batch.",
        metadata: ["batch": "\(seat.batch.id)", "error": "\(Problem.loggable(error))"])
    }
    await seat.giveBack()
  }

  func stop() async {
    if isLost {
      logger.warning(
        "Another node takes over a batch, because this node could not renew its lease in time.",
        metadata: ["batch": "\(seat.batch.id)"])
    } else {
      try? await store(isPatient: false)
      try? await ledger.stop(under: seat)
    }
    await seat.giveBack()
  }
}
