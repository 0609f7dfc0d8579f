// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL
import WebhookMessages

extension PostgreSQLLedger {
  @discardableResult
  public func set(
    _ number: Int64, _ state: Ledger.State, _ change: Ledger.Change
  ) async throws(LedgerError) -> Bool {
    try refuse(change.brokenRule, while: .changing)
    return try await write(while: .changing) { [self] session in
      var end = End()
      let isChanged = try set(number, state, change, ending: &end, in: session)
      try tell(end, in: session)
      return isChanged
    }
  }

  /// The announcements that ended in a transaction, for the messages about them. The messages are stored together at the
  /// end of the transaction, because endpoints are locked last.
  struct End {
    fileprivate var events: [(account: String, event: WebhookEvent)] = []
  }

  func tell(_ end: End, in session: borrowing PostgreSQLSession) throws {
    if !end.events.isEmpty { try tell(end.events, in: session) }
  }

  /// - Parameters:
  ///   - isRecovery: Whether the process ended during the work, and the change is made after its restart. Such work did
  ///     not end by itself, so its starts still count.
  ///   - end: Receives the messages to be stored.
  func set(
    _ number: Int64, _ state: Ledger.State, _ change: Ledger.Change, isRecovery: Bool = false, ending end: inout End,
    in session: borrowing PostgreSQLSession
  ) throws -> Bool {
    if change.passing != nil {
      // Lanes are locked before announcements.
      let lane: String? = try session.value(Self.laneOfAnnouncement, [.int64(number)])
      if let lane { try Self.lock(lanes: [lane], in: session) }
    }
    // The lock keeps the state, and lets rows that refer to the announcement be stored meanwhile.
    guard let before = try session.rows(Self.lockingState, [.int64(number)]).first else {
      throw error(.notFound, while: .changing)
    }
    let from: Ledger.State = try before.name("state")
    let lane: String = try before.read("lane")
    let (account, id): (String, String) = (try before.read("account"), try before.read("id"))
    if from == state { return false }

    let at = timeStamp
    let changed = try session.execute(
      Self.changing,
      [
        .int64(number), .string(state.rawValue), .string(try Ledger.json(change.detail)), .string(change.clip),
        .int64(change.heardMilliseconds.map(Int64.init)), .int64(at), .int64(state.isFinal ? at : nil),
        .int64(state == .playing ? 1 : 0),
        .string(state.keptStarts(after: from, isRecovery: isRecovery).name), .int64(state.isStart ? 1 : 0),
        .strings(state.predecessors.map(\.rawValue)),
      ])
    guard changed == 1 else {
      throw error(.illegalTransition, while: .changing, field: nil, from: from, to: state)
    }
    let ends = state == .played || change.endsMembers
    let members = state.isFinal ? try settleMembers(of: number, as: state, ends: ends, at: at, in: session) : []
    if state == .quiet, change.awaitsSummary { try Self.awaitSummary(number, in: session) }
    if let decision = change.decision {
      _ = try session.pipeline { Self.store([(AnnouncementKey(account, id), decision)], at: at, &$0) }
    }

    let memberDetail = change.detail.merging(["by": String(number)]) { $1 }
    let events = members.map { member in
      NewEvent(
        kind: ends ? Ledger.Event.Kind(state) : .released, number: member.number, lane: member.lane,
        detail: memberDetail)
    }
    try Self.append(
      [NewEvent(kind: Ledger.Event.Kind(from: from, to: state), number: number, lane: lane, detail: change.detail)]
        + events, at: at, in: session)
    if let sequence = change.passing { try Self.pass(sequence, lane: lane, in: session) }
    end.add(state, of: id, account: account, change.detail, at: at)
    if ends { for member in members { end.add(state, of: member.id, account: member.account, memberDetail, at: at) } }
    return true
  }

  /// The condition for an announcement that has not ended, in statements that find it by a number or by its summary.
  ///
  /// `finished_at IS NULL` means the same, but is also the condition of an index. While nearly everything has ended,
  /// PostgreSQL expects to find nothing in this index, reads it as a whole, and keeps this plan when much is waiting.
  static let isUnfinished = "announcements.state IN ('accepted', 'rendering', 'waiting', 'playing')"

  static let laneOfAnnouncement = "SELECT lane AS value FROM announcements WHERE number = $1"

  static let lockingState = "SELECT state, lane, account, id FROM announcements WHERE number = $1 FOR NO KEY UPDATE"

  // The statement itself checks the rule, so that an error in the checks above cannot break it.
  static let changing = """
    UPDATE announcements SET
      state = $2, detail = $3, clip = coalesce($4, clip), heard = coalesce($5, heard), changed_at = $6,
      finished_at = $7, attempts = attempts + $8,
      starts = CASE $9 WHEN 'all' THEN starts WHEN 'allButOne' THEN greatest(0, starts - 1) ELSE 0 END + $10
    WHERE number = $1 AND state = ANY ($11::text[]) AND ($2 <> 'playing' OR summarised_by IS NULL)
    """

  private struct Member {
    var number: Int64
    var lane: String
    var account: String
    var id: String
  }

  /// Ends the members of a summary that has ended, or releases the members from the summary.
  private func settleMembers(
    of summary: Int64, as state: Ledger.State, ends: Bool, at: Int64, in session: borrowing PostgreSQLSession
  ) throws -> [Member] {
    let members = try session.all(Self.lockingMembers, [.int64(summary)]) { row in
      Member(
        number: try row.read("number"), lane: try row.read("lane"), account: try row.read("account"),
        id: try row.read("id"))
    }
    guard !members.isEmpty else { return [] }
    let numbers = PostgreSQLValue.int64s(members.map(\.number))
    if ends {
      try session.execute(Self.endingMembers, [numbers, .string(state.rawValue), .int64(at)])
    } else {
      try session.execute(Self.releasingMembers, [numbers, .int64(at)])
    }
    return members
  }

  static let lockingMembers = """
    SELECT number, lane, account, id FROM announcements
    WHERE summarised_by = $1 AND \(isUnfinished) ORDER BY number FOR NO KEY UPDATE
    """
  static let endingMembers = """
    UPDATE announcements SET state = $2, detail = NULL, changed_at = $3, finished_at = $3
    WHERE number = ANY ($1::bigint[])
    """
  static let releasingMembers = """
    UPDATE announcements SET summarised_by = NULL, changed_at = $2 WHERE number = ANY ($1::bigint[])
    """

  @discardableResult
  public func recover(lane: String) async throws(LedgerError) -> Int {
    try checkLane(lane, while: .changing)
    return try await write(while: .changing) { [self] session in
      let rows = try session.rows(Self.interruptedWork, [.string(lane)])
      var (interrupted, end) = (0, End())
      for row in rows {
        let state: Ledger.State = try row.name("state")
        if state == .playing { interrupted += 1 }
        _ = try set(
          try row.read("number"), state.afterRestart(hasClip: try row.value("ready")), .restart, isRecovery: true,
          ending: &end, in: session)
      }
      try tell(end, in: session)
      return interrupted
    }
  }

  static let interruptedWork = """
    SELECT number, state, clip IS NOT NULL AS ready FROM announcements
    WHERE lane = $1 AND finished_at IS NULL AND state IN ('playing', 'rendering') ORDER BY number FOR NO KEY UPDATE
    """

  // MARK: - Sequence numbers

  public func lastPassedSequence(lane: String) async throws(LedgerError) -> Int64? {
    try checkLane(lane, while: .reading)
    return try await read { session in
      try session.value("SELECT last_passed AS value FROM lanes WHERE lane = $1", [.string(lane)])
    }
  }

  static func pass(_ sequence: Int64, lane: String, in session: borrowing PostgreSQLSession) throws {
    try session.execute(passing, [.string(lane), .int64(sequence)])
  }

  // `greatest` ignores NULL.
  static let passing = """
    INSERT INTO lanes (lane, last_passed) VALUES ($1, $2)
    ON CONFLICT (lane) DO UPDATE SET last_passed = greatest(lanes.last_passed, excluded.last_passed)
    """
}

extension PostgreSQLLedger.End {
  /// Stores the message about the end of an announcement, if its account gets one.
  fileprivate mutating func add(
    _ state: Ledger.State, of id: String, account: String, _ detail: [String: String], at: Int64
  ) {
    if let event = WebhookEvent(endOf: id, as: state, detail, at: at) { events.append((account, event)) }
  }
}

extension Ledger.State.KeptStarts {
  /// The name in the statement that changes a state.
  fileprivate var name: String {
    switch self {
    case .all: "all"
    case .allButOne: "allButOne"
    case .none: "none"
    }
  }
}
