// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  @discardableResult
  public func createKey(_ new: NewKey, by actor: Ledger.Administrator) async throws(LedgerError) -> Ledger.Key {
    try refuse(new.brokenRule, while: .changingKeys)
    return try await write(while: .changingKeys) { [self] database in
      let key = try insert(new, in: database)
      try record(.keyCreated, by: actor, subject: key.id, in: database)
      return key
    }
  }

  @discardableResult
  func insert(_ new: NewKey, in database: Database) throws -> Ledger.Key {
    try database.execute(
      sql: """
        INSERT INTO keys
          (id, account, digest, scopes, name, locale, pack, group_id, rate, burst, created_at, expires_at, addresses,
           strict, device, sign_in_code)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """,
      arguments: [
        new.id, new.account, new.digest, new.scopes.storedWords, new.name, new.locale, new.pack,
        new.group, new.rate?.perSecond, new.rate?.burst, timeStamp, new.expiresAt?.wholeMilliseconds,
        new.addresses.storedWords, new.isStrict, new.device,
        new.signInCode,
      ])
    guard database.changesCount == 1, let key = try Self.key("id = ?", new.id, in: database) else {
      throw error(.keyExists, while: .changingKeys)
    }
    return key
  }

  @discardableResult
  public func rotateKey(
    _ id: String, to newID: String, digest: Data, overlap: TimeInterval, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> (old: Ledger.Key, new: Ledger.Key)? {
    if id.hasZero { return nil }
    try refuse(Ledger.Key.brokenRule(ofOverlap: overlap), while: .changingKeys)
    return try await write(while: .changingKeys) { [self] database in
      guard let old = try Self.key("id = ?", id, in: database) else { return nil }
      let now = Date(wholeMilliseconds: timeStamp)
      guard old.isInForce(at: now), old.rotatedTo == nil else {
        throw error(.keyNotInForce, while: .changingKeys)
      }
      let end = old.end(withOverlap: overlap, at: now)
      let new = old.successor(id: newID, digest: digest, at: now)
      try refuse(new.brokenRule, while: .changingKeys)
      let made = try insert(new, in: database)
      try database.execute(
        sql: "UPDATE keys SET expires_at = ?, rotated_to = ? WHERE id = ?",
        arguments: [end.wholeMilliseconds, newID, id])
      try database.execute(sql: "UPDATE devices SET key_id = ? WHERE key_id = ?", arguments: [newID, id])
      try record(.keyRotated, by: actor, subject: id, in: database)
      try record(.keyCreated, by: actor, subject: newID, in: database)
      guard let ending = try Self.key("id = ?", id, in: database) else { throw UnreadableRow() }
      return (ending, made)
    }
  }

  public func keys() async throws(LedgerError) -> [Ledger.Key] {
    try await read { database in
      try Row.fetchAll(database, sql: "SELECT * FROM keys ORDER BY rowid").map(Ledger.Key.init(row:))
    }
  }

  public func keyGroups() async throws(LedgerError) -> Set<String> {
    try await read { database in
      try String.fetchSet(
        database.cachedStatement(sql: "SELECT DISTINCT group_id FROM keys WHERE group_id IS NOT NULL"))
    }
  }

  public func key(digest: Data) async throws(LedgerError) -> Ledger.Key? {
    try await read { try Self.key("digest = ? AND revoked_at IS NULL", digest, in: $0) }
  }

  public func key(id: String) async throws(LedgerError) -> Ledger.Key? {
    if id.hasZero { return nil }
    return try await read { try Self.key("id = ? AND revoked_at IS NULL", id, in: $0) }
  }

  @discardableResult
  public func revokeKey(_ id: String, by actor: Ledger.Administrator) async throws(LedgerError) -> Ledger.Key? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] database in
      try revoke(id, by: actor, in: database)
      return try Self.key("id = ?", id, in: database)
    }
  }

  func revoke(_ id: String, by actor: Ledger.Administrator, in database: Database) throws {
    try database.execute(
      sql: "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", arguments: [timeStamp, id])
    if database.changesCount == 1 { try record(.keyRevoked, by: actor, subject: id, in: database) }
  }

  public func keysVersion() async throws(LedgerError) -> Int64 {
    try await read { database in
      guard let count = try Int64.fetchOne(database.cachedStatement(sql: "SELECT count FROM key_changes")) else {
        throw UnreadableRow()
      }
      return count
    }
  }

  public func recordUse(ofKeys uses: [String: Date]) async throws(LedgerError) {
    guard !uses.isEmpty else { return }
    try await write(while: .changingKeys) { database in
      let statement = try database.cachedStatement(
        sql: "UPDATE keys SET last_used_at = max(ifnull(last_used_at, ?1), ?1) WHERE id = ?2")
      for (id, date) in uses where !id.hasZero { try statement.execute(arguments: [date.wholeMilliseconds, id]) }
    }
  }

  static func key(
    _ condition: String, _ value: any DatabaseValueConvertible, in database: Database
  ) throws -> Ledger.Key? {
    let statement = try database.cachedStatement(sql: "SELECT * FROM keys WHERE \(condition)")
    return try statement.first([value], Ledger.Key.init(row:))
  }
}
