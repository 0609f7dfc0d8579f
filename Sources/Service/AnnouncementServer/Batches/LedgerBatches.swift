// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging

/// The batches of a ledger that several nodes use. Each node accepts, lists and cancels all of them. Each works on one
/// batch at a time that no other node works on.
struct LedgerBatches: BatchPlace {
  /// After the lease of a node that has ended, another one begins within this time.
  let lookInterval: Duration? = .seconds(1)
  let progressInterval: Duration = .seconds(1)

  private let ledger: any Ledger.SharedBatchStore
  /// The batches that a service with a ledger in a file left in the same home.
  private let files: BatchFiles
  private let logger: Logger

  init(_ ledger: any Ledger.SharedBatchStore, files: BatchFiles, logger: Logger) {
    (self.ledger, self.files, self.logger) = (ledger, files, logger)
  }

  /// Moves the unfinished batches of a service with a ledger in a file into the ledger, where any node makes them.
  func load() async {
    for record in await files.records() where record.status.state == .running {
      let id = record.status.id
      do {
        guard let list = try await files.contentsOfList(id) else { continue }
        _ = try await ledger.accept(try Self.newBatch(record), list: list, nil)
        await files.remove(id)
      } catch {
        logger.warning(
          "A batch could not be moved into the ledger. The service tries again at its next start.",
          metadata: ["batch": "\(id)", "error": "\(Problem.loggable(error))"])
      }
    }
  }

  // MARK: Accepting and reading

  func admission(of account: String, _ limits: Ledger.BatchLimits) async throws -> Ledger.BatchAdmission {
    try await ledger.admission(ofAccount: account, limits)
  }

  func accept(
    _ record: Batches.Record, list: Data, _ limits: Ledger.BatchLimits
  ) async throws -> Ledger.BatchAdmission {
    try await ledger.accept(try Self.newBatch(record), list: list, limits)
  }

  private static func newBatch(_ record: Batches.Record) throws -> Ledger.NewBatch {
    var record = record
    record.starts = nil
    let status = Batches.Status(
      id: record.status.id, name: record.status.name, createdAt: record.status.createdAt)
    return Ledger.NewBatch(
      id: status.id, account: record.account, request: try JSONEncoder().encode(record),
      status: try JSONEncoder().encode(status))
  }

  func status(_ id: String, account: String) async throws -> Batches.Status? {
    try await ledger.batch(id, account: account).map { try Batches.Status($0) }
  }

  func statuses(account: String, limit: Int) async throws -> [Batches.Status] {
    try await ledger.batches(account: account, limit: limit).map { try Batches.Status($0) }
  }

  func result(_ id: String) async throws -> BatchResultReader? {
    let count = try await ledger.pieceCount(ofBatch: id)
    let next = Locked(0)
    return { [ledger] in
      let number = next.withLock { number in
        defer { number += 1 }
        return number
      }
      if number >= count { return nil }
      // A reader must not take the beginning of a result for all of it.
      guard let piece = try await ledger.resultPiece(number, ofBatch: id) else { throw RemovedBatch() }
      return piece
    }
  }

  func unfinished() async throws -> [UnfinishedBatch] {
    try await ledger.unfinishedBatches().map {
      UnfinishedBatch(id: $0.id, account: $0.account, starts: $0.starts, isWaiting: !$0.isHeld)
    }
  }

  // MARK: Working

  func begin(_ id: String) async throws -> (any BatchWork)? {
    guard let seat = try await ledger.takeSeat(ofBatch: id) else { return nil }
    do {
      return LedgerBatchWork(try Batches.Record(seat.batch), ledger, seat, logger)
    } catch {
      await seat.giveBack()
      throw error
    }
  }

  func cancel(_ id: String, account: String) async throws -> BatchCancellation {
    switch try await ledger.cancel(batch: id, account: account) {
    case .unknown: .unknown
    case .alreadyEnded: .alreadyEnded
    case .ended(let batch): .ended(try Batches.Status(batch))
    case .stopping(let batch): .stopping(try Batches.Status(batch).ended(isCancelled: true, at: Date()))
    }
  }

  // MARK: Removing

  func ended(before moment: Date) async throws -> [String] {
    // The batches of a service with a ledger in a file had ended before the ledger was moved. They contain names too.
    for record in await files.records() {
      if let end = record.status.finishedAt, end < moment { await files.remove(record.status.id) }
    }
    return try await ledger.batches(endedBefore: moment)
  }

  func remove(_ id: String) async throws { try await ledger.remove(batch: id) }

  // MARK: Clips

  /// The clips of rows are noted before the results of the rows are stored.
  func unnotedClips(group: @Sendable (Batches.Record) -> String) async -> [UnnotedClips] { [] }

  func noteClips(of id: String) async {}
}

/// The error for a batch that was removed while its result was read.
private struct RemovedBatch: Error {}

extension Batches.Status {
  /// - Throws: `DecodingError` if a newer version of the service wrote the status.
  fileprivate init(_ batch: Ledger.StoredBatch) throws {
    self = try JSONDecoder().decode(Batches.Status.self, from: batch.status)
    state =
      switch batch.state {
      case .running: .running
      case .done: .done
      case .failed: .failed
      case .cancelled: .cancelled
      }
    if state == .cancelled { error = nil }
    if state != .running { finishedAt = finishedAt ?? batch.finishedAt }
  }
}

extension Batches.Record {
  /// - Throws: `DecodingError` if a newer version of the service wrote the batch.
  fileprivate init(_ batch: Ledger.StoredBatch) throws {
    self = try JSONDecoder().decode(Batches.Record.self, from: batch.request)
    status = try Batches.Status(batch)
    starts = batch.starts
  }
}
