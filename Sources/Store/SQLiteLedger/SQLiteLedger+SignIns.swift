// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  @discardableResult
  public func createSignInCode(
    _ new: NewSignInCode, lifetime: TimeInterval, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.SignInCode {
    try refuse(new.brokenRule, while: .changingKeys)
    return try await write(while: .changingKeys) { [self] database in
      let now = timeStamp
      try database.execute(sql: "DELETE FROM sign_in_codes WHERE expires_at < ?", arguments: [now - 86_400_000])
      try database.execute(
        sql: """
          INSERT INTO sign_in_codes
            (id, digest, scope, account, name, days, addresses, maker, created_at, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
          """,
        arguments: [
          new.id, new.digest, new.scope, new.account, new.name, new.days,
          new.addresses.storedWords, new.maker, now,
          Date(wholeMilliseconds: now).addingTimeInterval(lifetime).wholeMilliseconds,
        ])
      guard database.changesCount == 1, let code = try Self.signInCode("id = ?", new.id, in: database) else {
        throw error(.keyExists, while: .changingKeys)
      }
      try record(.signInCodeCreated, by: actor, subject: code.id, in: database)
      return code
    }
  }

  public func signInCodes() async throws(LedgerError) -> [Ledger.SignInCode] {
    try await read { [self] database in
      try database.cachedStatement(
        sql: "SELECT * FROM sign_in_codes WHERE used_at IS NULL AND expires_at > ? ORDER BY created_at, id"
      ).all([timeStamp], Ledger.SignInCode.init(row:)).filter {
        try Self.isMade(by: $0.maker, at: timeStamp, in: database)
      }
    }
  }

  @discardableResult
  public func removeSignInCode(
    _ id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.SignInCode? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] database in
      guard let code = try Self.signInCode("id = ?", id, in: database), code.usedAt == nil else { return nil }
      try database.execute(sql: "DELETE FROM sign_in_codes WHERE id = ?", arguments: [id])
      try record(.signInCodeRemoved, by: actor, subject: id, in: database)
      return code
    }
  }

  public func signIn(withCode digest: Data, keyID: String, keyDigest: Data) async throws(LedgerError) -> Ledger.SignIn {
    guard try await read({ try Self.signInCode("digest = ?", digest, in: $0) }) != nil else { return .unknown }
    return try await write(while: .changingKeys) { [self] database in
      let now = timeStamp
      guard let code = try Self.signInCode("digest = ?", digest, in: database),
        try Self.isMade(by: code.maker, at: now, in: database)
      else { return .unknown }
      let moment = Date(wholeMilliseconds: now)
      if let refusal = code.refusal(at: moment) { return refusal }
      try database.execute(sql: "UPDATE sign_in_codes SET used_at = ? WHERE id = ?", arguments: [now, code.id])
      let key = try insert(code.key(id: keyID, digest: keyDigest, at: moment), in: database)
      try record(.keyCreated, by: .signInCode(code.id), subject: key.id, in: database)
      return .signedIn(key)
    }
  }

  /// Returns whether a code is still valid: the key that made it has not expired and was not revoked.
  private static func isMade(by maker: String?, at now: Int64, in database: Database) throws -> Bool {
    guard let maker else { return true }
    return try key("id = ?", maker, in: database)?.isInForce(at: Date(wholeMilliseconds: now)) == true
  }

  private static func signInCode(
    _ condition: String, _ value: any DatabaseValueConvertible, in database: Database
  ) throws -> Ledger.SignInCode? {
    let statement = try database.cachedStatement(sql: "SELECT * FROM sign_in_codes WHERE \(condition)")
    return try statement.first([value], Ledger.SignInCode.init(row:))
  }
}
