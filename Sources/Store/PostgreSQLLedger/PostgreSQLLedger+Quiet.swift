// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func quietPayments(
    lane: String, after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.Entry] {
    try checkLane(lane, while: .reading)
    return try await readTogether { session in
      try Self.entries(
        "\(Self.quietPayments) AND number > $2 ORDER BY number LIMIT $3",
        [.string(lane), .int64(number), Self.limit(limit)], in: session)
    }
  }

  public func accept(
    _ summary: StoredAnnouncement, namingQuietPaymentsUpTo last: Int64, count: Int
  ) async throws(LedgerError) -> Ledger.Acceptance {
    try refuse(summary.brokenRule, while: .accepting)
    return try await write(while: .accepting) { [self] session in
      let acceptance = try accept(summary, in: session)
      // A caller that does not know the outcome of its call makes it again. The summary then names the payments already.
      let named = try session.execute(
        acceptance.isDuplicate ? Self.namedPayments : Self.namingPayments,
        [.int64(acceptance.number), .string(summary.lane), .int64(last)])
      guard named == count else { throw error(.illegalSummary, while: .accepting) }
      return acceptance
    }
  }

  static let namingPayments = """
    UPDATE announcements SET summary_due = false, summarised_by = $1
    WHERE number IN (SELECT number FROM announcements WHERE lane = $2 AND summary_due AND number <= $3
                     ORDER BY number FOR NO KEY UPDATE)
      AND summary_due
    """
  static let namedPayments = """
    SELECT 1 FROM announcements
    WHERE summarised_by = $1 AND lane = $2 AND number <= $3 AND state = 'quiet' AND NOT summary_due
    """

  public func forgetQuietPayments(lane: String) async throws(LedgerError) {
    try checkLane(lane, while: .changing)
    try await write(while: .changing) { session in
      try session.execute(Self.forgettingPayments, [.string(lane)])
    }
  }

  static let forgettingPayments = """
    UPDATE announcements SET summary_due = false
    WHERE number IN (SELECT number FROM announcements WHERE \(quietPayments) ORDER BY number FOR NO KEY UPDATE)
    """

  /// The condition of the index `announcements_quiet`.
  private static let quietPayments = "lane = $1 AND summary_due"

  /// Notes that an announcement which has ended as `quiet`, or the payments that it stood for, are to be named in a
  /// summary.
  static func awaitSummary(_ number: Int64, in session: borrowing PostgreSQLSession) throws {
    try session.execute(awaiting, [.int64(number)])
  }

  static let awaiting = """
    UPDATE announcements SET summary_due = true
    WHERE (number = $1 OR summarised_by = $1) AND state = 'quiet' AND kind = 'request' AND NOT replay
      AND category = 'payment'
    """
}
