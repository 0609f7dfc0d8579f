// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func unfinished(
    lane: String, after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.Entry] {
    try checkLane(lane, while: .reading)
    return try await entries(
      "lane = $1 AND finished_at IS NULL AND number > $2 ORDER BY number LIMIT $3",
      [.string(lane), .int64(number), Self.limit(limit)])
  }

  public func unfinishedAlone(lane: String, limit: Int) async throws(LedgerError) -> [Ledger.Entry] {
    try checkLane(lane, while: .reading)
    return try await entries("\(Self.unfinishedAlone) ORDER BY number LIMIT $2", [.string(lane), Self.limit(limit)])
  }

  public func unfinishedAloneCount(lane: String) async throws(LedgerError) -> Int {
    try checkLane(lane, while: .reading)
    return try await read { session in
      try session.first(Self.countAlone, [.string(lane)]) { try $0.value("count") } ?? 0
    }
  }

  private static let unfinishedAlone = "lane = $1 AND finished_at IS NULL AND summarised_by IS NULL"
  static let countAlone = "SELECT count(*) AS count FROM announcements WHERE \(unfinishedAlone)"

  public func entry(account: String, id: String) async throws(LedgerError) -> Ledger.Entry? {
    if account.hasZero || id.hasZero { return nil }
    return try await entries("account = $1 AND id = $2", [.string(account), .string(id)]).first
  }

  public func entry(_ number: Int64) async throws(LedgerError) -> Ledger.Entry? {
    try await entries("number = $1", [.int64(number)]).first
  }

  public func members(ofSummary number: Int64) async throws(LedgerError) -> [Ledger.Entry] {
    try await entries("summarised_by = $1 ORDER BY number", [.int64(number)])
  }

  public func recent(_ limit: Int, lane: String?) async throws(LedgerError) -> [Ledger.Entry] {
    guard let lane else {
      return try await entries("true ORDER BY number DESC LIMIT $1", [Self.limit(limit)])
    }
    try checkLane(lane, while: .reading)
    return try await entries("lane = $2 ORDER BY number DESC LIMIT $1", [Self.limit(limit), .string(lane)])
  }

  public func counts(lane: String?) async throws(LedgerError) -> [Ledger.State: Int] {
    if let lane { try checkLane(lane, while: .reading) }
    return try await read(isLong: true) { session in
      var counts = Dictionary(uniqueKeysWithValues: Ledger.State.allCases.map { ($0, 0) })
      let rows = try session.rows(
        lane == nil ? Self.countAll : Self.countLane, lane.map { [.string($0)] } ?? [])
      for row in rows { counts[try row.name("state")] = try row.value("count") }
      return counts
    }
  }

  static let countAll = "SELECT state, count(*) AS count FROM announcements GROUP BY state"
  static let countLane = "SELECT state, count(*) AS count FROM announcements WHERE lane = $1 GROUP BY state"

  /// Returns the parameter for the largest number of rows; see ``Ledger/limit(_:most:)``.
  static func limit(_ wanted: Int, most: Int = 1000) -> PostgreSQLValue {
    .int64(Int64(Ledger.limit(wanted, most: most)))
  }

  private func entries(_ condition: String, _ values: [PostgreSQLValue]) async throws(LedgerError) -> [Ledger.Entry] {
    try await readTogether { session in try Self.entries(condition, values, in: session) }
  }

  /// - Parameter condition: The text after `WHERE`. Each place in the program always passes the same text, so that the
  ///   statement stays prepared.
  static func entries(
    _ condition: String, _ values: [PostgreSQLValue], in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.Entry] {
    try entries(session.rows("SELECT * FROM announcements WHERE \(condition)", values), in: session)
  }

  /// Returns the entries with the given ids.
  static func entries(
    of keys: [AnnouncementKey], in session: borrowing PostgreSQLSession
  ) throws -> [AnnouncementKey: Ledger.Entry] {
    let entries = try entries(session.rows(entriesWithKeys, keys.parameters), in: session)
    return Dictionary(entries.map { (AnnouncementKey($0.account, $0.id), $0) }) { first, _ in first }
  }

  static let entriesWithKeys = """
    SELECT announcements.* FROM unnest($1::text[], $2::text[]) AS wanted (account, id)
      JOIN announcements ON announcements.account = wanted.account AND announcements.id = wanted.id
    """

  private static func entries(
    _ rows: PostgreSQLRows, in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.Entry] {
    var entries = try rows.map(Ledger.Entry.init(row:))
    let decisions = try decisions(entries.map { AnnouncementKey($0.account, $0.id) }, in: session)
    for place in entries.indices {
      entries[place].announcement.decision = decisions[AnnouncementKey(entries[place].account, entries[place].id)]
    }
    return entries
  }
}
