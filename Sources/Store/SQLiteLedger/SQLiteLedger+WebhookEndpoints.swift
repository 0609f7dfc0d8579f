// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger
import WebhookMessages

extension SQLiteLedger {
  @discardableResult
  public func register(
    _ new: NewWebhookEndpoint, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.WebhookEndpoint {
    try refuse(new.brokenRule, while: .changingWebhooks)
    return try await write(while: .changingWebhooks, cost: 4096) { [self] database in
      try checkSize(in: database)
      let count = try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM webhook_endpoints WHERE account = ?"),
        arguments: [new.account])
      guard count ?? 0 < Ledger.mostWebhookEndpoints else {
        throw error(.tooManyWebhookEndpoints, while: .changingWebhooks)
      }
      try database.cachedStatement(
        sql: """
          INSERT INTO webhook_endpoints (id, account, url, secret, kinds, description, created_at, format)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
          """
      ).execute(arguments: [
        new.id, new.account, new.url.text, new.secret.text,
        new.kinds.webhookKinds, new.text, timeStamp,
        new.format.rawValue,
      ])
      guard database.changesCount == 1 else {
        throw error(.webhookEndpointExists, while: .changingWebhooks)
      }
      try record(.webhookEndpointRegistered, by: actor, subject: new.id, in: database)
      guard let endpoint = try Self.webhookEndpoint(new.account, new.id, in: database) else { throw UnreadableRow() }
      return endpoint
    }
  }

  public func webhookEndpoint(account: String, id: String) async throws(LedgerError) -> Ledger.WebhookEndpoint? {
    if account.hasZero || id.hasZero { return nil }
    return try await read { try Self.webhookEndpoint(account, id, in: $0) }
  }

  public func webhookEndpoints(account: String) async throws(LedgerError) -> [Ledger.WebhookEndpoint] {
    if account.hasZero { return [] }
    return try await read { database in
      try database.cachedStatement(sql: "SELECT * FROM webhook_endpoints WHERE account = ? ORDER BY number").all(
        [account], Ledger.WebhookEndpoint.init(row:))
    }
  }

  public func disabledWebhookEndpoints() async throws(LedgerError) -> [(account: String, count: Int, since: Date)] {
    try await read { database in
      try database.cachedStatement(
        sql: """
          SELECT account, count(*) AS count, min(disabled_at) AS since FROM webhook_endpoints
          WHERE disabled_at IS NOT NULL GROUP BY account ORDER BY account
          """
      ).all { row in
        (account: try row.value("account"), count: try row.value("count"), since: try row.value("since"))
      }
    }
  }

  public func enabledWebhookEndpoints() async throws(LedgerError) -> [(account: String, id: String)] {
    try await read { database in
      try database.cachedStatement(sql: "SELECT account, id FROM webhook_endpoints WHERE disabled_at IS NULL").all() {
        (account: try $0.value("account"), id: try $0.value("id"))
      }
    }
  }

  @discardableResult
  public func removeWebhookEndpoint(
    account: String, id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Bool {
    if account.hasZero || id.hasZero { return false }
    return try await write(while: .changingWebhooks) { [self] database in
      try database.cachedStatement(sql: "DELETE FROM webhook_endpoints WHERE account = ? AND id = ?")
        .execute(arguments: [account, id])
      guard database.changesCount > 0 else { return false }
      try record(.webhookEndpointRemoved, by: actor, subject: id, in: database)
      return true
    }
  }

  public func enableWebhookEndpoint(
    account: String, id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.WebhookEndpoint? {
    if account.hasZero || id.hasZero { return nil }
    return try await write(while: .changingWebhooks) { [self] database in
      try database.cachedStatement(
        sql: """
          UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
          WHERE account = ? AND id = ? AND disabled_at IS NOT NULL
          """
      ).execute(arguments: [account, id])
      if database.changesCount > 0 { try record(.webhookEndpointEnabled, by: actor, subject: id, in: database) }
      return try Self.webhookEndpoint(account, id, in: database)
    }
  }

  private static func webhookEndpoint(
    _ account: String, _ id: String, in database: Database
  ) throws -> Ledger.WebhookEndpoint? {
    try database.cachedStatement(sql: "SELECT * FROM webhook_endpoints WHERE account = ? AND id = ?").first(
      [account, id], Ledger.WebhookEndpoint.init(row:))
  }
}
