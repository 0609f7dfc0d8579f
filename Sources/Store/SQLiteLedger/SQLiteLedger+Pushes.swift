// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger
import PushMessages

extension SQLiteLedger {
  @discardableResult
  public func accept(
    _ pushes: [NewPush], account: String, under seat: DeliverySeat?
  ) async throws(LedgerError) -> [Int64] {
    try check(seat, while: .pushing)
    try refuse(NewPush.brokenRule(ofAccount: account), while: .pushing)
    return try await write(while: .pushing, cost: 5_000 * pushes.count) { [self] database in
      try checkSize(in: database)
      return try insert(pushes, account: account, announcement: nil, in: database)
    }
  }

  func insert(
    _ pushes: [NewPush], account: String, announcement: String?, in database: Database
  ) throws -> [Int64] {
    try pushes.compactMap { push in
      try refuse(push.brokenRule, while: .pushing)
      guard let device = try Self.device(account, push.device, in: database) else { return nil }
      var sequence: Int64?
      if push.kind == .alert {
        try database.cachedStatement(
          sql: "UPDATE devices SET last_sequence = last_sequence + 1 WHERE account = ? AND id = ?"
        ).execute(arguments: [account, push.device])
        sequence = device.lastSequence + 1
      }
      let body = push.body.bytes(sequence: sequence)
      try refuse(NewPush.brokenRule(ofBody: body), while: .pushing)
      try database.cachedStatement(
        sql: """
          INSERT INTO pushes
            (apns_id, account, device, announcement, kind, app, environment, sequence, priority, collapse_id, body,
             clip, state, created_at, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?)
          """
      ).execute(arguments: [
        UUID().uuidString.lowercased(), account, push.device, announcement, push.kind.rawValue, device.app,
        device.environment.rawValue, sequence, push.priority, push.collapseID, body, push.clip, timeStamp,
        push.expiresAt.wholeMilliseconds,
      ])
      return database.lastInsertedRowID
    }
  }

  /// Returns whether an announcement was ever pushed. If it was, another request with its id does not push it again.
  static func isPushed(account: String, announcement: String, in database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: "SELECT EXISTS (SELECT 1 FROM pushes WHERE account = ? AND announcement = ?)"),
      arguments: [account, announcement]) ?? false
  }

  /// Returns which of the announcements were ever pushed.
  static func pushed(_ account: String, _ ids: [String], in database: Database) throws -> Set<String> {
    let statement = try database.cachedStatement(
      sql: """
        SELECT value FROM json_each(?2)
        WHERE EXISTS (SELECT 1 FROM pushes WHERE account = ?1 AND announcement = value)
        """)
    return Set(try statement.all([account, try json(ids)]) { try $0.value("value") })
  }

  public func unfinishedPushes(after number: Int64, limit: Int) async throws(LedgerError) -> [Ledger.UnfinishedPush] {
    try await read(isLong: true) { database in
      try database.cachedStatement(
        sql: """
          SELECT number, account, device, announcement, app, environment, kind, created_at, expires_at, reason,
            state, starts
          FROM pushes WHERE finished_at IS NULL AND number > ? ORDER BY number LIMIT ?
          """
      ).all([number, Ledger.limit(limit, most: 10_000)], Ledger.UnfinishedPush.init(row:))
    }
  }

  public func startSending(
    _ numbers: [Int64], under seat: DeliverySeat?
  ) async throws(LedgerError) -> [(push: Ledger.Push, token: String?)] {
    try check(seat, while: .pushing)
    return try await write(while: .pushing) { database in
      try numbers.compactMap { number in
        try database.cachedStatement(
          sql: """
            UPDATE pushes SET state = 'sending', attempts = attempts + 1, starts = starts + 1
            WHERE number = ? AND finished_at IS NULL
            """
        ).execute(arguments: [number])
        guard database.changesCount == 1 else { return nil }
        guard let push = try Self.push(number, in: database) else { throw UnreadableRow() }
        let token = try Self.device(push.account, push.device, in: database)?.token(for: push)
        if let token, token.kind.rawValue != push.kind.rawValue {
          try database.cachedStatement(sql: "UPDATE pushes SET token_kind = ? WHERE number = ?")
            .execute(arguments: [token.kind.rawValue, number])
        }
        return (push, token?.text)
      }
    }
  }

  @discardableResult
  public func finishPush(
    _ number: Int64, _ state: Ledger.Push.State, reason: String?, under seat: DeliverySeat?
  ) async throws(LedgerError) -> Bool {
    try check(seat, while: .pushing)
    try refuse(Ledger.Push.brokenRule(ofOutcome: state, reason: reason), while: .pushing)
    return try await write(while: .pushing) { [self] database in
      try finishPush(number, state, reason: reason, in: database)
    }
  }

  public func expirePushes(
    _ pushes: [(number: Int64, reason: String?)], under seat: DeliverySeat?
  ) async throws(LedgerError) -> Set<Int64> {
    try check(seat, while: .pushing)
    return try await write(while: .pushing, cost: 256 * pushes.count) { [self] database in
      try pushes.reduce(into: Set()) { ended, push in
        if try finishPush(push.number, .expired, reason: push.reason, in: database) { ended.insert(push.number) }
      }
    }
  }

  private func finishPush(
    _ number: Int64, _ state: Ledger.Push.State, reason: String?, in database: Database
  ) throws -> Bool {
    try database.cachedStatement(
      sql: """
        UPDATE pushes SET state = ?1, reason = CASE ?1 WHEN 'expired' THEN coalesce(?2, reason) ELSE ?2 END,
          finished_at = ?3, starts = 0
        WHERE number = ?4 AND finished_at IS NULL
        """
    ).execute(arguments: [
      state.rawValue, Ledger.Push.stored(reason), timeStamp, number,
    ])
    guard database.changesCount == 1 else { return false }
    try Self.noteOutcome(ofPush: number, in: database)
    try tellEnd(ofPush: number, in: database)
    return true
  }

  public func postponePush(
    _ number: Int64, reason: String?, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try check(seat, while: .pushing)
    try await write(while: .pushing) { database in
      try database.cachedStatement(
        sql: "UPDATE pushes SET state = 'waiting', reason = ?, starts = 0 WHERE number = ? AND finished_at IS NULL"
      ).execute(arguments: [Ledger.Push.stored(reason), number])
    }
  }

  public func pushes(account: String, announcement: String) async throws(LedgerError) -> [Ledger.Push] {
    if account.hasZero || announcement.hasZero { return [] }
    return try await read(isLong: true) { try Self.pushes(account, announcement, in: $0) }
  }

  static func pushes(_ account: String, _ announcement: String, in database: Database) throws -> [Ledger.Push] {
    try database.cachedStatement(
      sql: "SELECT * FROM pushes WHERE account = ? AND announcement = ? ORDER BY number LIMIT 1000"
    ).all([account, announcement], Ledger.Push.init(row:))
  }

  public func pushes(
    account: String, device: String, afterSequence sequence: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.Push] {
    if account.hasZero || device.hasZero { return [] }
    return try await read(isLong: true) { database in
      try database.cachedStatement(
        sql: """
          SELECT * FROM pushes WHERE account = ?1 AND device = ?2 AND sequence > max(?3, (
            SELECT first_sequence FROM devices WHERE account = ?1 AND id = ?2)) ORDER BY sequence LIMIT ?4
          """
      ).all([account, device, sequence, Ledger.limit(limit)], Ledger.Push.init(row:))
    }
  }

  public func pushCounts() async throws(LedgerError) -> [Ledger.Push.State: Int] {
    try await read(isLong: true) { database in
      let rows = try Row.fetchAll(database, sql: "SELECT state, count(*) AS count FROM pushes GROUP BY state")
      return try Dictionary(
        rows.map { (try $0.name("state") as Ledger.Push.State, try $0.value("count") as Int) }, uniquingKeysWith: +)
    }
  }

  private static func push(_ number: Int64, in database: Database) throws -> Ledger.Push? {
    try database.cachedStatement(sql: "SELECT * FROM pushes WHERE number = ?").first([number], Ledger.Push.init(row:))
  }
}
