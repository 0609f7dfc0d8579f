// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public func quietPayments(lane: String, after number: Int64, limit: Int) async throws(LedgerError) -> [Ledger.Entry] {
    try checkLane(lane, while: .reading)
    return try await read { database in
      try Self.entries(
        "\(Self.quietPayments) AND number > ? ORDER BY number LIMIT ?", [lane, number, Ledger.limit(limit)],
        in: database)
    }
  }

  public func accept(
    _ summary: StoredAnnouncement, namingQuietPaymentsUpTo last: Int64, count: Int
  ) async throws(LedgerError) -> Ledger.Acceptance {
    try refuse(summary.brokenRule, while: .accepting)
    return try await write(while: .accepting) { [self] database in
      let acceptance = try accept(summary, in: database)
      try database.execute(
        sql: """
          UPDATE announcements SET summary_due = 0, summarised_by = ? WHERE \(Self.quietPayments) AND number <= ?
          """, arguments: [acceptance.number, summary.lane, last])
      guard database.changesCount == count else {
        throw error(.illegalSummary, while: .accepting)
      }
      return acceptance
    }
  }

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
