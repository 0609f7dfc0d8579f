// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// What became of a signed request that was to be remembered.
  public enum SignedRequestOutcome: Sendable, Hashable {
    /// It came for the first time, and is remembered from now on.
    case admitted
    /// It came before.
    case replayed
    /// Others of its time were forgotten, so that it may have come before.
    case forgotten
    /// As many requests of the key are remembered as may be.
    case tooMany
  }

  /// So many signed requests of one key are remembered, of about 150 bytes each.
  public static let mostSignedRequests: Int64 = 100_000

  /// Remembers a signed request whose signature was found right, so that it is admitted once: by this process, by any
  /// other that has the file open, and after a restart. Durable when it returns.
  ///
  /// - Parameters:
  ///   - signature: 32 bytes; no two requests have the same.
  ///   - keyID: whose it is.
  ///   - signedAt: seconds since 1970, by the sender's clock.
  ///   - most: as many of the key may be remembered.
  /// - Throws: ``LedgerError`` with `waitingListFull`, `diskFull`, `busy` or a fault of the file. Nothing was kept then.
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
      // Numbers of one key rise by one and go from their low end, so that their ends tell how many there are at most.
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

  /// Forgets signed requests that nobody may send any more. Those of their time are refused from then on, also when a
  /// clock is set back.
  ///
  /// - Parameter moment: seconds since 1970, by the senders' clocks.
  /// - Returns: how many were forgotten.
  @discardableResult
  public func forgetSignedRequests(before moment: Int64) async throws(LedgerError) -> Int {
    var total = 0
    var count: Int
    repeat {
      // In small transactions, so that others hardly wait.
      count = try await write(while: .pruning) { database in
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
      total += count
    } while count > 0
    return total
  }
}
