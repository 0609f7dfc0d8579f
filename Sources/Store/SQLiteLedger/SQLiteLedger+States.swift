// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger
import WebhookMessages

extension SQLiteLedger {
  @discardableResult
  public func set(_ number: Int64, _ state: Ledger.State, _ change: Ledger.Change) async throws(LedgerError) -> Bool {
    try refuse(change.brokenRule, while: .changing)
    return try await write(while: .changing) { [self] database in
      try set(number, state, change, in: database)
    }
  }

  /// - Parameter isRecovery: Whether the process ended during the work, and the change is made after its restart. Such
  ///   work did not end by itself, so its starts still count.
  func set(
    _ number: Int64, _ state: Ledger.State, _ change: Ledger.Change, isRecovery: Bool = false, in database: Database
  ) throws -> Bool {
    let before = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT state, lane, account, id FROM announcements WHERE number = ?"),
      arguments: [number])
    guard let before else { throw error(.notFound, while: .changing) }
    let from: Ledger.State = try before.name("state")
    let lane: String = try before.value("lane")
    if from == state { return false }

    let at = timeStamp
    // The statement itself checks the rule, so that an error in the checks above cannot break it.
    let legal = state.predecessors.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    let keptStarts =
      switch state.keptStarts(after: from, isRecovery: isRecovery) {
      case .all: "starts"
      case .allButOne: "max(0, starts - 1)"
      case .none: "0"
      }
    try database.cachedStatement(
      sql: """
        UPDATE announcements SET
          state = ?, detail = ?, clip = coalesce(?, clip), heard = coalesce(?, heard), changed_at = ?,
          finished_at = ?, attempts = attempts + ?, starts = \(keptStarts) + ?
        WHERE number = ? AND state IN (\(legal)) AND (? <> 'playing' OR summarised_by IS NULL)
        """
    ).execute(arguments: [
      state.rawValue, try Ledger.json(change.detail), change.clip, change.heardMilliseconds, at,
      state.isFinal ? at : nil, state == .playing ? 1 : 0, state.isStart, number, state.rawValue,
    ])
    guard database.changesCount == 1 else {
      throw error(.illegalTransition, while: .changing, field: nil, from: from, to: state)
    }
    if let decision = change.decision {
      try Self.store(
        decision, account: try before.value("account"), id: try before.value("id"), at: at, in: database)
    }
    try Self.append(
      Ledger.Event.Kind(from: from, to: state), number, lane: lane, detail: change.detail, at: at, in: database)
    if state.isFinal {
      try tell(
        WebhookEvent(endOf: try before.value("id"), as: state, change.detail, at: at),
        of: try before.value("account"), in: database)
      try settleMembers(
        of: number, as: state, ends: state == .played || change.endsMembers, change.detail, at: at, in: database)
    }
    if state == .quiet, change.awaitsSummary { try Self.awaitSummary(number, in: database) }
    if let sequence = change.passing { try Self.pass(sequence, lane: lane, in: database) }
    return true
  }

  /// Ends the members of a summary that has ended, or releases the members from the summary.
  private func settleMembers(
    of summary: Int64, as state: Ledger.State, ends: Bool, _ detail: [String: String], at: Int64, in database: Database
  ) throws {
    let members = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT number, lane, account, id FROM announcements
          WHERE summarised_by = ? AND finished_at IS NULL ORDER BY number
          """),
      arguments: [summary])
    guard !members.isEmpty else { return }
    let update = try database.cachedStatement(
      sql: ends
        ? "UPDATE announcements SET state = '\(state.rawValue)', detail = NULL, changed_at = ?, finished_at = ? WHERE number = ?"
        : "UPDATE announcements SET summarised_by = NULL, changed_at = max(?, ?) WHERE number = ?")
    for member in members {
      let number: Int64 = try member.value("number")
      let detail = detail.merging(["by": String(summary)]) { $1 }
      try update.execute(arguments: [at, at, number])
      try Self.append(
        ends ? Ledger.Event.Kind(state) : .released, number, lane: try member.value("lane"), detail: detail, at: at,
        in: database)
      guard ends else { continue }
      try tell(
        WebhookEvent(endOf: try member.value("id"), as: state, detail, at: at),
        of: try member.value("account"), in: database)
    }
  }

  @discardableResult
  public func recover(lane: String) async throws(LedgerError) -> Int {
    try checkLane(lane, while: .changing)
    return try await write(while: .changing) { [self] database in
      let rows = try Row.fetchAll(
        database,
        sql: """
          SELECT number, state, clip IS NOT NULL AS ready FROM announcements
          WHERE lane = ? AND finished_at IS NULL AND state IN ('playing', 'rendering') ORDER BY number
          """, arguments: [lane])
      var interrupted = 0
      for row in rows {
        let state: Ledger.State = try row.name("state")
        if state == .playing { interrupted += 1 }
        _ = try set(
          try row.value("number"), state.afterRestart(hasClip: try row.value("ready")), .restart, isRecovery: true,
          in: database)
      }
      return interrupted
    }
  }

  // MARK: - Sequence numbers

  public func lastPassedSequence(lane: String) async throws(LedgerError) -> Int64? {
    try checkLane(lane, while: .reading)
    return try await read { database in
      try Int64.fetchOne(database, sql: "SELECT last_passed FROM lanes WHERE lane = ?", arguments: [lane])
    }
  }

  static func pass(_ sequence: Int64, lane: String, in database: Database) throws {
    try database.cachedStatement(
      sql: """
        INSERT INTO lanes (lane, last_passed) VALUES (?, ?)
        ON CONFLICT (lane) DO UPDATE SET last_passed = max(coalesce(last_passed, excluded.last_passed),
                                                           excluded.last_passed)
        """
    ).execute(arguments: [lane, sequence])
  }
}
