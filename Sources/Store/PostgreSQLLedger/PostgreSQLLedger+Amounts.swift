// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  /// Passes the amount of each stored announcement of an account to a closure, in the order of acceptance. The call
  /// reads pages of an index of these amounts, which all belong to the same moment.
  public func amounts<Result: Sendable>(
    account: String, from: Date, to: Date, into initial: Result,
    _ add: @escaping @Sendable (inout Result, Ledger.StoredAmount) -> Bool
  ) async throws(LedgerError) -> Result {
    guard !account.hasZero, let from = from.wholeMilliseconds, let to = to.wholeMilliseconds else { return initial }
    return try await readTogether(isLong: true) { session in
      var result = initial
      // No id is empty, so the first page begins with the first amount.
      var (at, id) = (from, "")
      while true {
        let page = try session.rows(
          Self.amountsAfter,
          [.string(account), .int64(at), .string(id), .int64(to), .int64(Int64(Self.amountsOfPage))])
        for row in page {
          (at, id) = (try row.read("accepted_at"), try row.read("id"))
          if !add(&result, try Ledger.StoredAmount(row: row)) { return result }
        }
        if page.count < Self.amountsOfPage { return result }
      }
    }
  }

  private static let amountsOfPage = 1_000

  static let amountsAfter = """
    SELECT id, amount, currency, kind, accepted_at FROM decisions
    WHERE account = $1 AND (accepted_at, id) > ($2, $3) AND accepted_at < $4 AND amount IS NOT NULL
    ORDER BY accepted_at, id LIMIT $5
    """
}
