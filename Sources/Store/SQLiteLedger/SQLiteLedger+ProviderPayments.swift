// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

extension Ledger {
  /// The reason why a report is refused if its sum differs from the sum that was reported before.
  public static let otherSum =
    "The payment was reported before with another sum. Compare both with the provider's dashboard."

  /// Stores the payments that one request of a provider reports, in one transaction. When the call returns, every
  /// payment in it is durable or was known before.
  ///
  /// - Returns: The outcome of each report, in the same order.
  /// - Throws: ``LedgerError`` with `waitingListFull`, `diskFull`, `busy` or a file error. Nothing was stored then, and
  ///   the provider sends the request again.
  public func accept(
    providerPayments new: [NewProviderPayment]
  ) async throws(LedgerError) -> [ProviderAcceptance] {
    let cost = new.reduce(256) { $0 + 256 + ($1.payload?.count ?? 0) }
    return try await write(while: .accepting, cost: cost) { [self] database in
      try checkSize(in: database)
      return try new.map { try accept($0, in: database) }
    }
  }

  private func accept(_ new: NewProviderPayment, in database: Database) throws -> ProviderAcceptance {
    var new = new
    var acceptance: ProviderAcceptance = new.payload != nil ? .accepted : new.refusal == nil ? .late : .refused
    if let identity = new.identity {
      let known = try Self.sum(ofProviderID: identity.id, in: database)
      if known == identity.sum { return .duplicate }
      if let success = identity.success, try Self.sum(ofProviderID: success, in: database) != nil {
        return .afterSuccess
      }
      var id = identity.id
      if known != nil {
        (acceptance, new.refusal, new.payload) = (.otherSum, Self.otherSum, nil)
        // A report with another sum is stored once. Its id combines the payment's id and the sum, which are both
        // digests.
        id = Data(zip(id, identity.sum + identity.sum).map { $0 ^ $1 })
        if try Self.sum(ofProviderID: id, in: database) != nil { return .duplicate }
      }
      try database.cachedStatement(sql: "INSERT INTO provider_ids (id, sum, until) VALUES (?, ?, ?)")
        .execute(arguments: [id, identity.sum, identity.until?.wholeMilliseconds])
    }
    let at = timeStamp
    let state: ProviderPayment.State = new.payload != nil ? .waiting : new.refusal == nil ? .late : .refused
    try database.cachedStatement(
      sql: """
        INSERT INTO provider_payments
          (account, endpoint, id, kind, amount, currency, payload, state, reason, received_at, finished_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      new.account, new.endpoint, new.id, new.kind, new.amount, new.currency, new.payload, state.rawValue, new.refusal,
      at, state == .waiting ? nil : at,
    ])
    return acceptance
  }

  private static func sum(ofProviderID id: Data, in database: Database) throws -> Data? {
    try Data.fetchOne(database.cachedStatement(sql: "SELECT sum FROM provider_ids WHERE id = ?"), arguments: [id])
  }

  /// Returns the next payments that are to be announced, in the order of their reports.
  ///
  /// - Parameters:
  ///   - number: Only payments with a higher number are returned.
  ///   - limit: The maximum number of payments.
  public func waitingProviderPayments(
    after number: Int64, limit: Int = 256
  ) async throws(LedgerError) -> [ProviderPayment] {
    try await read { database in
      try database.cachedStatement(
        sql: "SELECT * FROM provider_payments WHERE finished_at IS NULL AND number > ? ORDER BY number LIMIT ?"
      ).all([number, limit], ProviderPayment.init(row:))
    }
  }

  /// Notes that the announcing of a payment begins. The change is durable when the call returns.
  public func startAnnouncing(providerPayment number: Int64) async throws(LedgerError) {
    try await write(while: .changing) { database in
      try database.cachedStatement(sql: "UPDATE provider_payments SET starts = starts + 1 WHERE number = ?")
        .execute(arguments: [number])
    }
  }

  /// Notes that the service was stopped before it had announced a payment, and will announce it after its next start.
  /// This does not count as a crash.
  public func stopAnnouncing(providerPayment number: Int64) async throws(LedgerError) {
    try await write(while: .changing) { database in
      try database.cachedStatement(
        sql: "UPDATE provider_payments SET starts = 0 WHERE number = ? AND finished_at IS NULL"
      ).execute(arguments: [number])
    }
  }

  /// Notes that a payment was announced or, if a reason is given, that it cannot be announced.
  public func end(providerPayment number: Int64, refusal: String?) async throws(LedgerError) {
    try await write(while: .changing) { [self] database in
      let state: ProviderPayment.State = refusal == nil ? .announced : .refused
      try database.cachedStatement(
        sql: """
          UPDATE provider_payments SET state = ?, reason = ?, payload = NULL, starts = 0, finished_at = ?
          WHERE number = ? AND finished_at IS NULL
          """
      ).execute(arguments: [state.rawValue, refusal, timeStamp, number])
    }
  }

  /// Returns the latest reports to an endpoint, the newest first.
  public func providerPayments(
    account: String, endpoint: String, limit: Int
  ) async throws(LedgerError) -> [ProviderPayment] {
    try await read { database in
      try database.cachedStatement(
        sql: "SELECT * FROM provider_payments WHERE account = ? AND endpoint = ? ORDER BY number DESC LIMIT ?"
      ).all([account, endpoint, limit], ProviderPayment.init(row:))
    }
  }
}

extension Ledger.ProviderPayment {
  fileprivate init(row: Row) throws {
    number = try row.value("number")
    account = try row.value("account")
    endpoint = try row.value("endpoint")
    id = try row.optional("id")
    kind = try row.optional("kind")
    amount = try row.optional("amount")
    currency = try row.optional("currency")
    payload = try row.optional("payload")
    state = try row.name("state")
    reason = try row.optional("reason")
    starts = try row.value("starts")
    receivedAt = Date(wholeMilliseconds: try row.value("received_at"))
    finishedAt = try row.date("finished_at")
  }
}
