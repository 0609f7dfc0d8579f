// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  @discardableResult
  public func createSignInCode(
    _ new: NewSignInCode, lifetime: TimeInterval, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.SignInCode {
    try refuse(new.brokenRule, while: .changingKeys)
    return try await write(while: .changingKeys) { [self] session in
      let now = timeStamp
      // If another node forgets some of these codes now, this node does not wait for the other node.
      try session.execute(
        """
        DELETE FROM sign_in_codes WHERE id = ANY(ARRAY(
          SELECT id FROM sign_in_codes WHERE expires_at < $1 ORDER BY id FOR UPDATE SKIP LOCKED))
        """, [.int64(now - 86_400_000)])
      let code = try session.first(
        """
        INSERT INTO sign_in_codes (id, digest, scope, account, name, days, addresses, maker, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT DO NOTHING RETURNING \(Self.signInColumns)
        """,
        [
          .string(new.id), .bytes(new.digest), .string(new.scope), .string(new.account), .string(new.name),
          .int64(Int64(new.days)), .string(new.addresses.storedWords),
          .string(new.maker), .int64(now),
          .int64(Date(wholeMilliseconds: now).addingTimeInterval(lifetime).wholeMilliseconds),
        ], Ledger.SignInCode.init(row:))
      guard let code else { throw error(.keyExists, while: .changingKeys) }
      try record(.signInCodeCreated, by: actor, subject: code.id, in: session)
      return code
    }
  }

  public func signInCodes() async throws(LedgerError) -> [Ledger.SignInCode] {
    let now = timeStamp
    return try await readTogether { session in
      let codes = try session.all(
        """
        SELECT \(Self.signInColumns) FROM sign_in_codes
        WHERE used_at IS NULL AND expires_at > $1 ORDER BY created_at, id
        """, [.int64(now)], Ledger.SignInCode.init(row:))
      var valid: [Ledger.SignInCode] = []
      for code in codes where try Self.isMade(by: code.maker, at: now, in: session) { valid.append(code) }
      return valid
    }
  }

  @discardableResult
  public func removeSignInCode(
    _ id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.SignInCode? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] session in
      // If the code is being exchanged, this statement waits, and then finds that the code is used.
      let code = try session.first(
        "DELETE FROM sign_in_codes WHERE id = $1 AND used_at IS NULL RETURNING \(Self.signInColumns)", [.string(id)],
        Ledger.SignInCode.init(row:))
      if code != nil { try record(.signInCodeRemoved, by: actor, subject: id, in: session) }
      return code
    }
  }

  public func signIn(
    withCode digest: Data, keyID: String, keyDigest: Data
  ) async throws(LedgerError) -> Ledger.SignIn {
    // An unknown code makes nobody wait.
    let isKnown = try await read { session in
      try Self.signInCode("digest = $1", .bytes(digest), in: session) != nil
    }
    guard isKnown else { return .unknown }
    return try await write(while: .changingKeys) { [self] session in
      try lockKeys(in: session)
      let now = timeStamp
      // The row stays locked until the commit. Of two exchanges at once, the second one finds the code used.
      guard let code = try Self.signInCode("digest = $1 FOR UPDATE", .bytes(digest), in: session),
        try Self.isMade(by: code.maker, at: now, in: session)
      else { return .unknown }
      let moment = Date(wholeMilliseconds: now)
      if let refusal = code.refusal(at: moment) { return refusal }
      try session.execute(
        "UPDATE sign_in_codes SET used_at = $1 WHERE id = $2", [.int64(now), .string(code.id)])
      let key = try insert(code.key(id: keyID, digest: keyDigest, at: moment), in: session)
      try record(.keyCreated, by: .signInCode(code.id), subject: key.id, in: session)
      return .signedIn(key)
    }
  }

  /// Returns whether a code is still valid: the key that made it has not expired and was not revoked.
  private static func isMade(
    by maker: String?, at now: Int64, in session: borrowing PostgreSQLSession
  ) throws -> Bool {
    guard let maker else { return true }
    return try key("id = $1", .string(maker), in: session)?.isInForce(at: Date(wholeMilliseconds: now)) == true
  }

  private static let signInColumns =
    "id, scope, account, name, days, addresses, maker, created_at, expires_at, used_at"

  private static func signInCode(
    _ condition: String, _ value: PostgreSQLValue, in session: borrowing PostgreSQLSession
  ) throws -> Ledger.SignInCode? {
    try session.first(
      "SELECT \(signInColumns) FROM sign_in_codes WHERE \(condition)", [value], Ledger.SignInCode.init(row:))
  }
}
