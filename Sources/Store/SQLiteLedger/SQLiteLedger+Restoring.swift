// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public func restore(_ number: Int64) async throws(LedgerError) -> Ledger.Entry? {
    try await write(while: .changing) { [self] database in
      let at = timeStamp
      // A waiting announcement is cancelled without a detail. If an unfinished summary includes it, it stays in that
      // summary. A summary that has begun to play has been heard, and so have its payments.
      try database.cachedStatement(
        sql: """
          UPDATE announcements SET
            state = iif(clip IS NULL, 'accepted', 'waiting'), finished_at = NULL, changed_at = ?,
            summarised_by = (SELECT number FROM announcements AS summary
                             WHERE number = announcements.summarised_by AND finished_at IS NULL)
          WHERE number = ? AND state = 'cancelled' AND detail IS NULL AND finished_at >= ?
            AND (expires_at IS NULL OR expires_at > ?)
            AND NOT EXISTS (SELECT 1 FROM announcements AS summary
                            WHERE number = announcements.summarised_by AND attempts > 0)
          """
      ).execute(arguments: [at, number, at - Int64(Ledger.restorationTime * 1000), at])
      guard database.changesCount == 1 else { return nil }
      let entry = try Self.entries("number = ?", [number], in: database).first
      if let entry { try Self.append(.restored, number, lane: entry.lane, at: at, in: database) }
      return entry
    }
  }

  public func restoreUnplayed(_ number: Int64) async throws(LedgerError) -> Ledger.Entry? {
    guard let lane = try await entry(number)?.lane else { return nil }
    // While this call holds the seat, no player can start on the lane. A player that had started might already have
    // read past the announcement's number, and would miss it.
    let seat = try takeSeat(lane: lane)
    defer { withExtendedLifetime(seat) {} }
    return try await restore(number)
  }
}
