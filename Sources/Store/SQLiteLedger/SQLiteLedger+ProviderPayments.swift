// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func accept(
    providerPayments new: [Ledger.NewProviderPayment]
  ) async throws(LedgerError) -> [Ledger.ProviderAcceptance] {
    try await write(while: .accepting, cost: ProviderPaymentPlan.cost(of: new)) { [self] database in
      try checkSize(in: database)
      var known: [Data: Data] = [:]
      for id in ProviderPaymentPlan.idsToLookUp(new) {
        known[id] = try Data.fetchOne(
          database.cachedStatement(sql: "SELECT sum FROM provider_ids WHERE id = ?"), arguments: [id])
      }
      let plan = ProviderPaymentPlan(new, known: known)
      for claim in plan.claims {
        try database.cachedStatement(sql: "INSERT INTO provider_ids (id, sum, until) VALUES (?, ?, ?)")
          .execute(arguments: [claim.id, claim.sum, claim.until])
      }
      for row in plan.rows { try insert(row, in: database) }
      return plan.acceptances
    }
  }

  private func insert(_ new: Ledger.NewProviderPayment, in database: Database) throws {
    let (at, state) = (timeStamp, new.state)
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
  }

  public func waitingProviderPayments(
    after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.ProviderPayment] {
    try await read { database in
      try database.cachedStatement(
        sql: "SELECT * FROM provider_payments WHERE finished_at IS NULL AND number > ? ORDER BY number LIMIT ?"
      ).all([number, limit], Ledger.ProviderPayment.init(row:))
    }
  }

  public func startAnnouncing(
    providerPayment number: Int64, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try check(seat, while: .changing)
    try await write(while: .changing) { database in
      try database.cachedStatement(sql: "UPDATE provider_payments SET starts = starts + 1 WHERE number = ?")
        .execute(arguments: [number])
    }
  }

  public func stopAnnouncing(
    providerPayment number: Int64, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try check(seat, while: .changing)
    try await write(while: .changing) { database in
      try database.cachedStatement(
        sql: "UPDATE provider_payments SET starts = 0 WHERE number = ? AND finished_at IS NULL"
      ).execute(arguments: [number])
    }
  }

  public func end(
    providerPayment number: Int64, refusal: String?, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try check(seat, while: .changing)
    try await write(while: .changing) { [self] database in
      let state: Ledger.ProviderPayment.State = refusal == nil ? .announced : .refused
      try database.cachedStatement(
        sql: """
          UPDATE provider_payments SET state = ?, reason = ?, payload = NULL, starts = 0, finished_at = ?
          WHERE number = ? AND finished_at IS NULL
          """
      ).execute(arguments: [state.rawValue, refusal, timeStamp, number])
    }
  }

  public func providerPayments(
    account: String, endpoint: String, limit: Int
  ) async throws(LedgerError) -> [Ledger.ProviderPayment] {
    try await read { database in
      try database.cachedStatement(
        sql: "SELECT * FROM provider_payments WHERE account = ? AND endpoint = ? ORDER BY number DESC LIMIT ?"
      ).all([account, endpoint, limit], Ledger.ProviderPayment.init(row:))
    }
  }
}
