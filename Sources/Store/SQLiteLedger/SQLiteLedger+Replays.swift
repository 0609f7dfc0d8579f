// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public func accept(
    _ new: StoredAnnouncement, again original: Int64, for requester: String?
  ) async throws(LedgerError) -> Ledger.Acceptance {
    try refuse(new.brokenRule, while: .accepting)
    return try await write(while: .accepting, cost: new.cost) { [self] database in
      let waiting = try Self.unfinishedReplays(lane: new.lane, in: database)
      if Ledger.Replay.areTooMany(waiting, for: requester) { throw error(.tooManyReplays, while: .accepting) }
      let isThere = try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM announcements WHERE number = ?)"),
        arguments: [original])
      guard isThere == true else { throw error(.notFound, while: .accepting) }
      let acceptance = try accept(new, in: database)
      guard !acceptance.isDuplicate else { return acceptance }
      let first = try Self.replay(original, in: database)?.original ?? original
      try database.execute(
        sql: "INSERT INTO replays (number, original, requester) VALUES (?, ?, ?)",
        arguments: [acceptance.number, first, requester])
      return acceptance
    }
  }

  public func replay(_ number: Int64) async throws(LedgerError) -> Ledger.Replay? {
    try await read { try Self.replay(number, in: $0) }
  }

  public func unfinishedReplays(lane: String) async throws(LedgerError) -> [Ledger.Replay] {
    try checkLane(lane, while: .reading)
    return try await read { try Self.unfinishedReplays(lane: lane, in: $0) }
  }

  private static func replay(_ number: Int64, in database: Database) throws -> Ledger.Replay? {
    try database.cachedStatement(sql: "SELECT * FROM replays WHERE number = ?").first(
      [number], Ledger.Replay.init(row:))
  }

  private static func unfinishedReplays(lane: String, in database: Database) throws -> [Ledger.Replay] {
    try database.cachedStatement(
      sql: """
        SELECT replays.* FROM announcements JOIN replays USING (number)
        WHERE lane = ? AND finished_at IS NULL ORDER BY number
        """
    ).all([lane], Ledger.Replay.init(row:))
  }
}
