// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL
import WebhookMessages

extension PostgreSQLLedger {
  @discardableResult
  public func register(
    _ new: NewWebhookEndpoint, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.WebhookEndpoint {
    try refuse(new.brokenRule, while: .changingWebhooks)
    return try await write(while: .changingWebhooks, cost: 4096) { [self] session in
      // Until the commit, no other node adds an endpoint to the account.
      try session.lock(.webhookEndpoints, new.account)
      let count: Int64? = try session.value(
        "SELECT count(*) AS value FROM webhook_endpoints WHERE account = $1", [.string(new.account)])
      guard count ?? 0 < Int64(Ledger.mostWebhookEndpoints) else {
        throw error(.tooManyWebhookEndpoints, while: .changingWebhooks)
      }
      let added = try session.execute(
        """
        INSERT INTO webhook_endpoints (id, account, url, secret, kinds, description, created_at, format)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
        """,
        [
          .string(new.id), .string(new.account), .string(new.url.text), .string(new.secret.text),
          .string(new.kinds.webhookKinds), .string(new.text), .int64(timeStamp),
          .int64(Int64(new.format.rawValue)),
        ])
      guard added == 1 else { throw error(.webhookEndpointExists, while: .changingWebhooks) }
      let endpoint = try Self.webhookEndpoint(new.account, new.id, in: session)
      guard let endpoint else { throw UnreadableRow() }
      try record(.webhookEndpointRegistered, by: actor, subject: new.id, in: session)
      return endpoint
    }
  }

  public func webhookEndpoint(account: String, id: String) async throws(LedgerError) -> Ledger.WebhookEndpoint? {
    if account.hasZero || id.hasZero { return nil }
    return try await read { try Self.webhookEndpoint(account, id, in: $0) }
  }

  public func webhookEndpoints(account: String) async throws(LedgerError) -> [Ledger.WebhookEndpoint] {
    if account.hasZero { return [] }
    return try await read { session in
      try session.all(
        "\(Self.selectEndpoints) WHERE account = $1 ORDER BY number", [.string(account)],
        Ledger.WebhookEndpoint.init(row:))
    }
  }

  public func disabledWebhookEndpoints() async throws(LedgerError) -> [(account: String, count: Int, since: Date)] {
    try await read { session in
      try session.all(Self.disabledEndpoints) { row in
        (account: try row.read("account"), count: try row.value("count"), since: try row.value("since"))
      }
    }
  }

  static let disabledEndpoints = """
    SELECT account, count(*) AS count, min(disabled_at) AS since FROM webhook_endpoints
    WHERE disabled_at IS NOT NULL GROUP BY account ORDER BY account
    """

  public func enabledWebhookEndpoints() async throws(LedgerError) -> [(account: String, id: String)] {
    try await read { session in
      try session.all("SELECT account, id FROM webhook_endpoints WHERE disabled_at IS NULL ORDER BY number") { row in
        (account: try row.read("account"), id: try row.read("id"))
      }
    }
  }

  @discardableResult
  public func removeWebhookEndpoint(
    account: String, id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Bool {
    if account.hasZero || id.hasZero { return false }
    return try await write(while: .changingWebhooks) { [self] session in
      // Transactions that store or send messages to the endpoint have locked its row, so this statement waits for these
      // transactions. The messages are removed with the row.
      let count = try session.execute(
        "DELETE FROM webhook_endpoints WHERE account = $1 AND id = $2", [.string(account), .string(id)])
      guard count > 0 else { return false }
      try record(.webhookEndpointRemoved, by: actor, subject: id, in: session)
      return true
    }
  }

  public func enableWebhookEndpoint(
    account: String, id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.WebhookEndpoint? {
    if account.hasZero || id.hasZero { return nil }
    return try await write(while: .changingWebhooks) { [self] session in
      let count = try session.execute(
        """
        UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
        WHERE account = $1 AND id = $2 AND disabled_at IS NOT NULL
        """, [.string(account), .string(id)])
      if count > 0 { try record(.webhookEndpointEnabled, by: actor, subject: id, in: session) }
      return try Self.webhookEndpoint(account, id, in: session)
    }
  }

  private static func webhookEndpoint(
    _ account: String, _ id: String, in session: borrowing PostgreSQLSession
  ) throws -> Ledger.WebhookEndpoint? {
    try session.first(
      "\(selectEndpoints) WHERE account = $1 AND id = $2", [.string(account), .string(id)],
      Ledger.WebhookEndpoint.init(row:))
  }

  private static let selectEndpoints = """
    SELECT account, id, url, kinds, description, format, created_at, delivered_at, failing_since, last_outcome,
      last_attempt_at, disabled_at, disabled_reason, waiting, delivered, failed, expired, missed
    FROM webhook_endpoints CROSS JOIN LATERAL (
      SELECT coalesce(sum(waiting), 0)::bigint AS waiting, coalesce(sum(delivered), 0)::bigint AS delivered,
        coalesce(sum(failed), 0)::bigint AS failed, coalesce(sum(expired), 0)::bigint AS expired,
        coalesce(sum(missed), 0)::bigint AS missed
      FROM webhook_counts WHERE endpoint = webhook_endpoints.number) AS counts
    """
}
