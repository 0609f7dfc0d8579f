// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func admitSignedRequest(
    _ signature: Data, keyID: String, signedAt: Int64, atMost most: Int64
  ) async throws(LedgerError) -> Ledger.SignedRequestOutcome {
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
