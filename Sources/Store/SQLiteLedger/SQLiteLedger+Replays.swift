// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Ledger {
  /// A replay of an announcement: an entry of its own, in addition to the original's.
  public struct Replay: Sendable, Hashable {
    /// The number of the replay's own entry.
    public let number: Int64
    /// The number of the original announcement; nil when it was pruned.
    public let original: Int64?
    /// The account that requested the replay; nil for a person at the machine.
    public let requester: String?
  }

  /// The maximum number of replays requested by one account that may wait on a lane.
  public static let maximumReplaysOfAccount = 3
  /// The maximum number of replays that may wait on a lane.
  public static let maximumReplays = 10

  /// Accepts a replay. It is durable when the call returns.
  ///
  /// - Parameters:
  ///   - original: The number of the announcement to play again. If that announcement is itself a replay, its original
  ///     is used.
  ///   - requester: The account that requests the replay; nil for a person at the machine, for whom only the lane's
  ///     limit counts.
  /// - Throws: ``LedgerError`` as ``accept(_:standingFor:)`` does; with `tooManyReplays` when a limit of unfinished
  ///   replays is reached; and with `notFound` when the announcement no longer exists. Nothing was accepted then.
  public func accept(
    _ new: StoredAnnouncement, again original: Int64, for requester: String?
  ) async throws(LedgerError) -> Acceptance {
    try refuse(new.brokenRule, while: .accepting)
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

  /// Returns the original and the requester of a replay; nil when the announcement is not a replay.
  public func replay(_ number: Int64) async throws(LedgerError) -> Replay? {
    try await read { try Self.replay(number, in: $0) }
  }

  /// Returns the unfinished replays of a lane, oldest first.
  public func unfinishedReplays(lane: String) async throws(LedgerError) -> [Replay] {
    try checkLane(lane, while: .reading)
    return try await read { try Self.unfinishedReplays(lane: lane, in: $0) }
  }

  private static func replay(_ number: Int64, in database: Database) throws -> Replay? {
    try database.cachedStatement(sql: "SELECT * FROM replays WHERE number = ?").first([number], Replay.init(row:))
  }

  private static func unfinishedReplays(lane: String, in database: Database) throws -> [Replay] {
    try database.cachedStatement(
      sql: """
        SELECT replays.* FROM announcements JOIN replays USING (number)
        WHERE lane = ? AND finished_at IS NULL ORDER BY number
        """
    ).all([lane], Replay.init(row:))
  }
}

extension Ledger.Replay {
  fileprivate init(row: Row) throws {
    number = try row.value("number")
    original = try row.optional("original")
    requester = try row.optional("requester")
  }
}
