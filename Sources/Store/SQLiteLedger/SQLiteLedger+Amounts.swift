// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func amounts<Result: Sendable>(
    account: String, from: Date, to: Date, into initial: Result,
    _ add: @escaping @Sendable (inout Result, Ledger.StoredAmount) -> Bool
  ) async throws(LedgerError) -> Result {
    guard !account.hasZero, let from = from.wholeMilliseconds, let to = to.wholeMilliseconds else { return initial }
    return try await read(isLong: true) { database in
      var result = initial
      let rows = try Row.fetchCursor(
        database.cachedStatement(sql: Self.amounts), arguments: ["account": account, "from": from, "to": to])
      while let row = try rows.next() {
        if !add(&result, try Ledger.StoredAmount(row: row)) { break }
      }
      return result
    }
  }

  static let amounts = """
    SELECT id, amount, currency, kind, accepted_at FROM decisions
    WHERE account = :account AND accepted_at >= :from AND accepted_at < :to AND amount IS NOT NULL
    ORDER BY accepted_at
    """
}
