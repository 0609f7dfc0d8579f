// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  /// Removes what ended before a moment; see ``Ledger/PruningStore/prune(finishedBefore:)``. The server gives the space to
  /// later rows by itself (autovacuum). Several nodes may prune at once: they remove different rows, or wait for each
  /// other.
  @discardableResult
  public func prune(finishedBefore moment: Date) async throws(LedgerError) -> Ledger.Pruned {
    let moment = try milliseconds(moment, "finishedBefore", while: .pruning)
    var pruned = Ledger.Pruned()
    pruned.announcements = try await pruneAnnouncements(before: moment)
    pruned.pushes = try await prunePushes(before: moment)
    pruned.pushes += try await pruneSilentPushes()
    let moments = Ledger.PruningMoments(finishedBefore: moment, at: timeStamp)
    pruned.webhooks = try await pruneWebhooks(before: moments.webhooks)
    pruned.events = try await pruneEvents(before: moment)
    pruned.commands = try await delete(Self.pruningCommands, before: moment)
    pruned.libraryChanges = try await pruneLibrary(before: moment)
    pruned.administrativeActs = try await pruneAdministration(before: moments.administrativeActs)
    pruned.providerPayments = try await pruneProviderPayments(before: moment)
    // The ids of payments are kept until their own time, which is later.
    pruned.providerIDs = try await pruneProviderIDs(before: timeStamp)
    return pruned
  }

  /// Repeats work on a few rows until none is left. Each repetition is a transaction of its own, so that other writes
  /// hardly wait.
  ///
  /// - Parameter work: Removes some rows, and returns their number.
  /// - Returns: The number of all rows that were removed.
  func repeatWhilePruning(
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Int
  ) async throws(LedgerError) -> Int {
    var total = 0
    while case let count = try await write(while: .pruning, work), count > 0 { total += count }
    return total
  }

  /// The number of rows that one transaction of pruning removes.
  static let prunedAtOnce: Int64 = 200

  /// Runs a statement that deletes rows until it finds none.
  ///
  /// - Parameter sql: A statement whose first parameter is the moment and whose second one is the largest number of rows.
  func delete(_ sql: String, before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { session in
      try session.execute(sql, [.int64(moment), .int64(Self.prunedAtOnce)])
    }
  }

  static let pruningCommands = """
    DELETE FROM commands WHERE number IN (SELECT number FROM commands WHERE at < $1 ORDER BY number LIMIT $2)
    """

  /// Removes announcements that ended before a moment. Those that ended at the same moment are removed in the order of
  /// their numbers. The members of a summary are therefore removed before the summary, while they still carry the
  /// summary's number.
  private func pruneAnnouncements(before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { session in
      var numbers: [Int64] = []
      var keys: [AnnouncementKey] = []
      for row in try session.rows(Self.lockingEnded, [.int64(moment), .int64(Self.prunedAtOnce)]) {
        numbers.append(try row.read("number"))
        keys.append(AnnouncementKey(try row.read("account"), try row.read("id")))
      }
      if numbers.isEmpty { return 0 }
      try Self.lockDecisions(keys, in: session)
      let count = try session.execute(Self.deletingAnnouncements, [.int64s(numbers)])
      try Self.removeDecisions(keys, in: session)
      return count
    }
  }

  // A row that was restored while the statement waited for it does not meet the condition any more.
  static let lockingEnded = """
    SELECT number, account, id FROM announcements
    WHERE finished_at < $1
      AND number IN (SELECT old.number FROM announcements AS old WHERE old.finished_at < $1
                     ORDER BY old.finished_at, old.number LIMIT $2)
    ORDER BY number FOR UPDATE
    """

  /// Removes events that are older than a moment. The clocks of the nodes differ a little, so an event may stand behind a
  /// newer one. The search therefore ends only where a thousand events in a row are newer.
  private func pruneEvents(before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { session in
      let positions = try session.all(
        Self.pruningEvents, [.int64(moment), .int64(Self.prunedAtOnce)]
      ) { try $0.read("position", as: Int64.self) }
      if let last = positions.max() { try session.execute(Self.notingPruned, [.int64(last)]) }
      return positions.count
    }
  }

  static let pruningEvents = """
    DELETE FROM events WHERE position IN (
      SELECT oldest.position FROM (SELECT position, at FROM events ORDER BY position LIMIT 1000) AS oldest
      WHERE oldest.at < $1 ORDER BY oldest.position LIMIT $2)
    RETURNING position
    """
  static let notingPruned = "UPDATE event_positions SET pruned = greatest(pruned, $1)"
}
