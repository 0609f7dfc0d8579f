// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// The conditions for listing an account's announcements.
  public struct AnnouncementFilter: Sendable, Hashable {
    /// The state by which announcements are listed: the state of playing or, if an announcement was not to be played,
    /// `rendered`.
    public enum State: String, Sendable, Hashable, CaseIterable {
      case accepted, rendering, waiting, playing, played, cancelled, failed, expired, quiet, rendered
    }

    /// The states to list.
    public var states = Set(State.allCases)
    /// The earliest time of acceptance.
    public var from: Date?
    /// The end of the range: announcements accepted at this time or later are left out.
    public var to: Date?
    /// A text that the announcement's id or the words of its first answer contain; nil for all announcements.
    public var text: SearchText?

    public init() {}
  }

  /// The place of an announcement in the list of its account. Its text is opaque, and valid only for the same ledger.
  public struct AnnouncementCursor: Sendable, Hashable, LosslessStringConvertible {
    fileprivate let at: Int64
    /// Whether the place belongs to an entry. Otherwise, it belongs to an answer.
    fileprivate let isEntry: Bool
    /// The entry's number, or the answer's row.
    fileprivate let row: Int64

    fileprivate init(at: Int64, isEntry: Bool, row: Int64) {
      self.at = at
      self.isEntry = isEntry
      self.row = row
    }

    public init?(_ text: String) {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 3, let at = Int64(parts[0]), let row = Int64(parts[2]), ["a", "e"].contains(parts[1]),
        (0..<Self.bound).contains(at), (0..<Self.bound).contains(row)
      else { return nil }
      self.init(at: at, isEntry: parts[1] == "e", row: row)
      if description != text { return nil }
    }

    private static let bound: Int64 = 1_000_000_000_000_000_000

    public var description: String { "\(at).\(isEntry ? "e" : "a").\(row)" }

    /// Whether this place comes after another one in the list, so that its announcement is older.
    fileprivate func isAfter(_ other: Self) -> Bool {
      (at, isEntry ? 1 : 0, row) < (other.at, other.isEntry ? 1 : 0, other.row)
    }
  }

  /// An announcement of a list, with its pushes. The properties of the announcement can be read directly.
  @dynamicMemberLookup
  public struct ListedAnnouncement: Sendable, Hashable {
    public let announcement: Announcement
    /// The pushes of the announcement, oldest first.
    public let pushes: [Push]

    public subscript<Value>(dynamicMember property: KeyPath<Announcement, Value>) -> Value {
      announcement[keyPath: property]
    }
  }

  /// A part of the list of an account's announcements, newest first.
  public struct AnnouncementPage: Sendable, Hashable {
    public let announcements: [ListedAnnouncement]
    /// The place after which the list continues; nil at the end of the list.
    public let next: AnnouncementCursor?
    /// The number of rows that were read to find the announcements.
    public let rowCount: Int
  }

  /// The number of announcements that one call searches for a text.
  public static let searchedAtOnce = 250
  /// The number of pushes after which a part of a list ends.
  public static let mostListedPushes = 500

  /// Returns a part of the list of an account's announcements, newest first. They include answered announcements and
  /// those accepted for a player. Each is listed once: at its acceptance or, if it was not to be played, at its first
  /// answer. The call reads indexes only as far as it needs them, so older announcements do not slow it down.
  ///
  /// - Parameters:
  ///   - cursor: The place after which the list continues; nil for its beginning.
  ///   - limit: The maximum number of announcements, 1 to 1,000. The result can be shorter, and even empty, although
  ///     `next` is not nil: a call searches among ``searchedAtOnce`` announcements, and ends as soon as it has read
  ///     ``mostListedPushes`` pushes.
  public func announcements(
    account: String, matching filter: AnnouncementFilter = AnnouncementFilter(),
    before cursor: AnnouncementCursor? = nil,
    limit: Int = 50
  ) async throws(LedgerError) -> AnnouncementPage {
    let nothing = AnnouncementPage(announcements: [], next: nil, rowCount: 0)
    let (from, to) = (Self.milliseconds(filter.from, orElse: .min), Self.milliseconds(filter.to, orElse: .max))
    if account.hasZero || filter.states.isEmpty || from >= to { return nothing }
    let limit = min(max(limit, 1), 1000)
    // One row more than the limit shows whether the list continues.
    let count = (filter.text == nil ? limit : Self.searchedAtOnce) + 1
    let start = cursor ?? AnnouncementCursor(at: .max, isEntry: true, row: .max)
    return try await read(isLong: true) { database in
      var rows: [ListedRow] = []
      var reads = 0
      /// The last place up to which all rows have been read.
      var horizon: AnnouncementCursor?
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
      var announcements: [ListedAnnouncement] = []
      var pushCount = 0
      let found = page.filter { row in filter.text.map { row.hasText || SearchText(row.id).contains($0) } ?? true }
        .prefix(limit)
      let ids = found.map(\.id)
      let known = try Self.announcements(account, ids, in: database)
      let pushed = try Self.pushed(account, ids, in: database)
      for (index, row) in found.enumerated() {
        guard let announcement = known[row.id.bytes] else { continue }
        let pushes = pushed.contains(row.id) ? try Self.pushes(account, row.id, in: database) : []
        announcements.append(ListedAnnouncement(announcement: announcement, pushes: pushes))
        pushCount += pushes.count
        if index + 1 == limit || pushCount >= Self.mostListedPushes {
          if row.cursor != page.last?.cursor { next = row.cursor }
          break
        }
      }
      return AnnouncementPage(announcements: announcements, next: next, rowCount: reads)
    }
  }

  /// A row of one of the two tables that a list is made of.
  private struct ListedRow {
    var cursor: AnnouncementCursor
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
    let parts = State.allCases.map { state in
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
    _ states: Set<AnnouncementFilter.State>, _ bounds: StatementArguments, in database: Database
  ) throws -> [ListedRow] {
    let wanted = Set(states.map(\.rawValue))
    let flags = StatementArguments(
      Dictionary(uniqueKeysWithValues: State.allCases.map { ($0.rawValue, wanted.contains($0.rawValue)) }))
    return try database.cachedStatement(sql: listedEntries).all(bounds + flags) { row in
      ListedRow(
        cursor: AnnouncementCursor(at: try row.value("at"), isEntry: true, row: try row.value("number")),
        id: try row.value("id"), isListed: true, hasText: try row.value("has_text"))
    }
  }

  private static func answers(_ bounds: StatementArguments, in database: Database) throws -> [ListedRow] {
    try database.cachedStatement(sql: listedAnswers).all(bounds) { row in
      ListedRow(
        cursor: AnnouncementCursor(at: try row.value("at"), isEntry: false, row: try row.value("number")),
        id: try row.value("id"), isListed: try row.value("listed"), hasText: try row.value("has_text"))
    }
  }
}
