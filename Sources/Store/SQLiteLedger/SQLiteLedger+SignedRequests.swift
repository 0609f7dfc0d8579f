// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// The result of admitting a signed request.
  public enum SignedRequestOutcome: Sendable, Hashable {
    /// The request came for the first time and is now remembered.
    case admitted
    /// The request came before.
    case replayed
    /// Requests signed at that time have been forgotten, so this one may have come before.
    case forgotten
    /// The key has reached its limit of remembered requests.
    case tooMany
  }

  /// The maximum number of signed requests that are remembered for one key, at about 150 bytes each.
  public static let mostSignedRequests: Int64 = 100_000

  /// Remembers a signed request whose signature is valid, so that it is admitted only once: by this process, by any
  /// other process that has the file open, and after a restart. The record is durable when the call returns.
  ///
  /// - Parameters:
  ///   - signature: The signature, 32 bytes; no two requests have the same signature.
  ///   - keyID: The id of the key that signed the request.
  ///   - signedAt: The time of signing in seconds since 1970, by the sender's clock.
  ///   - most: The maximum number of requests to remember for the key.
  /// - Throws: ``LedgerError`` with `waitingListFull`, `diskFull`, `busy` or a file error. Nothing was stored then.
  public func admitSignedRequest(
    _ signature: Data, keyID: String, signedAt: Int64, atMost most: Int64 = mostSignedRequests
  ) async throws(LedgerError) -> SignedRequestOutcome {
    try await write(while: .admitting, cost: 150) { database in
      let forgotten = try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT signed_at FROM forgotten_signed_requests"))
      guard signedAt > forgotten ?? .min else { return .forgotten }
      let isKnown = try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM signed_requests WHERE signature = ?)"),
        arguments: [signature])
      guard isKnown != true else { return .replayed }
      // The requests of one key are numbered consecutively, and the lowest numbers are removed first. The lowest and
      // the highest number therefore give an upper bound of the number of requests.
      let ends = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT (SELECT min(number) FROM signed_requests WHERE key_id = :key) AS first,
                   (SELECT max(number) FROM signed_requests WHERE key_id = :key) AS last
            """), arguments: ["key": keyID])
      let first: Int64? = try ends?.optional("first")
      let last: Int64? = try ends?.optional("last")
      if let first, let last, last - first + 1 >= most { return .tooMany }
      try database.cachedStatement(
        sql: "INSERT INTO signed_requests (key_id, number, signature, signed_at) VALUES (?, ?, ?, ?)"
      ).execute(arguments: [keyID, (last ?? 0) + 1, signature, signedAt])
      return .admitted
    }
  }

  /// Forgets signed requests that are too old to be accepted. Requests signed at or before the newest forgotten time
  /// are refused from then on, even if a clock is set back.
  ///
  /// - Parameter moment: A time in seconds since 1970, by the senders' clocks. Requests signed earlier are forgotten.
  /// - Returns: The number of forgotten requests.
  @discardableResult
  public func forgetSignedRequests(before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { database in
      let newest = try Int64.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT max(signed_at) FROM
              (SELECT signed_at FROM signed_requests WHERE signed_at < ? ORDER BY signed_at, key_id, number LIMIT 1000)
            """), arguments: [moment])
      guard let newest else { return 0 }
      try database.cachedStatement(
        sql: """
          DELETE FROM signed_requests WHERE (key_id, number) IN
            (SELECT key_id, number FROM signed_requests WHERE signed_at < ? ORDER BY signed_at, key_id, number LIMIT 1000)
          """
      ).execute(arguments: [moment])
      let count = database.changesCount
      try database.cachedStatement(
        sql: """
          INSERT INTO forgotten_signed_requests (only_row, signed_at) VALUES (1, ?)
          ON CONFLICT DO UPDATE SET signed_at = max(signed_at, excluded.signed_at)
          """
      ).execute(arguments: [newest])
      return count
    }
  }
}
