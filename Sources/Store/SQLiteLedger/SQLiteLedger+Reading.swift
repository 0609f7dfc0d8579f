// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func unfinished(lane: String, after number: Int64, limit: Int) async throws(LedgerError) -> [Ledger.Entry] {
    try checkLane(lane, while: .reading)
    return try await entries(
      "lane = ? AND finished_at IS NULL AND number > ? ORDER BY number LIMIT ?", [lane, number, Ledger.limit(limit)])
  }

  public func unfinishedAlone(lane: String, limit: Int) async throws(LedgerError) -> [Ledger.Entry] {
    try checkLane(lane, while: .reading)
    return try await entries("\(Self.unfinishedAlone) ORDER BY number LIMIT ?", [lane, Ledger.limit(limit)])
  }

  public func unfinishedAloneCount(lane: String) async throws(LedgerError) -> Int {
    try checkLane(lane, while: .reading)
    return try await read { database in
      try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM announcements WHERE \(Self.unfinishedAlone)"),
        arguments: [lane]) ?? 0
    }
  }

  private static let unfinishedAlone = "lane = ? AND finished_at IS NULL AND summarised_by IS NULL"

  public func entry(account: String, id: String) async throws(LedgerError) -> Ledger.Entry? {
    if account.hasZero || id.hasZero { return nil }
    return try await entries("account = ? AND id = ?", [account, id]).first
  }

  public func entry(_ number: Int64) async throws(LedgerError) -> Ledger.Entry? {
    try await entries("number = ?", [number]).first
  }

  public func members(ofSummary number: Int64) async throws(LedgerError) -> [Ledger.Entry] {
    try await entries("summarised_by = ? ORDER BY number", [number])
  }

  public func recent(_ limit: Int, lane: String?) async throws(LedgerError) -> [Ledger.Entry] {
    let limit = Ledger.limit(limit)
    guard let lane else { return try await entries("1 ORDER BY number DESC LIMIT ?", [limit]) }
    try checkLane(lane, while: .reading)
    return try await entries("lane = ? ORDER BY number DESC LIMIT ?", [lane, limit])
  }

  public func counts(lane: String?) async throws(LedgerError) -> [Ledger.State: Int] {
    if let lane { try checkLane(lane, while: .reading) }
    return try await read(isLong: true) { database in
      let rows = try Row.fetchAll(
        database,
        sql: lane == nil
          ? "SELECT state, count(*) AS count FROM announcements GROUP BY state"
          : "SELECT state, count(*) AS count FROM announcements WHERE lane = ? GROUP BY state",
        arguments: lane.map { [$0] } ?? [])
      var counts = Dictionary(uniqueKeysWithValues: Ledger.State.allCases.map { ($0, 0) })
      for row in rows { counts[try row.name("state")] = try row.value("count") as Int }
      return counts
    }
  }

  private func entries(
    _ condition: String, _ arguments: StatementArguments
  ) async throws(LedgerError) -> [Ledger.Entry] {
    try await read { try Self.entries(condition, arguments, in: $0) }
  }

  static func entries(
    _ condition: String, _ arguments: StatementArguments, in database: Database
  ) throws -> [Ledger.Entry] {
    var entries = try database.cachedStatement(sql: "SELECT * FROM announcements WHERE \(condition)")
      .all(arguments, Ledger.Entry.init(row:))
    for (account, places) in Dictionary(grouping: entries.indices, by: { entries[$0].account.bytes }) {
      let account = String(decoding: account, as: UTF8.self)
      let decisions = try decisions(account: account, ids: places.map { entries[$0].id }, in: database)
      for place in places { entries[place].announcement.decision = decisions[entries[place].id.bytes] }
    }
    return entries
  }
}
