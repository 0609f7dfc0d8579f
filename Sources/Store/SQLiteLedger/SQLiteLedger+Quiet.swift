// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Ledger {
  /// Returns the payments of a lane that ended as `quiet` and are still to be named in a summary, in the order of
  /// acceptance; see ``Change/awaitsSummary``. Other announcements do not slow the call down.
  ///
  /// - Parameters:
  ///   - number: The number of the last payment that the caller has seen; 0 for none.
  ///   - limit: The maximum number of payments, 1 to 1,000.
  public func quietPayments(
    lane: String, after number: Int64 = 0, limit: Int = 200
  ) async throws(LedgerError) -> [Entry] {
    try checkLane(lane, while: .reading)
    let limit = min(max(limit, 1), 1000)
    return try await read { database in
      try Self.entries(
        "\(Self.quietPayments) AND number > ? ORDER BY number LIMIT ?", [lane, number, limit], in: database)
    }
  }

  /// Accepts the summary of quiet payments. In the same transaction, they are marked as named in it. They stay `quiet`
  /// even if the summary is not announced.
  ///
  /// - Parameters:
  ///   - last: The number of the last of the payments.
  ///   - count: The number of payments that the summary names.
  /// - Throws: ``LedgerError`` with `illegalSummary` if the lane has another number of quiet payments up to the last
  ///   one, because one of them was removed meanwhile; or the errors of ``accept(_:standingFor:)``. Nothing was accepted
  ///   then.
  public func accept(
    _ summary: StoredAnnouncement, namingQuietPaymentsUpTo last: Int64, count: Int
  ) async throws(LedgerError) -> Acceptance {
    try refuse(summary.brokenRule, while: .accepting)
    return try await write(while: .accepting) { [self] database in
      let acceptance = try accept(summary, in: database)
      try database.execute(
        sql: """
          UPDATE announcements SET summary_due = 0, summarised_by = ? WHERE \(Self.quietPayments) AND number <= ?
          """, arguments: [acceptance.number, summary.lane, last])
      guard database.changesCount == count else {
        throw LedgerError(.illegalSummary, while: .accepting, in: file)
      }
      return acceptance
    }
  }

  /// Records that no summary will name the quiet payments of a lane.
  public func forgetQuietPayments(lane: String) async throws(LedgerError) {
    try checkLane(lane, while: .changing)
    try await write(while: .changing) { database in
      try database.execute(
        sql: "UPDATE announcements SET summary_due = 0 WHERE \(Self.quietPayments)", arguments: [lane])
    }
  }

  /// The condition of the index `announcements_quiet`.
  private static let quietPayments = "lane = ? AND summary_due = 1"

  /// Notes that an announcement which has ended as `quiet`, or the payments that it stood for, are to be named in a
  /// summary.
  static func awaitSummary(_ number: Int64, in database: Database) throws {
    for column in ["number", "summarised_by"] {
      try database.cachedStatement(
        sql: """
          UPDATE announcements SET summary_due = 1
          WHERE \(column) = ? AND state = 'quiet' AND kind = 'request' AND NOT replay AND category = 'payment'
          """
      ).execute(arguments: [number])
    }
  }
}
