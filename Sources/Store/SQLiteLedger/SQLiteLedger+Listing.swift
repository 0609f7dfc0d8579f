// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
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
    return try await read(isLong: true) { database in
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
      // There is only one bound for the latest time, so that SQLite starts reading the index at the cursor.
      let bounds: StatementArguments = [
        "account": account, "from": from, "until": min(start.at, to == .max ? to : to - 1), "at": start.at,
        "row": start.row, "entries": start.isEntry, "count": count, "text": filter.text?.bytes,
      ]
      add(try Self.entries(filter.states, bounds, in: database))
      if filter.states.contains(.rendered) { add(try Self.answers(bounds, in: database)) }
      let listed = rows.filter { row in row.isListed && horizon.map { !row.cursor.isAfter($0) } ?? true }
        .sorted { $1.cursor.isAfter($0.cursor) }
      let page = listed.prefix(count - 1)
      var next = listed.count > page.count ? page.last?.cursor : horizon
      var announcements: [Ledger.ListedAnnouncement] = []
      var pushCount = 0
      let found = page.filter { row in filter.text.map { row.hasText || SearchText(row.id).contains($0) } ?? true }
        .prefix(limit)
      let ids = found.map(\.id)
      let known = try Self.announcements(account, ids, in: database)
      let pushed = try Self.pushed(account, ids, in: database)
      for (index, row) in found.enumerated() {
        guard let announcement = known[row.id.bytes] else { continue }
        let pushes = pushed.contains(row.id) ? try Self.pushes(account, row.id, in: database) : []
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

  /// A row of one of the two tables that a list is made of.
  private struct ListedRow {
    var cursor: Ledger.AnnouncementCursor
    var id: String
    var isListed: Bool
    /// Whether the words of the first answer contain the text that is searched for.
    var hasText: Bool
  }

  private static func milliseconds(_ date: Date?, orElse bound: Int64) -> Int64 {
    guard let date else { return bound }
    return date.wholeMilliseconds ?? (date.timeIntervalSince1970 < 0 ? .min : .max)
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

  private static func entries(
    _ states: Set<Ledger.AnnouncementFilter.State>, _ bounds: StatementArguments, in database: Database
  ) throws -> [ListedRow] {
    let wanted = Set(states.map(\.rawValue))
    let flags = StatementArguments(
      Dictionary(uniqueKeysWithValues: Ledger.State.allCases.map { ($0.rawValue, wanted.contains($0.rawValue)) }))
    return try database.cachedStatement(sql: listedEntries).all(bounds + flags) { row in
      ListedRow(
        cursor: Ledger.AnnouncementCursor(at: try row.value("at"), isEntry: true, row: try row.value("number")),
        id: try row.value("id"), isListed: true, hasText: try row.value("has_text"))
    }
  }

  private static func answers(_ bounds: StatementArguments, in database: Database) throws -> [ListedRow] {
    try database.cachedStatement(sql: listedAnswers).all(bounds) { row in
      ListedRow(
        cursor: Ledger.AnnouncementCursor(at: try row.value("at"), isEntry: false, row: try row.value("number")),
        id: try row.value("id"), isListed: try row.value("listed"), hasText: try row.value("has_text"))
    }
  }
}
