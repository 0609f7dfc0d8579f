// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  @discardableResult
  public func prune(finishedBefore moment: Date) async throws(LedgerError) -> Ledger.Pruned {
    let moment = try milliseconds(moment, "finishedBefore", while: .pruning)
    // On a full disk the write-ahead log cannot grow. After a checkpoint, the log is written from its start again.
    await checkpoint()
    var pruned = Ledger.Pruned()
    // Announcements that ended at the same moment are removed in the order of their numbers. The members of a summary
    // are therefore removed before the summary, while they still carry the summary's number.
    pruned.announcements = try await delete(
      """
      FROM announcements WHERE number IN (
        SELECT number FROM announcements WHERE finished_at < ? ORDER BY finished_at, number LIMIT ?)
      """, before: moment)
    pruned.pushes = try await delete(
      "FROM pushes WHERE number IN (SELECT number FROM pushes WHERE finished_at < ? ORDER BY finished_at LIMIT ?)",
      before: moment)
    pruned.pushes += try await pruneSilentPushes()
    pruned.webhooks = try await delete(
      "FROM webhooks WHERE number IN (SELECT number FROM webhooks WHERE finished_at < ? ORDER BY finished_at LIMIT ?)",
      before: Ledger.PruningMoments(finishedBefore: moment, at: timeStamp).webhooks)
    pruned.events = try await delete(
      "FROM events WHERE position IN (SELECT position FROM events WHERE at < ? ORDER BY position LIMIT ?)",
      before: moment)
    pruned.commands = try await delete(
      "FROM commands WHERE number IN (SELECT number FROM commands WHERE at < ? ORDER BY number LIMIT ?)",
      before: moment)
    pruned.libraryChanges = try await pruneLibrary(before: moment)
    pruned.administrativeActs = try await delete(
      "FROM administration WHERE number IN (SELECT number FROM administration WHERE at < ? ORDER BY at LIMIT ?)",
      before: Ledger.PruningMoments(finishedBefore: moment, at: timeStamp).administrativeActs)
    pruned.providerPayments = try await delete(
      """
      FROM provider_payments WHERE number IN (
        SELECT number FROM provider_payments WHERE finished_at < ? ORDER BY finished_at LIMIT ?)
      """, before: moment)
    // The ids of payments are kept until their own time, which is later.
    pruned.providerIDs = try await delete(
      "FROM provider_ids WHERE id IN (SELECT id FROM provider_ids WHERE until < ? ORDER BY until LIMIT ?)",
      before: timeStamp)
    try await giveBack()
    await checkpoint()
    return pruned
  }

  /// Repeats work on a few rows until none is left. Each repetition is a transaction of its own, so that other writes
  /// hardly wait.
  ///
  /// - Parameter work: Removes some rows, and returns their number.
  /// - Returns: The number of all rows that were removed.
  func repeatWhilePruning(
    _ work: @escaping @Sendable (Database) throws -> Int
  ) async throws(LedgerError) -> Int {
    var total = 0
    while case let count = try await write(while: .pruning, work), count > 0 { total += count }
    return total
  }

  private func delete(_ what: String, before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { database in
      try database.cachedStatement(sql: "DELETE \(what)").execute(arguments: [moment, 200])
      return database.changesCount
    }
  }

  /// Removes the oldest ended pushes that announce nothing, if there are too many.
  private func pruneSilentPushes() async throws(LedgerError) -> Int {
    let moment = try await read(isLong: true) { [options] database in
      try Int64.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT finished_at FROM pushes WHERE finished_at IS NOT NULL AND announcement IS NULL
            ORDER BY finished_at DESC LIMIT 1 OFFSET ?
            """), arguments: [options.limits.mostEndedSilentPushes])
    }
    guard let moment else { return 0 }
    return try await delete(
      """
      FROM pushes WHERE number IN (
        SELECT number FROM pushes WHERE finished_at < ? AND announcement IS NULL ORDER BY finished_at LIMIT ?)
      """, before: moment + 1)
  }

  /// Truncates the file to remove its free pages.
  private func giveBack() async throws(LedgerError) {
    var free = Int.max
    while true {
      let left = try await write(while: .pruning) { database in
        try database.execute(sql: "PRAGMA incremental_vacuum(256)")
        return try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
      }
      guard left > 0, left < free else { return }
      free = left
    }
  }
}
