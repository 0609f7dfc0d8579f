// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Ledger {
  /// An announcement that is played once more: an entry of its own, beside the original's.
  public struct Replay: Sendable, Hashable {
    /// Its own number.
    public let number: Int64
    /// The number of what it plays again; nil when that was pruned.
    public let original: Int64?
    /// The account that asked for it; nil for somebody at the machine.
    public let requester: String?
  }

  /// So many replays may wait on a lane: those that one account asked for, and all.
  public static let maximumReplaysOfAccount = 3
  public static let maximumReplays = 10

  /// Accepts a replay; durable when it returns.
  ///
  /// - Parameters:
  ///   - original: the number of what is played again. Of a replay it is what that one plays again.
  ///   - requester: the account that asks; nil for somebody at the machine, who has no limit but that of the lane.
  /// - Throws: as ``accept(_:standingFor:)``; ``LedgerError`` with `tooManyReplays` when as many have not ended as may.
  ///   Or with `notFound`, when what is to be played again is no more. Nothing was accepted then.
  public func accept(
    _ new: NewAnnouncement, again original: Int64, for requester: String?
  ) async throws(LedgerError) -> Acceptance {
    if let rule = new.brokenRule {
      throw LedgerError(.invalidValue, while: .accepting, in: file, field: rule)
    }
    return try await write(while: .accepting, cost: 256 + new.payload.count) { [self] database in
      let waiting = try Self.unfinishedReplays(lane: new.lane, in: database)
      let own = requester.map { account in waiting.count { $0.requester == account } } ?? 0
      guard waiting.count < Self.maximumReplays, own < Self.maximumReplaysOfAccount else {
        throw LedgerError(.tooManyReplays, while: .accepting, in: file)
      }
      let isThere = try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM announcements WHERE number = ?)"),
        arguments: [original])
      guard isThere == true else { throw LedgerError(.notFound, while: .accepting, in: file) }
      let acceptance = try accept(new, in: database)
      guard !acceptance.isDuplicate else { return acceptance }
      let first = try Self.replay(original, in: database)?.original ?? original
      try database.execute(
        sql: "INSERT INTO replays (number, original, requester) VALUES (?, ?, ?)",
        arguments: [acceptance.number, first, requester])
      return acceptance
    }
  }

  /// What a replay plays again, and for whom; nil for what is no replay.
  public func replay(_ number: Int64) async throws(LedgerError) -> Replay? {
    try await read { try Self.replay(number, in: $0) }
  }

  /// The replays of a lane that have not ended, oldest first.
  public func unfinishedReplays(lane: String) async throws(LedgerError) -> [Replay] {
    try checkLane(lane, while: .reading)
    return try await read { try Self.unfinishedReplays(lane: lane, in: $0) }
  }

  private static func replay(_ number: Int64, in database: Database) throws -> Replay? {
    try Row.fetchOne(
      database.cachedStatement(sql: "SELECT * FROM replays WHERE number = ?"), arguments: [number]
    ).map(Replay.init(row:))
  }

  private static func unfinishedReplays(lane: String, in database: Database) throws -> [Replay] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT replays.* FROM announcements JOIN replays USING (number)
          WHERE lane = ? AND finished_at IS NULL ORDER BY number
          """), arguments: [lane]
    ).map(Replay.init(row:))
  }
}

extension Ledger.Replay {
  fileprivate init(row: Row) throws {
    number = try row.value("number")
    original = try row.optional("original")
    requester = try row.optional("requester")
  }
}
