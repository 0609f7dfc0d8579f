// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func announcements(
    account: String, matching filter: Ledger.AnnouncementFilter, before cursor: Ledger.AnnouncementCursor?, limit: Int
  ) async throws(LedgerError) -> Ledger.AnnouncementPage {
    guard let listing = AnnouncementListing(account: account, filter, before: cursor, limit: limit) else {
      return .empty
    }
    return try await read(isLong: true) { database in
      var listing = listing
      let bounds: StatementArguments = [
        "account": account, "from": listing.from, "until": listing.until, "at": listing.start.at,
        "row": listing.start.row, "entries": listing.start.isEntry, "count": listing.count,
        "text": listing.text?.bytes,
      ]
      let states = StatementArguments(
        Dictionary(uniqueKeysWithValues: Ledger.State.allCases.map { ($0.rawValue, listing.states.contains($0)) }))
      listing.add(
        try database.cachedStatement(sql: Self.listedEntries).all(bounds + states) {
          try AnnouncementListing.Row(row: $0, isEntry: true)
        })
      if listing.hasAnswers {
        listing.add(
          try database.cachedStatement(sql: Self.listedAnswers).all(bounds) {
            try AnnouncementListing.Row(row: $0, isEntry: false)
          })
      }
      let found = listing.find()
      let ids = found.map(\.id)
      let known = try Self.announcements(account, ids, in: database)
      let pushed = try Self.pushed(account, ids, in: database)
      for row in found {
        guard let announcement = known[row.id.bytes] else { continue }
        let pushes = pushed.contains(row.id) ? try Self.pushes(account, row.id, in: database) : []
        if !listing.list(announcement, pushes: pushes, at: row) { break }
      }
      return listing.page
    }
  }

  /// The query for the entries, newest first. SQLite merges the parts for the states and reads no more than it needs of
  /// each. A part is left out if the argument with the name of its state is false.
  static let listedEntries: String = {
    let parts = Ledger.State.allCases.map { state in
      """
      SELECT number, id, accepted_at AS at FROM announcements
      WHERE :\(state.rawValue) AND account = :account AND state = '\(state.rawValue)'
        AND accepted_at >= :from AND accepted_at <= :until
        AND (accepted_at < :at OR (:entries AND number < :row))
      """
    }
    return """
      SELECT number, id, at,
        :text IS NOT NULL AND coalesce((SELECT instr(words, :text) FROM answers
                                        WHERE account = :account AND answers.id = entries.id
                                        ORDER BY answers.rowid LIMIT 1), 0) > 0 AS has_text
      FROM (\(parts.joined(separator: "\nUNION ALL\n")) ORDER BY at DESC, number DESC LIMIT :count) AS entries
      """
  }()

  /// The query for the answers, newest first. An answer is not listed if the announcement has an entry or an earlier
  /// answer.
  static let listedAnswers = """
    SELECT rowid AS number, id, created_at AS at,
      NOT EXISTS (SELECT 1 FROM announcements WHERE account = :account AND id = answers.id)
      AND NOT EXISTS (SELECT 1 FROM answers AS other
                      WHERE other.account = :account AND other.id = answers.id AND other.rowid < answers.rowid)
        AS listed,
      :text IS NOT NULL AND coalesce(instr(words, :text), 0) > 0 AS has_text
    FROM answers
    WHERE account = :account AND created_at >= :from AND created_at <= :until
      AND (created_at < :at OR :entries OR rowid < :row)
    ORDER BY created_at DESC, rowid DESC LIMIT :count
    """
}
