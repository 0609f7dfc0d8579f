// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import ServiceLifecycle

extension Batches {
  /// Cancels a batch. A waiting batch is not started. A running batch starts no further row. Clips that were made
  /// remain, because other announcements may use them, and because their rows are in the result.
  ///
  /// The cancellation is on disk before anything is stopped, so that no restart begins the batch again.
  ///
  /// - Returns: The final status of the batch, with the work done until then; nil if the account has no batch with this
  ///   id.
  /// - Throws: ``Problem`` with 409 `already_ended`; the operating system's error if the cancellation cannot be
  ///   written. In both cases nothing is cancelled.
  func cancel(_ id: String, account: String) async throws -> Status? {
    guard let cancelled = try await turns.take([id], { try await self.writeCancellation(id, account: account) }) else {
      return nil
    }
    // The rows under way finish first. If the service stops during this wait, the batch is already cancelled on disk.
    for await _ in progress(id).cancelOnGracefulShutdown() {}
    guard let status = records[id]?.status, status.state != .running else { return cancelled }
    return status
  }

  /// Writes a cancellation to disk. Then ends the batch if it is waiting, or stops the reading of its list if it is
  /// running. Call this in the batch's turn: the batch must neither start nor end while the cancellation is written.
  private func writeCancellation(_ id: String, account: String) async throws -> Status? {
    guard var record = records[id], record.account == account else { return nil }
    guard record.status.state == .running, !isStopping(id) else { throw Self.ended }
    record.status.state = .cancelled
    record.status.finishedAt = Date()
    try await files.save(record)
    if running == id {
      stopping.withLock { $0 = id }
    } else {
      queue.removeAll { $0 == id }
      _ = setAside.remove { $0 == id }
      end(record.status)
    }
    return record.status
  }

  func isStopping(_ id: String) -> Bool { stopping.withLock { $0 == id } }

  /// Publishes the final status of a batch and ends its streams.
  func end(_ status: Status) {
    tell(status)
    for watcher in (watchers.removeValue(forKey: status.id) ?? [:]).values { watcher.finish() }
  }

  private static let ended = Problem(
    .conflict, "already_ended", "The batch has already ended or was cancelled, so it cannot be cancelled.")
}
