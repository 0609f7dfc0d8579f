// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// A stored code with which a person signs in.
  public struct SignInCode: Sendable, Hashable {
    public let id: String
    public let scope: String
    public let account: String
    /// The name of the key that the code is exchanged for.
    public let name: String
    /// The days for which this key is valid, counted from the exchange.
    public let days: Int
    /// The addresses and networks from which this key may be used; empty for all.
    public let addresses: [String]
    public let createdAt: Date
    public let expiresAt: Date
    /// The id of the key that made the code; nil if a user of this machine did.
    let maker: String?
    let usedAt: Date?
  }

  /// The result of signing in with a code.
  public enum SignIn: Sendable, Hashable {
    /// The code was exchanged for this new key.
    case signedIn(Key)
    /// The code never existed, was removed, or was forgotten a day after it expired.
    case unknown
    /// The code was exchanged before.
    case used
    case expired
  }

  /// Stores a code, logs its creation, and forgets codes that expired more than a day ago. The code is durable when the
  /// call returns.
  ///
  /// - Parameters:
  ///   - lifetime: The time for which the code is valid, in seconds.
  ///   - actor: The administrator who makes the code.
  /// - Throws: ``LedgerError`` with `keyExists` when another code has the same id or digest; `invalidValue`, `diskFull`,
  ///   `busy` or a file error. Nothing was stored then.
  @discardableResult
  public func createSignInCode(
    _ new: NewSignInCode, lifetime: TimeInterval, by actor: Administrator = .currentUser
  ) async throws(LedgerError) -> SignInCode {
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
          new.addresses.isEmpty ? nil : new.addresses.joined(separator: " "), new.maker, now,
          Date(wholeMilliseconds: now).addingTimeInterval(lifetime).wholeMilliseconds,
        ])
      guard database.changesCount == 1, let code = try Self.signInCode("id = ?", new.id, in: database) else {
        throw LedgerError(.keyExists, while: .changingKeys, in: file)
      }
      try record(.signInCodeCreated, by: actor, subject: code.id, in: database)
      return code
    }
  }

  /// Returns the codes that can still be exchanged, in the order of their creation.
  public func signInCodes() async throws(LedgerError) -> [SignInCode] {
    try await read { [self] database in
      try database.cachedStatement(
        sql: "SELECT * FROM sign_in_codes WHERE used_at IS NULL AND expires_at > ? ORDER BY created_at, id"
      ).all([timeStamp], SignInCode.init(row:)).filter { try Self.isMade(by: $0.maker, at: timeStamp, in: database) }
    }
  }

  /// Removes a code that was not exchanged, and logs it. The change is durable when the call returns.
  ///
  /// - Parameter actor: The administrator who removes the code.
  /// - Returns: The code; nil when no such code has the id, and then nothing was changed.
  @discardableResult
  public func removeSignInCode(
    _ id: String, by actor: Administrator = .currentUser
  ) async throws(LedgerError) -> SignInCode? {
    if id.hasZero { return nil }
    return try await write(while: .changingKeys) { [self] database in
      guard let code = try Self.signInCode("id = ?", id, in: database), code.usedAt == nil else { return nil }
      try database.execute(sql: "DELETE FROM sign_in_codes WHERE id = ?", arguments: [id])
      try record(.signInCodeRemoved, by: actor, subject: id, in: database)
      return code
    }
  }

  /// Exchanges a code for a new key, once. The key is durable when the call returns. For an unknown code, nothing is
  /// written.
  ///
  /// - Parameters:
  ///   - digest: The digest of the code.
  ///   - keyID: The new key's id, as in ``NewKey``.
  ///   - keyDigest: The new key's digest, as in ``NewKey``.
  /// - Throws: ``LedgerError`` with `keyExists`, `diskFull`, `busy` or a file error. The code is not used up then.
  public func signIn(
    withCode digest: Data, keyID: String, keyDigest: Data
  ) async throws(LedgerError) -> SignIn {
    guard try await read({ try Self.signInCode("digest = ?", digest, in: $0) }) != nil else { return .unknown }
    return try await write(while: .changingKeys) { [self] database in
      let now = timeStamp
      guard let code = try Self.signInCode("digest = ?", digest, in: database),
        try Self.isMade(by: code.maker, at: now, in: database)
      else { return .unknown }
      guard code.usedAt == nil else { return .used }
      let moment = Date(wholeMilliseconds: now)
      guard code.expiresAt > moment else { return .expired }
      try database.execute(sql: "UPDATE sign_in_codes SET used_at = ? WHERE id = ?", arguments: [now, code.id])
      let key = try insert(
        NewKey(
          id: keyID, account: code.account, digest: keyDigest, scopes: [code.scope], name: code.name,
          expiresAt: moment.addingTimeInterval(Double(code.days) * 86_400), addresses: code.addresses,
          signInCode: code.id), in: database)
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
  ) throws -> SignInCode? {
    let statement = try database.cachedStatement(sql: "SELECT * FROM sign_in_codes WHERE \(condition)")
    return try statement.first([value], SignInCode.init(row:))
  }
}

extension Ledger.SignInCode {
  fileprivate init(row: Row) throws {
    id = try row.value("id")
    scope = try row.value("scope")
    account = try row.value("account")
    name = try row.value("name")
    days = try row.value("days")
    let networks: String? = try row.optional("addresses")
    addresses = (networks ?? "").split(separator: " ").map(String.init)
    createdAt = Date(wholeMilliseconds: try row.value("created_at"))
    expiresAt = Date(wholeMilliseconds: try row.value("expires_at"))
    maker = try row.optional("maker")
    usedAt = try row.date("used_at")
  }
}
