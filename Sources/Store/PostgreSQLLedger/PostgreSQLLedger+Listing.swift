// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func announcements(
    account: String, matching filter: Ledger.AnnouncementFilter, before cursor: Ledger.AnnouncementCursor?, limit: Int
  ) async throws(LedgerError) -> Ledger.AnnouncementPage {
    let nothing = Ledger.AnnouncementPage(announcements: [], next: nil, rowCount: 0)
    let (from, to) = (Self.milliseconds(filter.from, orElse: .min), Self.milliseconds(filter.to, orElse: .max))
    if account.hasZero || filter.states.isEmpty || from >= to { return nothing }
    let limit = Ledger.limit(limit)
    // One row more than the limit shows whether the list continues.
    let count = (filter.text == nil ? limit : Ledger.searchedAtOnce) + 1
    let start = cursor ?? Ledger.AnnouncementCursor(at: .max, isEntry: true, row: .max)
    let bounds: [PostgreSQLValue] = [
      .string(account), .int64(from), .int64(min(start.at, to == .max ? to : to - 1)), .int64(start.at),
      .bool(start.isEntry), .int64(start.row), .int64(Int64(count)), .bytes(filter.text?.bytes),
    ]
    return try await readTogether(isLong: true) { session in
      var rows: [ListedRow] = []
      var reads = 0
      /// The last place up to which all rows have been read.
      var horizon: Ledger.AnnouncementCursor?
      func add(_ part: [ListedRow]) {
        rows += part
        reads += part.count
        guard part.count == count, let last = part.last?.cursor else { return }
        horizon = horizon.map { last.isAfter($0) ? $0 : last } ?? last
      }
      let states = PostgreSQLValue.strings(
        Ledger.State.allCases.map(\.rawValue).filter { name in
          filter.states.contains { $0.rawValue == name }
        })
      add(try session.all(Self.listedEntries, bounds + [states]) { try ListedRow(row: $0, isEntry: true) })
      if filter.states.contains(.rendered) {
        add(try session.all(Self.listedAnswers, bounds) { try ListedRow(row: $0, isEntry: false) })
      }
      let listed = rows.filter { row in row.isListed && horizon.map { !row.cursor.isAfter($0) } ?? true }
        .sorted { $1.cursor.isAfter($0.cursor) }
      let page = listed.prefix(count - 1)
      var next = listed.count > page.count ? page.last?.cursor : horizon
      var announcements: [Ledger.ListedAnnouncement] = []
      var pushCount = 0
      let found = page.filter { row in filter.text.map { row.hasText || SearchText(row.id).contains($0) } ?? true }
        .prefix(limit)
      let ids = found.map(\.id)
      let known = try Self.announcements(ids.map { AnnouncementKey(account, $0) }, in: session)
      let pushed = Set(try Self.pushed(account, ids, in: session).map(\.bytes))
      for (index, row) in found.enumerated() {
        guard let announcement = known[AnnouncementKey(account, row.id)] else { continue }
        let pushes = pushed.contains(row.id.bytes) ? try Self.pushes(account, row.id, in: session) : []
        announcements.append(Ledger.ListedAnnouncement(announcement: announcement, pushes: pushes))
        pushCount += pushes.count
        if index + 1 == limit || pushCount >= Ledger.mostListedPushes {
          if row.cursor != page.last?.cursor { next = row.cursor }
          break
        }
      }
      return Ledger.AnnouncementPage(announcements: announcements, next: next, rowCount: reads)
    }
  }

  private static func milliseconds(_ date: Date?, orElse bound: Int64) -> Int64 {
    guard let date else { return bound }
    return date.wholeMilliseconds ?? (date.timeIntervalSince1970 < 0 ? .min : .max)
  }

  /// The query for the entries, newest first. For each state, it reads an index from the cursor on, and no more rows than
  /// are asked for.
  static let listedEntries = """
    SELECT entries.number, entries.id, entries.at, true AS listed,
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

/// A row of one of the two tables that a list is made of.
private struct ListedRow {
  var cursor: Ledger.AnnouncementCursor
  var id: String
  var isListed: Bool
  /// Whether the words of the first answer contain the text that is searched for.
  var hasText: Bool

  init(row: PostgreSQLRow, isEntry: Bool) throws {
    cursor = Ledger.AnnouncementCursor(at: try row.read("at"), isEntry: isEntry, row: try row.read("number"))
    id = try row.read("id")
    isListed = try row.read("listed")
    hasText = try row.read("has_text")
  }
}
