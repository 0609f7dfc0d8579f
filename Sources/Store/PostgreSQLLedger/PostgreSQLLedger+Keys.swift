// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  @discardableResult
  public func createKey(
    _ new: NewKey, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.Key {
    try refuse(new.brokenRule, while: .changingKeys)
    return try await write(while: .changingKeys) { [self] session in
      try lockKeys(in: session)
      let key = try insert(new, in: session)
      try record(.keyCreated, by: actor, subject: key.id, in: session)
      return key
    }
  }

  /// Makes changes of keys wait for each other, on all nodes. A trigger counts each change in the same row, so this comes
  /// before the first change: two transactions that changed two keys in different orders would otherwise wait for each
  /// other in a circle. What was read before the lock must be read again.
  func lockKeys(in session: borrowing PostgreSQLSession) throws {
    try session.execute("SELECT count FROM key_changes FOR UPDATE")
  }

  @discardableResult
  func insert(_ new: NewKey, in session: borrowing PostgreSQLSession) throws -> Ledger.Key {
    let key = try session.first(
      """
      INSERT INTO keys
        (id, account, digest, scopes, name, locale, pack, group_id, rate, burst, created_at, expires_at, addresses,
         strict, device, sign_in_code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::text::double precision, $10, $11, $12, $13, $14, $15, $16)
      ON CONFLICT DO NOTHING RETURNING \(Self.keyColumns)
      """,
      [
        .string(new.id), .string(new.account), .bytes(new.digest), .string(new.scopes.storedWords),
        .string(new.name), .string(new.locale), .string(new.pack), .string(new.group),
        // The client has no type for numbers with a fraction. This text stands for exactly the same number.
        .string(new.rate.map { String($0.perSecond) }), .int64(new.rate.map { Int64($0.burst) }), .int64(timeStamp),
        .int64(new.expiresAt?.wholeMilliseconds),
        .string(new.addresses.storedWords), .bool(new.isStrict),
        .string(new.device), .string(new.signInCode),
      ], Ledger.Key.init(row:))
    guard let key else { throw error(.keyExists, while: .changingKeys) }
    return key
  }

  @discardableResult
  public func rotateKey(
    _ id: String, to newID: String, digest: Data, overlap: TimeInterval, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> (old: Ledger.Key, new: Ledger.Key)? {
    if id.hasZero { return nil }
    try refuse(Ledger.Key.brokenRule(ofOverlap: overlap), while: .changingKeys)
    return try await write(while: .changingKeys) { [self] session in
      // Of two rotations at once, the second one sees here that the key was rotated.
      try lockKeys(in: session)
      guard let old = try Self.key("id = $1", .string(id), in: session) else { return nil }
      let now = Date(wholeMilliseconds: timeStamp)
      guard old.isInForce(at: now), old.rotatedTo == nil else { throw error(.keyNotInForce, while: .changingKeys) }
      let end = old.end(withOverlap: overlap, at: now)
      let new = old.successor(id: newID, digest: digest, at: now)
      try refuse(new.brokenRule, while: .changingKeys)
      let made = try insert(new, in: session)
      let ending = try session.first(
        "UPDATE keys SET expires_at = $1, rotated_to = $2 WHERE id = $3 RETURNING \(Self.keyColumns)",
        [.int64(end.wholeMilliseconds), .string(newID), .string(id)], Ledger.Key.init(row:))
      guard let ending else { throw UnreadableRow() }
      try session.execute("UPDATE devices SET key_id = $1 WHERE key_id = $2", [.string(newID), .string(id)])
      try record(.keyRotated, by: actor, subject: id, in: session)
      try record(.keyCreated, by: actor, subject: newID, in: session)
      return (ending, made)
    }
  }

  public func keys() async throws(LedgerError) -> [Ledger.Key] {
    try await read { session in
      try session.all("SELECT \(Self.keyColumns) FROM keys ORDER BY number", [], Ledger.Key.init(row:))
    }
  }

  public func keyGroups() async throws(LedgerError) -> Set<String> {
    try await read { session in
      Set(try session.all(Self.groupsOfKeys) { row in try row.read("group_id", as: String.self) })
    }
  }

  /// Reads one entry of an index for each group. With `DISTINCT`, PostgreSQL would read all keys.
  static let groupsOfKeys = """
    WITH RECURSIVE groups (group_id) AS (
      (SELECT group_id FROM keys WHERE group_id IS NOT NULL ORDER BY group_id LIMIT 1)
      UNION ALL
      SELECT (SELECT keys.group_id FROM keys WHERE keys.group_id > groups.group_id ORDER BY keys.group_id LIMIT 1)
      FROM groups WHERE groups.group_id IS NOT NULL
    )
    SELECT group_id FROM groups WHERE group_id IS NOT NULL
    """

  public func key(digest: Data) async throws(LedgerError) -> Ledger.Key? {
    try await read { try Self.key("digest = $1 AND revoked_at IS NULL", .bytes(digest), in: $0) }
  }

  public func key(id: String) async throws(LedgerError) -> Ledger.Key? {
    if id.hasZero { return nil }
    return try await read { try Self.key("id = $1 AND revoked_at IS NULL", .string(id), in: $0) }
  }

  @discardableResult
  public func revokeKey(_ id: String, by actor: Ledger.Administrator) async throws(LedgerError) -> Ledger.Key? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] session in
      try lockKeys(in: session)
      try revoke(id, by: actor, in: session)
      return try Self.key("id = $1", .string(id), in: session)
    }
  }

  /// Revokes a key, unless it is revoked already. The caller has locked the keys; see ``lockKeys(in:)``.
  func revoke(_ id: String, by actor: Ledger.Administrator, in session: borrowing PostgreSQLSession) throws {
    let count = try session.execute(
      "UPDATE keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL", [.int64(timeStamp), .string(id)])
    if count == 1 { try record(.keyRevoked, by: actor, subject: id, in: session) }
  }

  public func keysVersion() async throws(LedgerError) -> Int64 {
    let count: Int64? = try await read { try $0.value("SELECT count AS value FROM key_changes") }
    guard let count else { throw error(.damaged, while: .reading) }
    return count
  }

  public func recordUse(ofKeys uses: [String: Date]) async throws(LedgerError) {
    let uses = Array(uses.filter { !$0.key.hasZero && $0.value.wholeMilliseconds != nil })
    guard !uses.isEmpty else { return }
    let ids = PostgreSQLValue.strings(uses.map(\.key))
    let times = PostgreSQLValue.int64s(uses.map { $0.value.wholeMilliseconds })
    try await write(while: .changingKeys) { session in
      // Nodes record the uses of the same keys at the same time, so they lock them in the same order.
      try session.execute("SELECT id FROM keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE", [ids])
      try session.execute(
        """
        UPDATE keys SET last_used_at = used.at FROM unnest($1::text[], $2::bigint[]) AS used (id, at)
        WHERE keys.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)
        """, [ids, times])
    }
  }

  /// The columns that ``Ledger/Key`` is read from. The statements name them, because a prepared statement fails if a
  /// newer version adds a column to `*`.
  static let keyColumns = """
    id, account, digest, scopes, name, locale, pack, group_id, rate::text AS rate, burst, created_at, expires_at,
    addresses, strict, rotated_to, revoked_at, last_used_at, device, sign_in_code
    """

  static func key(
    _ condition: String, _ value: PostgreSQLValue, in session: borrowing PostgreSQLSession
  ) throws -> Ledger.Key? {
    try session.first("SELECT \(keyColumns) FROM keys WHERE \(condition)", [value], Ledger.Key.init(row:))
  }
}
