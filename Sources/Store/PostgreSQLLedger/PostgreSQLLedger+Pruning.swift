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
    pruned.commands = try await delete(
      Schema.deletion(of: "commands", key: "number", where: "at < $1", order: "number"), before: moment)
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

  /// Repeats work on a few rows until none is left, as ``repeatWhilePruning(_:)`` does. The rows are removed in an order.
  ///
  /// An index keeps the entries of removed rows until the server has vacuumed the table, which may be much later. Each
  /// transaction therefore begins where the last one ended. If it began at the start, it would read all these entries again.
  ///
  /// - Parameter work: Removes some rows, beginning at a place in the order, and returns their number and the last
  ///   place.
  func repeatWhilePruning(
    inOrder work: @escaping @Sendable (borrowing PostgreSQLSession, _ first: Int64) throws -> (count: Int, last: Int64)
  ) async throws(LedgerError) -> Int {
    var (total, first) = (0, Int64.min)
    while true {
      let part = try await write(while: .pruning) { [first] session in try work(session, first) }
      if part.count == 0 { return total }
      (total, first) = (total + part.count, part.last)
    }
  }

  /// The number of rows that one transaction of pruning removes.
  static let prunedAtOnce: Int64 = 200

  /// Runs a statement that deletes rows until it finds none.
  ///
  /// - Parameter sql: A statement of ``Schema/deletion(of:key:where:order:)``, whose $1 is the moment.
  func delete(_ sql: String, before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { session, first in
      let values: [PostgreSQLValue] = [.int64(moment), .int64(Self.prunedAtOnce), .int64(first)]
      let part = try session.first(sql, values) { row in
        (count: try row.value("count") as Int, last: try row.read("last", as: Int64?.self) ?? first)
      }
      return part ?? (0, first)
    }
  }

  /// Removes announcements that ended before a moment. Those that ended at the same moment are removed in the order of
  /// their numbers. The members of a summary are therefore removed before the summary, while they still carry the
  /// summary's number.
  private func pruneAnnouncements(before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { session, first in
      var (numbers, last) = ([Int64](), first)
      var keys: [AnnouncementKey] = []
      for row in try session.rows(
        Self.lockingEnded, [.int64(moment), .int64(Self.prunedAtOnce), .int64(first)])
      {
        numbers.append(try row.read("number"))
        keys.append(AnnouncementKey(try row.read("account"), try row.read("id")))
        last = max(last, try row.read("finished_at"))
      }
      if numbers.isEmpty { return (0, last) }
      try Self.lockDecisions(keys, in: session)
      let count = try session.execute(Self.deletingAnnouncements, [.int64s(numbers)])
      try Self.removeDecisions(keys, in: session)
      return (count, last)
    }
  }

  // A row that was restored while the statement waited for it does not meet the condition any more. As in
  // ``Schema/deletion(of:key:where:order:)``, the numbers are an array.
  static let lockingEnded = """
    SELECT number, account, id, finished_at FROM announcements
    WHERE finished_at < $1
      AND number = ANY (ARRAY(SELECT old.number FROM announcements AS old
                              WHERE old.finished_at < $1 AND old.finished_at >= $3
                              ORDER BY old.finished_at, old.number LIMIT $2))
    ORDER BY number FOR UPDATE
    """

  /// Removes events that are older than a moment. The clocks of the nodes differ a little, so an event may stand behind a
  /// newer one. The search therefore ends only where a thousand events in a row are newer.
  private func pruneEvents(before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { session, first in
      let positions = try session.all(
        Self.pruningEvents, [.int64(moment), .int64(Self.prunedAtOnce), .int64(first)]
      ) { try $0.read("position", as: Int64.self) }
      guard let last = positions.max() else { return (0, first) }
      try session.execute(Self.notingPruned, [.int64(last)])
      return (positions.count, last)
    }
  }

  static let pruningEvents = """
    DELETE FROM events WHERE position = ANY (ARRAY(
      SELECT oldest.position FROM (
        SELECT position, at FROM events WHERE position >= $3 ORDER BY position LIMIT 1000) AS oldest
      WHERE oldest.at < $1 ORDER BY oldest.position LIMIT $2))
    RETURNING position
    """
  static let notingPruned = "UPDATE event_positions SET pruned = greatest(pruned, $1)"
}
