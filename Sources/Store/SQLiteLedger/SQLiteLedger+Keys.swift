// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// A stored key to the service.
  public struct Key: Sendable, Hashable {
    public let id: String
    public let account: String
    /// The SHA-256 digest of the key, 32 bytes.
    public let digest: Data
    public let scopes: [String]
    public let name: String?
    public let locale: String?
    public let pack: String?
    public let group: String?
    /// The key's own rate limit; nil when it has none.
    public let rate: NewKey.Rate?
    public let createdAt: Date
    /// The time from which the key is refused; nil for a key that does not expire.
    public let expiresAt: Date?
    /// The addresses and networks from which the key may be used, such as `192.0.2.0/24`; empty for all.
    public let addresses: [String]
    /// Whether the service refuses payloads with unknown JSON keys.
    public let isStrict: Bool
    /// The id of the key that replaced this one in a rotation; nil when this key was not rotated.
    public let rotatedTo: String?
    /// The time from which the key is refused because it was revoked; nil when it was not.
    public let revokedAt: Date?
    /// The latest time that ``Ledger/recordUse(ofKeys:)`` recorded for the key; nil when no use was recorded.
    public let lastUsedAt: Date?
    /// The id of the device that the key belongs to; nil for any other key.
    public let device: String?
    /// The id of the sign-in code that was exchanged for the key; nil for any other key.
    public let signInCode: String?

    /// Returns whether the key has expired at a moment.
    public func isExpired(at moment: Date) -> Bool { expiresAt.map { $0 <= moment } ?? false }

    /// Returns whether the key can be used at a moment: it is neither revoked nor expired.
    public func isInForce(at moment: Date) -> Bool { revokedAt == nil && !isExpired(at: moment) }
  }

  /// Stores a key and logs its creation. Both are durable when the call returns.
  ///
  /// - Parameter actor: The administrator who creates the key.
  /// - Throws: ``LedgerError`` with `keyExists` when another key, even a revoked one, has the same id or digest;
  ///   `invalidValue`, `diskFull`, `busy` or a file error. Nothing was stored then.
  @discardableResult
  public func createKey(
    _ new: NewKey, by actor: Administrator = .currentUser
  ) async throws(LedgerError) -> Key {
    try refuse(new.brokenRule, while: .changingKeys)
    return try await write(while: .changingKeys) { [self] database in
      let key = try insert(new, in: database)
      try record(.keyCreated, by: actor, subject: key.id, in: database)
      return key
    }
  }

  @discardableResult
  func insert(_ new: NewKey, in database: Database) throws -> Key {
    try database.execute(
      sql: """
        INSERT INTO keys
          (id, account, digest, scopes, name, locale, pack, group_id, rate, burst, created_at, expires_at, addresses,
           strict, device, sign_in_code)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """,
      arguments: [
        new.id, new.account, new.digest, new.scopes.joined(separator: " "), new.name, new.locale, new.pack,
        new.group, new.rate?.perSecond, new.rate?.burst, timeStamp, new.expiresAt?.wholeMilliseconds,
        new.addresses.isEmpty ? nil : new.addresses.joined(separator: " "), new.isStrict, new.device,
        new.signInCode,
      ])
    guard database.changesCount == 1, let key = try Self.key("id = ?", new.id, in: database) else {
      throw LedgerError(.keyExists, while: .changingKeys, in: file)
    }
    return key
  }

  /// Creates a key that replaces another one, with the same account, scopes, limits and settings. The old key expires
  /// after an overlap in which both are valid. The change is durable when the call returns.
  ///
  /// The new key's lifetime is the old key's original lifetime, counted from now.
  ///
  /// - Parameters:
  ///   - overlap: The time in which both keys are valid, in seconds; 0 ends the old key now. An old key that expires
  ///     earlier keeps its time of expiry.
  ///   - newID: The new key's id, as in ``NewKey``.
  ///   - digest: The new key's digest, as in ``NewKey``.
  /// - Returns: The old key as changed, and the new key; nil when no key has the id.
  /// - Throws: ``LedgerError`` with `keyNotInForce` when the old key is revoked, has expired or was rotated before;
  ///   `keyExists`, `invalidValue`, or a file error. Nothing was changed then.
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
        addresses: old.addresses, isStrict: old.isStrict, device: old.device)
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

  /// Returns all keys, including revoked ones, in the order of their creation.
  public func keys() async throws(LedgerError) -> [Key] {
    try await read { database in
      try Row.fetchAll(database, sql: "SELECT * FROM keys ORDER BY rowid").map(Key.init(row:))
    }
  }

  /// Returns the app groups of all keys, including revoked ones.
  public func keyGroups() async throws(LedgerError) -> Set<String> {
    try await read { database in
      try String.fetchSet(
        database.cachedStatement(sql: "SELECT DISTINCT group_id FROM keys WHERE group_id IS NOT NULL"))
    }
  }

  /// Returns the key with a digest; nil when there is none or it is revoked. The key may have expired.
  public func key(digest: Data) async throws(LedgerError) -> Key? {
    try await read { try Self.key("digest = ? AND revoked_at IS NULL", digest, in: $0) }
  }

  /// Returns the key with an id; nil when there is none or it is revoked. The key may have expired.
  public func key(id: String) async throws(LedgerError) -> Key? {
    if id.hasZero { return nil }
    return try await read { try Self.key("id = ? AND revoked_at IS NULL", id, in: $0) }
  }

  /// Revokes a key permanently. The change is durable when the call returns. A key that is already revoked keeps its
  /// time of revocation.
  ///
  /// - Parameter actor: The administrator who revokes the key.
  /// - Returns: The key; nil when no key has the id, and then nothing was changed.
  @discardableResult
  public func revokeKey(_ id: String, by actor: Administrator = .currentUser) async throws(LedgerError) -> Key? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] database in
      try revoke(id, by: actor, in: database)
      return try Self.key("id = ?", id, in: database)
    }
  }

  func revoke(_ id: String, by actor: Administrator, in database: Database) throws {
    try database.execute(
      sql: "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", arguments: [timeStamp, id])
    if database.changesCount == 1 { try record(.keyRevoked, by: actor, subject: id, in: database) }
  }

  /// Returns a number that changes whenever any process creates, changes or revokes a key. A cache of keys is valid
  /// while the number stays the same. The call reads one row.
  public func keysVersion() async throws(LedgerError) -> Int64 {
    try await read { database in
      guard let count = try Int64.fetchOne(database.cachedStatement(sql: "SELECT count FROM key_changes")) else {
        throw UnreadableRow()
      }
      return count
    }
  }

  /// Records when keys were last used. The record helps people decide whether a key is still needed. Each call is a
  /// write, so call it every few minutes and not for every request. ``keysVersion()`` does not change.
  ///
  /// - Parameter uses: The time of the last use, by the id of the key. A time that is earlier than the recorded one
  ///   changes nothing, because another process may have recorded a later use first.
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
  ) throws -> Key? {
    let statement = try database.cachedStatement(sql: "SELECT * FROM keys WHERE \(condition)")
    return try statement.first([value], Key.init(row:))
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
    device = try row.optional("device")
    signInCode = try row.optional("sign_in_code")
  }
}
