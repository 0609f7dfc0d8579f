// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func announcements(
    account: String, matching filter: Ledger.AnnouncementFilter, before cursor: Ledger.AnnouncementCursor?, limit: Int
  ) async throws(LedgerError) -> Ledger.AnnouncementPage {
    guard let listing = AnnouncementListing(account: account, filter, before: cursor, limit: limit) else {
      return .empty
    }
    let bounds: [PostgreSQLValue] = [
      .string(account), .int64(listing.from), .int64(listing.until), .int64(listing.start.at),
      .bool(listing.start.isEntry), .int64(listing.start.row), .int64(Int64(listing.count)),
      .bytes(listing.text?.bytes),
    ]
    return try await readTogether(isLong: true) { session in
      var listing = listing
      listing.add(
        try session.all(Self.listedEntries, bounds + [.strings(listing.states.map(\.rawValue))]) {
          try AnnouncementListing.Row(row: $0, isEntry: true)
        })
      if listing.hasAnswers {
        listing.add(
          try session.all(Self.listedAnswers, bounds) { try AnnouncementListing.Row(row: $0, isEntry: false) })
      }
      let found = listing.find()
      let ids = found.map(\.id)
      let known = try Self.announcements(ids.map { AnnouncementKey(account, $0) }, in: session)
      let pushed = Set(try Self.pushed(account, ids, in: session).map(\.bytes))
      for row in found {
        guard let announcement = known[AnnouncementKey(account, row.id)] else { continue }
        let pushes = pushed.contains(row.id.bytes) ? try Self.pushes(account, row.id, in: session) : []
        if !listing.list(announcement, pushes: pushes, at: row) { break }
      }
      return listing.page
    }
  }

  /// The query for the entries, newest first. For each state, it reads an index from the cursor on, and no more rows than
  /// are asked for.
  static let listedEntries = """
    SELECT entries.number, entries.id, entries.at,
      $8::bytea IS NOT NULL AND coalesce((SELECT position($8 IN words) FROM answers
                                          WHERE answers.account = $1 AND answers.id = entries.id
                                          ORDER BY answers.number LIMIT 1), 0) > 0 AS has_text
    FROM (
      SELECT entry.number, entry.id, entry.at FROM unnest($9::text[]) AS wanted (state) CROSS JOIN LATERAL (
        SELECT number, id, accepted_at AS at FROM announcements
        WHERE account = $1 AND announcements.state = wanted.state AND accepted_at >= $2 AND accepted_at <= $3
          AND (accepted_at < $4 OR ($5 AND number < $6))
        ORDER BY accepted_at DESC, number DESC LIMIT $7
      ) AS entry ORDER BY entry.at DESC, entry.number DESC LIMIT $7
    ) AS entries ORDER BY entries.at DESC, entries.number DESC
    """

  /// The query for the answers, newest first. An answer is not listed if the announcement has an entry or an earlier
  /// answer.
  static let listedAnswers = """
    SELECT number, id, created_at AS at,
      NOT EXISTS (SELECT 1 FROM announcements WHERE announcements.account = $1 AND announcements.id = answers.id)
      AND NOT EXISTS (SELECT 1 FROM answers AS other
                      WHERE other.account = $1 AND other.id = answers.id AND other.number < answers.number)
        AS listed,
      $8::bytea IS NOT NULL AND coalesce(position($8 IN words), 0) > 0 AS has_text
    FROM answers
    WHERE account = $1 AND created_at >= $2 AND created_at <= $3 AND (created_at < $4 OR $5 OR number < $6)
    ORDER BY created_at DESC, number DESC LIMIT $7
    """
}
