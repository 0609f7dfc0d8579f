// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// A stored announcement.
  @dynamicMemberLookup
  public struct Entry: Sendable, Hashable {
    public let number: Int64
    /// The announcement. Its properties can also be read directly from the entry.
    public fileprivate(set) var announcement: StoredAnnouncement
    public let state: State
    /// The detail of the last change of state.
    public let detail: [String: String]
    public let clip: String?
    /// The number of the summary that includes the announcement; nil when there is none.
    public let summarisedBy: Int64?
    /// The number of times that the announcement began to play.
    public let attempts: Int
    public let heardMilliseconds: Int?
    /// The number of times that rendering or playing began since it last came to an end; see ``InterruptedWork``.
    public let starts: Int
    public let acceptedAt: Date
    public let changedAt: Date
    public let finishedAt: Date?

    public subscript<Value>(dynamicMember property: KeyPath<StoredAnnouncement, Value>) -> Value {
      announcement[keyPath: property]
    }
  }

  /// Returns the unfinished announcements of a lane in the order of acceptance, including those that belong to a
  /// summary.
  ///
  /// - Parameters:
  ///   - number: The number of the last announcement that the caller has seen; 0 for none. Reading page by page keeps
  ///     memory bounded.
  ///   - limit: The maximum number of announcements, 1 to 1,000.
  public func unfinished(
    lane: String, after number: Int64 = 0, limit: Int = 200
  ) async throws(LedgerError) -> [Entry] {
    try checkLane(lane, while: .reading)
    let limit = min(max(limit, 1), 1000)
    return try await entries(
      "lane = ? AND finished_at IS NULL AND number > ? ORDER BY number LIMIT ?", [lane, number, limit])
  }

  /// Returns the unfinished announcements of a lane that are played individually, in the order of acceptance. The
  /// payments of a summary are not included, because the summary is played in their place.
  ///
  /// - Parameter limit: The maximum number of announcements, 1 to 1,000.
  public func unfinishedAlone(lane: String, limit: Int = 200) async throws(LedgerError) -> [Entry] {
    try checkLane(lane, while: .reading)
    let limit = min(max(limit, 1), 1000)
    return try await entries("\(Self.unfinishedAlone) ORDER BY number LIMIT ?", [lane, limit])
  }

  /// Returns the number of unfinished announcements of a lane that are played individually. Finished announcements do
  /// not slow the call down.
  public func unfinishedAloneCount(lane: String) async throws(LedgerError) -> Int {
    try checkLane(lane, while: .reading)
    return try await read { database in
      try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM announcements WHERE \(Self.unfinishedAlone)"),
        arguments: [lane]) ?? 0
    }
  }

  private static let unfinishedAlone = "lane = ? AND finished_at IS NULL AND summarised_by IS NULL"

  /// Returns the announcement with an account and id; nil when there is none or it was pruned.
  public func entry(account: String = "", id: String) async throws(LedgerError) -> Entry? {
    if account.hasZero || id.hasZero { return nil }
    return try await entries("account = ? AND id = ?", [account, id]).first
  }

  public func entry(_ number: Int64) async throws(LedgerError) -> Entry? {
    try await entries("number = ?", [number]).first
  }

  /// Returns the announcements that a summary includes, in the order of acceptance.
  public func members(ofSummary number: Int64) async throws(LedgerError) -> [Entry] {
    try await entries("summarised_by = ? ORDER BY number", [number])
  }

  /// Returns the latest announcements, newest first.
  ///
  /// - Parameter limit: The maximum number of announcements, 1 to 1,000.
  public func recent(_ limit: Int = 50, lane: String? = nil) async throws(LedgerError) -> [Entry] {
    let limit = min(max(limit, 1), 1000)
    guard let lane else { return try await entries("1 ORDER BY number DESC LIMIT ?", [limit]) }
    try checkLane(lane, while: .reading)
    return try await entries("lane = ? ORDER BY number DESC LIMIT ?", [lane, limit])
  }

  /// Returns the number of announcements in each state; 0 for a state without any. The call reads an index of about 30
  /// bytes per announcement.
  public func counts(lane: String? = nil) async throws(LedgerError) -> [State: Int] {
    if let lane { try checkLane(lane, while: .reading) }
    return try await read(isLong: true) { database in
      let rows = try Row.fetchAll(
        database,
        sql: lane == nil
          ? "SELECT state, count(*) AS count FROM announcements GROUP BY state"
          : "SELECT state, count(*) AS count FROM announcements WHERE lane = ? GROUP BY state",
        arguments: lane.map { [$0] } ?? [])
      var counts = Dictionary(uniqueKeysWithValues: State.allCases.map { ($0, 0) })
      for row in rows { counts[try row.name("state")] = try row.value("count") as Int }
      return counts
    }
  }

  private func entries(_ condition: String, _ arguments: StatementArguments) async throws(LedgerError) -> [Entry] {
    try await read { try Self.entries(condition, arguments, in: $0) }
  }

  static func entries(
    _ condition: String, _ arguments: StatementArguments, in database: Database
  ) throws -> [Entry] {
    var entries = try database.cachedStatement(sql: "SELECT * FROM announcements WHERE \(condition)")
      .all(arguments, Entry.init(row:))
    for (account, places) in Dictionary(grouping: entries.indices, by: { entries[$0].account.bytes }) {
      let account = String(decoding: account, as: UTF8.self)
      let decisions = try decisions(account: account, ids: places.map { entries[$0].id }, in: database)
      for place in places { entries[place].announcement.decision = decisions[entries[place].id.bytes] }
    }
    return entries
  }
}

extension Ledger.Entry {
  fileprivate init(row: Row) throws {
    number = try row.value("number")
    announcement = try StoredAnnouncement(row: row)
    state = try row.name("state")
    detail = try row.detail()
    clip = try row.optional("clip")
    summarisedBy = try row.optional("summarised_by")
    attempts = try row.value("attempts")
    heardMilliseconds = try row.optional("heard")
    starts = try row.value("starts")
    acceptedAt = Date(wholeMilliseconds: try row.value("accepted_at"))
    changedAt = Date(wholeMilliseconds: try row.value("changed_at"))
    finishedAt = try row.date("finished_at")
  }
}

extension StoredAnnouncement {
  fileprivate init(row: Row) throws {
    self.init(
      account: try row.value("account"), id: try row.value("id"), lane: try row.value("lane"),
      kind: try row.name("kind"), isReplay: try row.value("replay"), category: try row.name("category"),
      sequence: try row.optional("sequence"), payload: try row.value("payload"),
      defaultLocale: try row.optional("default_locale"), defaultPack: try row.optional("default_pack"),
      defaultGroup: try row.optional("default_group"), expiresAt: try row.date("expires_at"))
  }
}
