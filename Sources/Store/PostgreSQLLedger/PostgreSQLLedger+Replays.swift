// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func accept(
    _ new: StoredAnnouncement, again original: Int64, for requester: String?
  ) async throws(LedgerError) -> Ledger.Acceptance {
    try refuse(new.brokenRule, while: .accepting)
    return try await write(while: .accepting, cost: new.cost) { [self] session in
      // While the lane is locked, no other replay of it is accepted, so the counts stay what they are.
      try Self.lock(lanes: [new.lane], in: session)
      let waiting = try Self.unfinishedReplays(lane: new.lane, in: session)
      // A caller that does not know the outcome of its call makes it again, and is not refused because of its own replay.
      if Ledger.Replay.areTooMany(waiting, for: requester),
        try !Self.isStored(AnnouncementKey(new.account, new.id), in: session)
      {
        throw error(.tooManyReplays, while: .accepting)
      }
      // The locks keep both announcements from being removed until the replay refers to one of them.
      let first = try Self.replay(original, in: session)?.original ?? original
      let present = try session.all(Self.keepingOriginals, [.int64s([original, first])]) {
        try $0.read("number", as: Int64.self)
      }
      guard present.contains(original) else { throw error(.notFound, while: .accepting) }
      let acceptance = try accept(new, in: session)
      guard !acceptance.isDuplicate else { return acceptance }
      try session.execute(
        Self.insertingReplay,
        [.int64(acceptance.number), .int64(present.contains(first) ? first : original), .string(requester)])
      return acceptance
    }
  }

  static let keepingOriginals = """
    SELECT number FROM announcements WHERE number = ANY ($1::bigint[]) ORDER BY number FOR KEY SHARE
    """
  static let insertingReplay = "INSERT INTO replays (number, original, requester) VALUES ($1, $2, $3)"

  private static func isStored(_ key: AnnouncementKey, in session: borrowing PostgreSQLSession) throws -> Bool {
    try session.value(storedAlready, [.string(key.account), .string(key.id)]) ?? false
  }

  static let storedAlready = """
    SELECT EXISTS (SELECT 1 FROM announcements WHERE account = $1 AND id = $2) AS value
    """

  public func replay(_ number: Int64) async throws(LedgerError) -> Ledger.Replay? {
    try await read { session in try Self.replay(number, in: session) }
  }

  public func unfinishedReplays(lane: String) async throws(LedgerError) -> [Ledger.Replay] {
    try checkLane(lane, while: .reading)
    return try await read { session in try Self.unfinishedReplays(lane: lane, in: session) }
  }

  private static func replay(_ number: Int64, in session: borrowing PostgreSQLSession) throws -> Ledger.Replay? {
    try session.first(
      "SELECT number, original, requester FROM replays WHERE number = $1", [.int64(number)], Ledger.Replay.init(row:))
  }

  private static func unfinishedReplays(
    lane: String, in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.Replay] {
    try session.all(unfinishedOfLane, [.string(lane)], Ledger.Replay.init(row:))
  }

  static let unfinishedOfLane = """
    SELECT replays.* FROM announcements JOIN replays ON replays.number = announcements.number
    WHERE announcements.lane = $1 AND announcements.finished_at IS NULL ORDER BY announcements.number
    """
}
