// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import ServiceLifecycle

extension Batches {
  /// Takes a batch back: one that waits is not begun, and of one that runs no further row is begun. Clips that were made
  /// stay: others may use them, and their rows are in the result.
  ///
  /// It is on the disk before anything is stopped, so that no restart begins it again.
  ///
  /// - Returns: the batch as it ended, with what was done until then; nil when the account has none of that id.
  /// - Throws: ``Problem``, 409 `already_ended`; the system's errors of the disk, and it goes on then.
  func cancel(_ id: String, account: String) async throws -> Status? {
    guard var record = records[id], record.account == account else { return nil }
    guard record.status.state == .running, !isStopping(id) else { throw Self.ended }
    record.status.state = .cancelled
    record.status.finishedAt = Date()
    try save(record)
    guard running == id else {
      queue.removeAll { $0 == id }
      end(record.status)
      return record.status
    }
    stopping.withLock { $0 = id }
    // The rows under way end first. When the service stops meanwhile, the batch has ended on the disk.
    for await _ in progress(id).cancelOnGracefulShutdown() {}
    guard let status = records[id]?.status, status.state != .running else { return record.status }
    return status
  }

  func isStopping(_ id: String) -> Bool { stopping.withLock { $0 == id } }

  /// Tells the end of a batch, and that nothing more is told of it.
  func end(_ status: Status) {
    tell(status)
    for watcher in (watchers.removeValue(forKey: status.id) ?? [:]).values { watcher.finish() }
  }

  private static let ended = Problem(
    .conflict, "already_ended", "The batch has ended, or was taken back: there is nothing to take back.")
}
