// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
}

extension Ledger.StoredAmount {
  package init(row: some StoredRow) throws {
    self.init(
      id: try row.value("id"), value: try row.value("amount"), currency: try row.value("currency"),
      kind: try row.value("kind"), acceptedAt: try row.value("accepted_at"))
  }
}
