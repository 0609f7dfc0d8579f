// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func restore(_ number: Int64) async throws(LedgerError) -> Ledger.Entry? {
    try await write(while: .changing) { [self] session in try restore(number, in: session) }
  }

  private func restore(_ number: Int64, in session: borrowing PostgreSQLSession) throws -> Ledger.Entry? {
    // A summary is locked before its members, as in the code that ends a summary. Otherwise the summary could end at
    // this moment without this announcement, which would then belong to an ended summary and would never be played.
    try session.execute(Self.lockingSummary, [.int64(number)])
    let at = timeStamp
    let restored = try session.execute(
      Self.restoring, [.int64(number), .int64(at), .int64(at - Int64(Ledger.restorationTime * 1000))])
    guard restored == 1 else { return nil }
    let entry = try Self.entries("number = $1", [.int64(number)], in: session).first
    if let entry {
      try Self.append([NewEvent(kind: .restored, number: number, lane: entry.lane)], at: at, in: session)
    }
    return entry
  }

  static let lockingSummary = """
    SELECT 1 FROM announcements
    WHERE number = (SELECT member.summarised_by FROM announcements AS member WHERE member.number = $1)
    FOR NO KEY UPDATE
    """

  // A waiting announcement is cancelled without a detail. If an unfinished summary includes it, it stays in that
  // summary. A summary that has begun to play has been heard, and so have its payments.
  static let restoring = """
    UPDATE announcements SET
      state = CASE WHEN clip IS NULL THEN 'accepted' ELSE 'waiting' END, finished_at = NULL, changed_at = $2,
      summarised_by = (SELECT summary.number FROM announcements AS summary
                       WHERE summary.number = announcements.summarised_by AND summary.finished_at IS NULL)
    WHERE number = $1 AND state = 'cancelled' AND detail IS NULL AND finished_at >= $3
      AND (expires_at IS NULL OR expires_at > $2)
      AND NOT EXISTS (SELECT 1 FROM announcements AS summary
                      WHERE summary.number = announcements.summarised_by AND summary.attempts > 0)
    """

  public func restoreUnplayed(_ number: Int64) async throws(LedgerError) -> Ledger.Entry? {
    guard let lane = try await entry(number)?.lane else { return nil }
    return try await write(while: .changing) { [self] session in
      // No player can start on the lane until the transaction ends. A player that had started might already have read
      // past the announcement's number, and would miss it.
      try lockUnplayed(lane, while: .changing, in: session)
      return try restore(number, in: session)
    }
  }
}
