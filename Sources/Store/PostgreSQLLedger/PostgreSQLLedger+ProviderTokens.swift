// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func providerToken(of key: String) async throws(LedgerError) -> Data? {
    if key.hasZero { return nil }
    return try await read { session in try session.value(Self.tokenOfKey, [.string(key)]) }
  }

  public func replaceProviderToken(
    of key: String, _ earlier: Data?, with new: Data
  ) async throws(LedgerError) -> Data {
    try refuse(Ledger.brokenRule(ofProviderToken: new, key: key), while: .taking)
    return try await write(while: .taking) { session in
      try session.execute(Self.replacingToken, [.string(key), .bytes(new), .bytes(earlier)])
      // Another node's token that this statement did not see above is visible now, because the one above waited for it.
      return try session.value(Self.tokenOfKey, [.string(key)]) ?? new
    }
  }

  static let tokenOfKey = "SELECT sealed AS value FROM provider_tokens WHERE key = $1"

  static let replacingToken = """
    INSERT INTO provider_tokens (key, sealed) VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE SET sealed = excluded.sealed WHERE provider_tokens.sealed = $3
    """
}
