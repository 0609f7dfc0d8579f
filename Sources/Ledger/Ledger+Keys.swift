// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// A key to the service as it is kept.
  public struct Key: Sendable, Hashable {
    public let id: String
    public let account: String
    /// SHA-256 of the key, 32 bytes.
    public let digest: Data
    public let scopes: [String]
    public let name: String?
    public let locale: String?
    public let pack: String?
    public let group: String?
    /// nil for no limit of its own.
    public let rate: NewKey.Rate?
    public let createdAt: Date
    /// From when on it is refused, whatever else holds; nil for a key that does not expire.
    public let expiresAt: Date?
    /// The addresses and networks from which it may be used, as `192.0.2.0/24`; empty for all.
    public let addresses: [String]
    /// Whether payloads with unknown keys are refused.
    public let isStrict: Bool
    /// The id of the key that took its place when it was rotated.
    public let rotatedTo: String?
    /// From when on it is refused, because somebody revoked it.
    public let revokedAt: Date?
    /// As told with ``Ledger/recordUse(ofKeys:)``; nil when it never was.
    public let lastUsedAt: Date?

    /// Whether it has expired at a moment.
    public func isExpired(at moment: Date) -> Bool { expiresAt.map { $0 <= moment } ?? false }

    /// Whether it may be used at a moment: it is neither revoked nor expired.
    public func isInForce(at moment: Date) -> Bool { revokedAt == nil && !isExpired(at: moment) }
  }

  /// Keeps a key, and that it was made; durable when it returns.
  ///
  /// - Parameter actor: who makes it.
  /// - Throws: ``LedgerError`` with `keyExists` when its id or its digest is another's, revoked ones among them;
  ///   `invalidValue`, `diskFull`, `busy` or a fault of the file. Nothing was kept then.
  @discardableResult
  public func createKey(
    _ new: NewKey, by actor: Administrator = .currentUser
  ) async throws(LedgerError) -> Key {
    if let rule = new.brokenRule {
      throw LedgerError(.invalidValue, while: .changingKeys, in: file, field: rule)
    }
    return try await write(while: .changingKeys) { [self] database in
      let key = try insert(new, in: database)
      try record(.keyCreated, by: actor, subject: key.id, in: database)
      return key
    }
  }

  private func insert(_ new: NewKey, in database: Database) throws -> Key {
    try database.execute(
      sql: """
        INSERT INTO keys
          (id, account, digest, scopes, name, locale, pack, group_id, rate, burst, created_at, expires_at, addresses,
           strict)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """,
      arguments: [
        new.id, new.account, new.digest, new.scopes.joined(separator: " "), new.name, new.locale, new.pack,
        new.group, new.rate?.perSecond, new.rate?.burst, timeStamp, new.expiresAt?.wholeMilliseconds,
        new.addresses.isEmpty ? nil : new.addresses.joined(separator: " "), new.isStrict,
      ])
    guard database.changesCount == 1, let key = try Self.key("id = ?", new.id, in: database) else {
      throw LedgerError(.keyExists, while: .changingKeys, in: file)
    }
    return key
  }

  /// Makes a key that takes the place of another, with its account, scopes, limits and settings, and lets that one expire
  /// when both were good for a while; durable when it returns.
  ///
  /// The new key lives as long from now on as the old one was made to live.
  ///
  /// - Parameters:
  ///   - overlap: for which both are good, in seconds; 0 ends the old one now. An old key that expires earlier does so.
  ///   - newID, digest: of the new key, as in ``NewKey``.
  /// - Returns: the old key as it is from now on, and the new one; nil when there is none of that id.
  /// - Throws: ``LedgerError`` with `keyNotInForce` when the old key is revoked, has expired or was rotated before;
  ///   `keyExists`, `invalidValue`, or a fault of the file. Nothing was changed then.
  @discardableResult
  public func rotateKey(
    _ id: String, to newID: String, digest: Data, overlap: TimeInterval, by actor: Administrator = .currentUser
  ) async throws(LedgerError) -> (old: Key, new: Key)? {
    if id.hasZero { return nil }
    guard overlap.isFinite, overlap >= 0 else {
      throw LedgerError(.invalidValue, while: .changingKeys, in: file, field: "overlap (0 seconds or more)")
    }
    return try await write(while: .changingKeys) { [self] database in
      guard let old = try Self.key("id = ?", id, in: database) else { return nil }
      let now = Date(wholeMilliseconds: timeStamp)
      guard old.isInForce(at: now), old.rotatedTo == nil else {
        throw LedgerError(.keyNotInForce, while: .changingKeys, in: file)
      }
      let end = min(old.expiresAt ?? .distantFuture, now.addingTimeInterval(overlap))
      let new = NewKey(
        id: newID, account: old.account, digest: digest, scopes: old.scopes, name: old.name, locale: old.locale,
        pack: old.pack, group: old.group, rate: old.rate,
        expiresAt: old.expiresAt.map { now.addingTimeInterval($0.timeIntervalSince(old.createdAt)) },
        addresses: old.addresses, isStrict: old.isStrict)
      if let rule = new.brokenRule {
        throw LedgerError(.invalidValue, while: .changingKeys, in: file, field: rule)
      }
      let made = try insert(new, in: database)
      try database.execute(
        sql: "UPDATE keys SET expires_at = ?, rotated_to = ? WHERE id = ?",
        arguments: [end.wholeMilliseconds, newID, id])
      try record(.keyRotated, by: actor, subject: id, in: database)
      try record(.keyCreated, by: actor, subject: newID, in: database)
      guard let ending = try Self.key("id = ?", id, in: database) else { throw UnreadableRow() }
      return (ending, made)
    }
  }

  /// All keys, revoked ones among them, in the order of their making.
  public func keys() async throws(LedgerError) -> [Key] {
    try await read { database in
      try Row.fetchAll(database, sql: "SELECT * FROM keys ORDER BY rowid").map(Key.init(row:))
    }
  }

  /// The app groups that keys have, revoked ones among them.
  public func keyGroups() async throws(LedgerError) -> Set<String> {
    try await read { database in
      try String.fetchSet(
        database.cachedStatement(sql: "SELECT DISTINCT group_id FROM keys WHERE group_id IS NOT NULL"))
    }
  }

  /// The key with that digest; nil when there is none, or it is revoked. It may have expired.
  public func key(digest: Data) async throws(LedgerError) -> Key? {
    try await read { try Self.key("digest = ? AND revoked_at IS NULL", digest, in: $0) }
  }

  /// The key of that id; nil when there is none, or it is revoked. It may have expired.
  public func key(id: String) async throws(LedgerError) -> Key? {
    if id.hasZero { return nil }
    return try await read { try Self.key("id = ? AND revoked_at IS NULL", id, in: $0) }
  }

  /// Revokes a key for good; durable when it returns. One that is revoked stays revoked since when it was.
  ///
  /// - Parameter actor: who revokes it.
  /// - Returns: the key; nil when there is none of that id, and nothing was changed.
  @discardableResult
  public func revokeKey(_ id: String, by actor: Administrator = .currentUser) async throws(LedgerError) -> Key? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] database in
      try database.execute(
        sql: "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", arguments: [timeStamp, id])
      if database.changesCount == 1 { try record(.keyRevoked, by: actor, subject: id, in: database) }
      return try Self.key("id = ?", id, in: database)
    }
  }

  /// A number that is another one after a key was made, changed or revoked, by any process: what is remembered of keys
  /// holds as long as it is the same. It reads one row.
  public func keysVersion() async throws(LedgerError) -> Int64 {
    try await read { database in
      guard let count = try Int64.fetchOne(database.cachedStatement(sql: "SELECT count FROM key_changes")) else {
        throw UnreadableRow()
      }
      return count
    }
  }

  /// Notes that keys were used until now. It is for people who ask whether a key is needed still, and costs a write: tell
  /// it every few minutes, not with every request. ``keysVersion()`` stays the same.
  public func recordUse(ofKeys ids: Set<String>) async throws(LedgerError) {
    guard !ids.isEmpty else { return }
    try await write(while: .changingKeys) { [self] database in
      let at = timeStamp
      let statement = try database.cachedStatement(sql: "UPDATE keys SET last_used_at = ? WHERE id = ?")
      for id in ids where !id.hasZero { try statement.execute(arguments: [at, id]) }
    }
  }

  private static func key(
    _ condition: String, _ value: any DatabaseValueConvertible, in database: Database
  ) throws -> Key? {
    let statement = try database.cachedStatement(sql: "SELECT * FROM keys WHERE \(condition)")
    return try Row.fetchOne(statement, arguments: [value]).map(Key.init(row:))
  }
}

extension Ledger.Key {
  fileprivate init(row: Row) throws {
    id = try row.value("id")
    account = try row.value("account")
    digest = try row.value("digest")
    let names: String = try row.value("scopes")
    scopes = names.split(separator: " ").map(String.init)
    name = try row.optional("name")
    locale = try row.optional("locale")
    pack = try row.optional("pack")
    group = try row.optional("group_id")
    let perSecond: Double? = try row.optional("rate")
    rate = try perSecond.map { NewKey.Rate(perSecond: $0, burst: try row.value("burst")) }
    createdAt = Date(wholeMilliseconds: try row.value("created_at"))
    expiresAt = try row.date("expires_at")
    let networks: String? = try row.optional("addresses")
    addresses = (networks ?? "").split(separator: " ").map(String.init)
    isStrict = try row.value("strict")
    rotatedTo = try row.optional("rotated_to")
    revokedAt = try row.date("revoked_at")
    lastUsedAt = try row.date("last_used_at")
  }
}
