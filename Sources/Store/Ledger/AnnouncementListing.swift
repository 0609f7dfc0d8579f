// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The steps that make a part of the list of an account's announcements. The user of this value reads the database.
///
/// The list combines the rows of two tables. The user adds rows of both tables, newest first. Then ``find()`` returns
/// the rows that are listed, and the user adds the announcement of each of these rows.
package struct AnnouncementListing: Sendable {
  /// A row of one of the two tables.
  package struct Row: Sendable {
    let cursor: Ledger.AnnouncementCursor
    package let id: String
    let isListed: Bool
    /// Whether the words of the first answer contain the text that is searched for.
    let hasText: Bool

    /// - Parameter isEntry: Whether the row belongs to an entry. Otherwise, it belongs to an answer.
    package init(row: some StoredRow, isEntry: Bool) throws {
      cursor = Ledger.AnnouncementCursor(at: try row.value("at"), isEntry: isEntry, row: try row.value("number"))
      id = try row.value("id")
      isListed = try isEntry || row.value("listed")
      hasText = try row.value("has_text")
    }
  }

  /// The earliest time of the rows, in milliseconds since 1970.
  package let from: Int64
  /// The latest time of the rows. It is the earlier one of the filter's end and the cursor's time, so that a database
  /// starts reading its index at the cursor.
  package let until: Int64
  /// The place after which the rows are read.
  package let start: Ledger.AnnouncementCursor
  /// The states of the entries that are read.
  package let states: [Ledger.State]
  /// Whether rows of answers are read.
  package let hasAnswers: Bool
  /// The text that is searched for.
  package let text: SearchText?
  /// The maximum number of rows to read of each table. One row more than is needed shows whether the list continues.
  package let count: Int
  private let limit: Int

  private var rows: [Row] = []
  private var rowCount = 0
  /// The last place up to which all rows have been read.
  private var horizon: Ledger.AnnouncementCursor?
  private var last: Ledger.AnnouncementCursor?
  private var next: Ledger.AnnouncementCursor?
  private var announcements: [Ledger.ListedAnnouncement] = []
  private var pushCount = 0

  /// - Returns: nil if no announcement meets the conditions.
  package init?(
    account: String, _ filter: Ledger.AnnouncementFilter, before cursor: Ledger.AnnouncementCursor?, limit: Int
  ) {
    let from = Self.milliseconds(filter.from, orElse: .min)
    let to = Self.milliseconds(filter.to, orElse: .max)
    if account.hasZero || filter.states.isEmpty || from >= to { return nil }
    start = cursor ?? Ledger.AnnouncementCursor(at: .max, isEntry: true, row: .max)
    self.from = from
    until = min(start.at, to == .max ? to : to - 1)
    let names = Set(filter.states.map(\.rawValue))
    states = Ledger.State.allCases.filter { names.contains($0.rawValue) }
    hasAnswers = filter.states.contains(.rendered)
    text = filter.text
    self.limit = Ledger.limit(limit)
    count = (filter.text == nil ? self.limit : Ledger.searchedAtOnce) + 1
  }

  private static func milliseconds(_ date: Date?, orElse bound: Int64) -> Int64 {
    guard let date else { return bound }
    return date.wholeMilliseconds ?? (date.timeIntervalSince1970 < 0 ? .min : .max)
  }

  /// Adds the rows that were read of a table, newest first.
  package mutating func add(_ part: [Row]) {
    rows += part
    rowCount += part.count
    guard part.count == count, let last = part.last?.cursor else { return }
    horizon = horizon.map { last.isAfter($0) ? $0 : last } ?? last
  }

  /// Returns the rows whose announcements are listed, newest first.
  package mutating func find() -> [Row] {
    let listed = rows.filter { row in row.isListed && horizon.map { !row.cursor.isAfter($0) } ?? true }
      .sorted { $1.cursor.isAfter($0.cursor) }
    let page = listed.prefix(count - 1)
    last = page.last?.cursor
    next = listed.count > page.count ? last : horizon
    let found = page.filter { row in text.map { row.hasText || SearchText(row.id).contains($0) } ?? true }
    return Array(found.prefix(limit))
  }

  /// Lists the announcement of a row.
  ///
  /// - Returns: Whether more announcements can be listed.
  package mutating func list(_ announcement: Ledger.Announcement, pushes: [Ledger.Push], at row: Row) -> Bool {
    announcements.append(Ledger.ListedAnnouncement(announcement: announcement, pushes: pushes))
    pushCount += pushes.count
    if announcements.count < limit, pushCount < Ledger.mostListedPushes { return true }
    if row.cursor != last { next = row.cursor }
    return false
  }

  package var page: Ledger.AnnouncementPage {
    Ledger.AnnouncementPage(announcements: announcements, next: next, rowCount: rowCount)
  }
}
