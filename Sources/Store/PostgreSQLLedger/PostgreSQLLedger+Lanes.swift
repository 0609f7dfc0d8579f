// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  /// The condition for the requests of accounts that have not ended. An index has the same condition. Sound files and
  /// replays are left out, because they belong to the lane on which somebody asked for them. Summaries are left out,
  /// because they are made again from their payments.
  static let unfinishedRequests = "finished_at IS NULL AND kind = 'request' AND NOT replay AND account <> ''"

  public func waitingLanes() async throws(LedgerError) -> [Ledger.WaitingLane] {
    try await read { [leaseLength] session in
      try session.all(Self.lanesWithRequests, [leaseLength]) { row in
        let isPlayed: Bool? = try row.read("held")
        return Ledger.WaitingLane(lane: try row.read("lane"), count: try row.value("count"), isPlayed: isPlayed == true)
      }
    }
  }

  static let lanesWithRequests = """
    SELECT lane, count(*) AS count,
      (SELECT NOT \(Schema.isFree("$1")) FROM leases WHERE name = 'lane:' || lane) AS held
    FROM announcements WHERE \(unfinishedRequests) GROUP BY lane ORDER BY lane
    """

  @discardableResult
  public func moveRequests(from source: String, to target: String) async throws(LedgerError) -> Int {
    try checkLane(source, while: .changing)
    try checkLane(target, while: .changing)
    guard source != target else { return 0 }
    return try await write(while: .changing) { [self] session in
      try Self.lock(lanes: [source, target], in: session)
      var end = End()
      // After the move, a summary would include payments of another lane.
      for row in try session.rows(Self.summariesOfPayments, [.string(source)]) {
        _ = try set(try row.read("number"), .cancelled, .restart, ending: &end, in: session)
      }
      // A replay that expired on a lane without a player would otherwise keep its original from being removed.
      for row in try session.rows(Self.expiredReplays, [.string(source), .int64(timeStamp)]) {
        _ = try set(try row.read("number"), .expired, Ledger.Change(), ending: &end, in: session)
      }
      let numbers = try session.all(Self.movableRequests, [.string(source)]) { try $0.read("number", as: Int64.self) }
      if !numbers.isEmpty { try move(numbers, from: source, to: target, in: session) }
      try tell(end, in: session)
      return numbers.count
    }
  }

  private func move(
    _ numbers: [Int64], from source: String, to target: String, in session: borrowing PostgreSQLSession
  ) throws {
    let at = timeStamp
    let lanes: [PostgreSQLValue] = [.string(target), .string(source)]
    let events = numbers.map { NewEvent(kind: .moved, number: $0, lane: target, detail: ["from": source]) }
    let values = try Self.values(of: events, at: at)
    _ = try session.pipeline { pipeline in
      pipeline.add(Self.moving, [.string(target), .int64(at), .int64s(numbers)])
      // A pause of the source applies to the target too, so that announcements which waited because of it keep waiting.
      pipeline.add(Self.movingPause, lanes)
      // If the target has no sequence number yet, it continues with the source's last number. It then does not wait for
      // numbers that were already played or skipped on the source.
      pipeline.add(Self.movingSequence, lanes)
      pipeline.add(Self.appending, values)
    }
  }

  static let summariesOfPayments = """
    SELECT number FROM announcements
    WHERE lane = $1 AND finished_at IS NULL AND kind = 'summary' AND category = 'payment' AND NOT replay
    ORDER BY number
    """
  static let expiredReplays = """
    SELECT number FROM announcements WHERE lane = $1 AND finished_at IS NULL AND replay AND expires_at <= $2
    ORDER BY number
    """
  static let movableRequests = """
    SELECT number FROM announcements
    WHERE lane = $1 AND finished_at IS NULL AND NOT replay
      AND (kind = 'request' AND account <> '' OR kind = 'summary' AND category = 'alert')
    ORDER BY number FOR NO KEY UPDATE
    """
  static let moving = """
    UPDATE announcements SET lane = $1, state = 'accepted', changed_at = $2 WHERE number = ANY ($3::bigint[])
    """
  // Pauses change only while the lane is locked, so no other pause of the target can appear.
  static let movingPause = """
    UPDATE pauses SET lane = $1
    WHERE lane = $2 AND NOT EXISTS (SELECT 1 FROM pauses AS present WHERE present.lane = $1)
    """
  static let movingSequence = """
    UPDATE lanes SET last_passed = coalesce(lanes.last_passed, source.last_passed)
    FROM lanes AS source WHERE lanes.lane = $1 AND source.lane = $2
    """

  public func cancelUnplayed(_ number: Int64) async throws(LedgerError) -> Bool {
    guard let entry = try await entry(number), !entry.state.isFinal else { return false }
    return try await write(while: .changing) { [self] session in
      try lockUnplayed(entry.lane, while: .changing, in: session)
      // A player may have moved the announcement to its own lane before this transaction locked the former one.
      let lane: String? = try session.value(Self.laneOfAnnouncement, [.int64(number)])
      guard lane == entry.lane else { throw error(.laneTaken, while: .changing) }
      var end = End()
      do {
        guard try set(number, .cancelled, Ledger.Change(), ending: &end, in: session) else { return false }
      } catch let error as LedgerError where error.code == .illegalTransition || error.code == .notFound {
        return false
      }
      try tell(end, in: session)
      return true
    }
  }
}
