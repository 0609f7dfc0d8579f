// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// The amount of a stored announcement.
  public struct StoredAmount: Sendable, Hashable {
    /// The id of the announcement.
    public var id: String
    /// The amount as decimal text, with all decimal digits that the currency has.
    public var value: String
    /// The ISO 4217 code of the currency.
    public var currency: String
    /// The kind of the payment, such as `received`.
    public var kind: String
    public var acceptedAt: Date

    public init(id: String, value: String, currency: String, kind: String, acceptedAt: Date) {
      (self.id, self.value, self.currency, self.kind) = (id, value, currency, kind)
      self.acceptedAt = acceptedAt
    }
  }

  /// Passes the amount of each stored announcement of an account to a closure, in the order of acceptance. The call
  /// reads only an index of these amounts, and holds one amount in memory at a time.
  ///
  /// - Parameters:
  ///   - from: The earliest time of acceptance.
  ///   - to: The end of the range: announcements accepted at this time or later are left out.
  ///   - initial: The first value that the closure changes.
  ///   - add: Adds an amount to the value, and returns whether to continue.
  /// - Returns: The value after the last amount.
  public func amounts<Result: Sendable>(
    account: String, from: Date, to: Date, into initial: Result,
    _ add: @escaping @Sendable (inout Result, StoredAmount) -> Bool
  ) async throws(LedgerError) -> Result {
    guard !account.hasZero, let from = from.wholeMilliseconds, let to = to.wholeMilliseconds else { return initial }
    return try await read(isLong: true) { database in
      var result = initial
      let rows = try Row.fetchCursor(
        database.cachedStatement(sql: Self.amounts), arguments: ["account": account, "from": from, "to": to])
      while let row = try rows.next() {
        let amount = StoredAmount(
          id: try row.value("id"), value: try row.value("amount"), currency: try row.value("currency"),
          kind: try row.value("kind"),
          acceptedAt: Date(wholeMilliseconds: try row.value("accepted_at")))
        if !add(&result, amount) { break }
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
