// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger
import WebhookMessages

extension SQLiteLedger {
  public func webhookAttempts(
    account: String, endpoint: String
  ) async throws(LedgerError) -> [Ledger.KeptWebhookAttempt] {
    if account.hasZero || endpoint.hasZero { return [] }
    return try await read { database in
      try database.cachedStatement(
        sql: """
          SELECT webhook_attempts.* FROM webhook_attempts
          JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
          WHERE account = ? AND id = ? ORDER BY webhook_attempts.number DESC LIMIT ?
          """
      ).all([account, endpoint, Ledger.mostWebhookAttempts], Ledger.KeptWebhookAttempt.init(row:))
    }
  }

  /// Keeps an attempt, and forgets the oldest one if there are too many.
  static func note(
    _ attempt: Ledger.WebhookAttempt, at: Int64, ofWebhook number: Int64, to endpoint: Int64, in database: Database
  ) throws {
    try database.cachedStatement(
      sql: """
        INSERT INTO webhook_attempts (endpoint, at, outcome, status, milliseconds, message, kind)
        SELECT ?, ?, ?, ?, ?, message_id, kind FROM webhooks WHERE number = ?
        """
    ).execute(arguments: [
      endpoint, at, attempt.outcome.rawValue, attempt.status, max(0, attempt.milliseconds), number,
    ])
    try database.cachedStatement(
      sql: """
        DELETE FROM webhook_attempts WHERE endpoint = ?1 AND number <= (
          SELECT number FROM webhook_attempts WHERE endpoint = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
        """
    ).execute(arguments: [endpoint, Ledger.mostWebhookAttempts])
  }
}
