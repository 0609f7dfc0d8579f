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
    /// From when on it is refused.
    public let revokedAt: Date?
    /// As told with ``Ledger/recordUse(ofKeys:)``; nil when it never was.
    public let lastUsedAt: Date?
  }

  /// Keeps a key; durable when it returns.
  ///
  /// - Throws: ``LedgerError`` with `keyExists` when its id or its digest is another's, revoked ones among them;
  ///   `invalidValue`, `diskFull`, `busy` or a fault of the file. Nothing was kept then.
  @discardableResult
  public func createKey(_ new: NewKey) async throws(LedgerError) -> Key {
    if let rule = new.brokenRule {
      throw LedgerError(.invalidValue, while: .changingKeys, in: file, field: rule)
    }
    return try await write(while: .changingKeys) { [self] database in
      try database.execute(
        sql: """
          INSERT INTO keys (id, account, digest, scopes, name, locale, pack, group_id, rate, burst, created_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
          """,
        arguments: [
          new.id, new.account, new.digest, new.scopes.joined(separator: " "), new.name, new.locale, new.pack,
          new.group, new.rate?.perSecond, new.rate?.burst, timeStamp,
        ])
      guard database.changesCount == 1, let key = try Self.key("id = ?", new.id, in: database) else {
        throw LedgerError(.keyExists, while: .changingKeys, in: file)
      }
      return key
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

  /// The key with that digest; nil when there is none, or it is revoked.
  public func key(digest: Data) async throws(LedgerError) -> Key? {
    try await read { try Self.key("digest = ? AND revoked_at IS NULL", digest, in: $0) }
  }

  /// The key of that id; nil when there is none, or it is revoked.
  public func key(id: String) async throws(LedgerError) -> Key? {
    if id.hasZero { return nil }
    return try await read { try Self.key("id = ? AND revoked_at IS NULL", id, in: $0) }
  }

  /// Revokes a key for good; durable when it returns. One that is revoked stays revoked since when it was.
  ///
  /// - Returns: the key; nil when there is none of that id, and nothing was changed.
  @discardableResult
  public func revokeKey(_ id: String) async throws(LedgerError) -> Key? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] database in
      try database.execute(
        sql: "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", arguments: [timeStamp, id])
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
    revokedAt = try row.date("revoked_at")
    lastUsedAt = try row.date("last_used_at")
  }
}
