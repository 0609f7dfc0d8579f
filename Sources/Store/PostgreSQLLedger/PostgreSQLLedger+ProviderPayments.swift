// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func accept(
    providerPayments new: [Ledger.NewProviderPayment]
  ) async throws(LedgerError) -> [Ledger.ProviderAcceptance] {
    try await write(while: .accepting, cost: ProviderPaymentPlan.cost(of: new)) { [self] session in
      let plan = try Self.claim(new, in: session)
      try insert(plan.rows, in: session)
      return plan.acceptances
    }
  }

  /// Decides about reports, and stores the identities of the new reports.
  ///
  /// A provider sends a report again, perhaps to another node and at the same moment. The unique index of identities
  /// decides which report is the first one. The identities are inserted in the order of their bytes, so that two
  /// requests with the same payments do not wait for each other in a circle.
  private static func claim(
    _ new: [Ledger.NewProviderPayment], in session: borrowing PostgreSQLSession
  ) throws -> ProviderPaymentPlan {
    while true {
      let looked = ProviderPaymentPlan.idsToLookUp(new)
      var known: [Data: Data] = [:]
      for row in try session.rows("SELECT id, sum FROM provider_ids WHERE id = ANY($1)", [.byteStrings(looked)]) {
        known[try row.read("id")] = try row.read("sum", as: Data.self)
      }
      let plan = ProviderPaymentPlan(new, known: known)
      if plan.claims.isEmpty { return plan }
      let claims = plan.claims.sorted { $0.id.lexicographicallyPrecedes($1.id) }
      try session.execute("SAVEPOINT claims")
      let count = try session.execute(
        """
        INSERT INTO provider_ids (id, sum, until)
        SELECT id, sum, until FROM unnest($1::bytea[], $2::bytea[], $3::bigint[]) WITH ORDINALITY
          AS new (id, sum, until, place) ORDER BY place
        ON CONFLICT DO NOTHING
        """,
        [.byteStrings(claims.map(\.id)), .byteStrings(claims.map(\.sum)), .int64s(claims.map(\.until))])
      if count == claims.count {
        try session.execute("RELEASE SAVEPOINT claims")
        return plan
      }
      // Another node was faster. Its identities are visible now, and change the decisions.
      try session.execute("ROLLBACK TO SAVEPOINT claims")
    }
  }

  private func insert(
    _ rows: [Ledger.NewProviderPayment], in session: borrowing PostgreSQLSession
  ) throws {
    if rows.isEmpty { return }
    let states = rows.map(\.state)
    try session.execute(
      """
      INSERT INTO provider_payments
        (account, endpoint, id, kind, amount, currency, payload, state, reason, received_at, finished_at)
      SELECT account, endpoint, id, kind, amount, currency, payload, state, reason, $1,
        CASE state WHEN 'waiting' THEN NULL ELSE $1 END
      FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::text[],
        $10::text[]) WITH ORDINALITY
        AS new (account, endpoint, id, kind, amount, currency, payload, state, reason, place)
      ORDER BY place
      """,
      [
        .int64(timeStamp), .strings(rows.map(\.account)), .strings(rows.map(\.endpoint)),
        .strings(rows.map { Self.storable($0.id) }), .strings(rows.map { Self.storable($0.kind) }),
        .strings(rows.map { Self.storable($0.amount) }), .strings(rows.map { Self.storable($0.currency) }),
        .byteStrings(rows.map(\.payload)), .strings(states.map(\.rawValue)),
        .strings(rows.map { Self.storable($0.refusal) }),
      ])
  }

  /// Returns a provider's text with each NUL replaced, because PostgreSQL cannot store a NUL. People read these texts,
  /// and nothing depends on them.
  private static func storable(_ text: String?) -> String? { text?.replacing("\0", with: "\u{FFFD}") }

  public func waitingProviderPayments(
    after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.ProviderPayment] {
    let last = try await settledNumber(of: .providerPayments).settled
    return try await read { session in
      try session.all(
        """
        SELECT \(Self.providerPaymentColumns) FROM provider_payments
        WHERE finished_at IS NULL AND number > $1 AND number <= $2 ORDER BY number LIMIT $3
        """, [.int64(number), .int64(last), .int64(Int64(max(limit, 0)))], Ledger.ProviderPayment.init(row:))
    }
  }

  public func startAnnouncing(
    providerPayment number: Int64, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try await write(while: .changing, under: seat) { session in
      try session.execute("UPDATE provider_payments SET starts = starts + 1 WHERE number = $1", [.int64(number)])
    }
  }

  public func stopAnnouncing(
    providerPayment number: Int64, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try await write(while: .changing, under: seat) { session in
      try session.execute(
        "UPDATE provider_payments SET starts = 0 WHERE number = $1 AND finished_at IS NULL", [.int64(number)])
    }
  }

  public func end(
    providerPayment number: Int64, refusal: String?, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    let state: Ledger.ProviderPayment.State = refusal == nil ? .announced : .refused
    try await write(while: .changing, under: seat) { [self] session in
      // If two nodes end the payment, the first one decides.
      try session.execute(
        """
        UPDATE provider_payments SET state = $1, reason = $2, payload = NULL, starts = 0, finished_at = $3
        WHERE number = $4 AND finished_at IS NULL
        """, [.string(state.rawValue), .string(refusal), .int64(timeStamp), .int64(number)])
    }
  }

  public func providerPayments(
    account: String, endpoint: String, limit: Int
  ) async throws(LedgerError) -> [Ledger.ProviderPayment] {
    if account.hasZero || endpoint.hasZero { return [] }
    return try await read { session in
      try session.all(
        """
        SELECT \(Self.providerPaymentColumns) FROM provider_payments
        WHERE account = $1 AND endpoint = $2 ORDER BY number DESC LIMIT $3
        """, [.string(account), .string(endpoint), .int64(Int64(max(limit, 0)))], Ledger.ProviderPayment.init(row:))
    }
  }

  private static let providerPaymentColumns = """
    number, account, endpoint, id, kind, amount, currency, payload, state, reason, starts, received_at, finished_at
    """
}
