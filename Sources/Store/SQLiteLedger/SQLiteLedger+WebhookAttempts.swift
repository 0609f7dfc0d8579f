// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import WebhookMessages

extension Ledger {
  /// The number of attempts that the ledger keeps for each endpoint.
  public static let mostWebhookAttempts = 20

  /// An attempt to send a message to an endpoint, as the ledger keeps it.
  public struct KeptWebhookAttempt: Sendable, Hashable {
    public let at: Date
    public let outcome: WebhookOutcome
    /// The status of the receiver's answer; nil if there was none.
    public let status: Int?
    public let milliseconds: Int
    /// The id of the message, as in its header `webhook-id`; nil for an attempt that an earlier version made.
    public let message: String?
    /// The type of the event in the message; nil for an attempt that an earlier version made.
    public let kind: WebhookEvent.Kind?
  }

  /// Returns the latest attempts to an endpoint, newest first.
  public func webhookAttempts(account: String, endpoint: String) async throws(LedgerError) -> [KeptWebhookAttempt] {
    if account.hasZero || endpoint.hasZero { return [] }
    return try await read { database in
      try database.cachedStatement(
        sql: """
          SELECT webhook_attempts.* FROM webhook_attempts
          JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
          WHERE account = ? AND id = ? ORDER BY webhook_attempts.number DESC LIMIT ?
          """
      ).all([account, endpoint, Self.mostWebhookAttempts]) { row in
        KeptWebhookAttempt(
          at: Date(wholeMilliseconds: try row.value("at")), outcome: try row.name("outcome"),
          status: try row.optional("status"),
          milliseconds: try row.value("milliseconds"), message: try row.optional("message"),
          kind: (try row.optional("kind") as String?).flatMap(WebhookEvent.Kind.init))
      }
    }
  }

  /// Keeps an attempt, and forgets the oldest one if there are too many.
  static func note(
    _ attempt: WebhookAttempt, at: Int64, ofWebhook number: Int64, to endpoint: Int64, in database: Database
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
    ).execute(arguments: [endpoint, mostWebhookAttempts])
  }
}
