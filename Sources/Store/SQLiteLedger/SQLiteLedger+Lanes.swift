// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  /// The condition for the requests of accounts that have not ended. An index has the same condition. Sound files and
  /// replays are left out, because they belong to the lane on which somebody asked for them. Summaries are left out,
  /// because they are made again from their payments.
  static let unfinishedRequests = "finished_at IS NULL AND kind = 'request' AND NOT replay AND account <> ''"

  public func waitingLanes() async throws(LedgerError) -> [Ledger.WaitingLane] {
    let rows: [(lane: String, count: Int)] = try await read { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT lane, count(*) AS count FROM announcements WHERE \(Self.unfinishedRequests) GROUP BY lane ORDER BY lane
          """)
      return try statement.all { (try $0.value("lane"), try $0.value("count")) }
    }
    return try rows.map { lane, count throws(LedgerError) in
      Ledger.WaitingLane(lane: lane, count: count, isPlayed: try player(lane: lane).isRunning)
    }
  }

  public func lanesToTakeOver() async throws(LedgerError) -> [String] {
    try await read {
      try String.fetchAll(
        $0, sql: "SELECT DISTINCT lane FROM announcements WHERE finished_at IS NULL ORDER BY lane")
    }
  }

  @discardableResult
  public func moveRequests(from source: String, to target: String) async throws(LedgerError) -> Int {
    try checkLane(source, while: .changing)
    try checkLane(target, while: .changing)
    guard source != target else { return 0 }
    return try await write(while: .changing) { [self] database in
      // After the move, a summary would include payments of another lane.
      let summaries = try Int64.fetchAll(
        database,
        sql: """
          SELECT number FROM announcements
          WHERE lane = ? AND finished_at IS NULL AND kind = 'summary' AND category = 'payment' AND NOT replay
          """, arguments: [source])
      for number in summaries {
        _ = try set(number, .cancelled, .restart, in: database)
      }
      // A replay that expired on a lane without a player would otherwise keep its original from being removed.
      let expired = try Int64.fetchAll(
        database,
        sql: "SELECT number FROM announcements WHERE lane = ? AND finished_at IS NULL AND replay AND expires_at <= ?",
        arguments: [source, timeStamp])
      for number in expired { _ = try set(number, .expired, Ledger.Change(), in: database) }
      let numbers = try Int64.fetchAll(
        database,
        sql: """
          SELECT number FROM announcements WHERE lane = ? AND \(Self.unfinishedRequests)
          UNION SELECT number FROM announcements
          WHERE lane = ? AND finished_at IS NULL AND kind = 'summary' AND category = 'alert' AND NOT replay
          ORDER BY number
          """, arguments: [source, source])
      guard !numbers.isEmpty else { return 0 }
      // A pause of the source applies to the target too, so that announcements which waited because of it keep waiting.
      try database.execute(sql: "UPDATE OR IGNORE pauses SET lane = ? WHERE lane = ?", arguments: [target, source])
      let at = timeStamp
      let update = try database.makeStatement(
        sql: "UPDATE announcements SET lane = ?, state = 'accepted', changed_at = ? WHERE number = ?")
      for number in numbers {
        try update.execute(arguments: [target, at, number])
        try Self.append(.moved, number, lane: target, detail: ["from": source], at: at, in: database)
      }
      // If the target has no sequence number yet, it continues with the source's last number. It then does not wait for
      // numbers that were already played or skipped on the source.
      try database.execute(
        sql: """
          INSERT INTO lanes (lane, last_passed) SELECT ?, last_passed FROM lanes WHERE lane = ?
          ON CONFLICT (lane) DO UPDATE SET last_passed = coalesce(last_passed, excluded.last_passed)
          """, arguments: [target, source])
      return numbers.count
    }
  }

  public func cancelUnplayed(_ number: Int64) async throws(LedgerError) -> Bool {
    guard let entry = try await entry(number), !entry.state.isFinal else { return false }
    // While the seat is held, no player can begin the announcement.
    let seat = try takeSeat(lane: entry.lane)
    defer { withExtendedLifetime(seat) {} }
    // A player may have moved the announcement to its own lane before this call took the seat.
    guard try await self.entry(number)?.lane == entry.lane else { throw error(.laneTaken, while: .changing) }
    do throws(LedgerError) {
      return try await set(number, .cancelled)
    } catch {
      if error.code == .illegalTransition || error.code == .notFound { return false }
      throw error
    }
  }
}
