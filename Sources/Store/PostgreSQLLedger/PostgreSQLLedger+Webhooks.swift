// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL
import WebhookMessages

// A transaction that changes messages locks the rows of their endpoints first, as the removal of an endpoint does, so that
// nobody waits in a circle.
extension PostgreSQLLedger {
  public func unfinishedWebhooks(
    after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.UnfinishedWebhook] {
    let last = try await settledNumber(of: .webhooks, isLong: true).settled
    return try await read(isLong: true) { session in
      try session.all(
        """
        SELECT number, endpoint, next_at, coalesce(attempted_at, created_at) AS computed_at, first_attempt_at, starts
        FROM webhooks WHERE finished_at IS NULL AND number > $1 AND number <= $2 ORDER BY number LIMIT $3
        """, [.int64(number), .int64(last), Self.limit(limit, most: 10_000)], Ledger.UnfinishedWebhook.init(row:))
    }
  }

  public func startSending(
    webhooks numbers: [Int64], under seat: DeliverySeat?
  ) async throws(LedgerError) -> [Ledger.WebhookToSend] {
    try await write(while: .changingWebhooks, under: seat) { [self] session in
      try session.execute(
        """
        SELECT number FROM webhook_endpoints WHERE number IN (SELECT endpoint FROM webhooks WHERE number = ANY($1))
        ORDER BY number FOR KEY SHARE
        """, [.int64s(numbers)])
      try session.execute(
        "SELECT number FROM webhooks WHERE number = ANY($1) AND finished_at IS NULL ORDER BY number FOR NO KEY UPDATE",
        [.int64s(numbers)])
      try expireForgotten(among: numbers, in: session)
      let started = try session.all(
        """
        UPDATE webhooks SET starts = starts + 1 FROM webhook_endpoints
        WHERE webhooks.number = ANY($1) AND finished_at IS NULL AND webhook_endpoints.number = endpoint
        RETURNING webhooks.number, message_id, body, account, webhook_endpoints.id AS endpoint_id, url, secret, attempts
        """, [.int64s(numbers)], Ledger.WebhookToSend.init(row:))
      let byNumber = Dictionary(started.map { ($0.number, $0) }) { first, _ in first }
      return numbers.compactMap { byNumber[$0] }
    }
  }

  /// Ends messages that were stored while another node disabled their endpoints. The caller has locked the messages and
  /// the endpoints.
  private func expireForgotten(among numbers: [Int64], in session: borrowing PostgreSQLSession) throws {
    let endpoints = try session.all(
      """
      UPDATE webhooks SET state = 'expired', finished_at = $2 FROM webhook_endpoints
      WHERE webhooks.number = ANY($1) AND finished_at IS NULL AND webhook_endpoints.number = endpoint
        AND disabled_at IS NOT NULL
      RETURNING endpoint
      """, [.int64s(numbers), .int64(timeStamp)]
    ) { row in try row.read("endpoint", as: Int64.self) }
    for endpoint in Set(endpoints).sorted() {
      try Self.count(.expired, Int64(endpoints.count { $0 == endpoint }), of: endpoint, in: session)
    }
  }

  public func stopSending(webhook number: Int64, under seat: DeliverySeat?) async throws(LedgerError) {
    try await write(while: .changingWebhooks, under: seat) { session in
      try session.execute("UPDATE webhooks SET starts = 0 WHERE number = $1", [.int64(number)])
    }
  }

  public func record(
    _ attempt: Ledger.WebhookAttempt, ofWebhook number: Int64, under seat: DeliverySeat?
  ) async throws(LedgerError) -> Ledger.WebhookRecord? {
    try await write(while: .changingWebhooks, under: seat) { [self] session in
      // Attempts to an endpoint are recorded one after another, because each one depends on the times of the others.
      let times = try session.first(
        """
        SELECT number, delivered_at, failing_since FROM webhook_endpoints
        WHERE number = (SELECT endpoint FROM webhooks WHERE number = $1) FOR NO KEY UPDATE
        """, [.int64(number)]
      ) { row in
        (
          endpoint: try row.read("number", as: Int64.self), deliveredAt: try row.read("delivered_at", as: Int64?.self),
          failingSince: try row.read("failing_since", as: Int64?.self)
        )
      }
      guard let times else { return nil }
      let firstAttempt = try session.first(
        "SELECT first_attempt_at FROM webhooks WHERE number = $1 AND finished_at IS NULL FOR NO KEY UPDATE",
        [.int64(number)]
      ) { row in try row.read("first_attempt_at", as: Int64?.self) }
      guard let firstAttempt else { return nil }
      let at = timeStamp
      let verdict = attempt.verdict(
        at: at, firstAttemptAt: firstAttempt, deliveredAt: times.deliveredAt, failingSince: times.failingSince)
      let isFinal = verdict.state != .waiting
      try session.execute(
        """
        UPDATE webhooks SET state = $1, outcome = $2, attempts = attempts + 1, starts = 0, first_attempt_at = $3,
          attempted_at = $4, next_at = coalesce($5, next_at), finished_at = $6
        WHERE number = $7
        """,
        [
          .string(verdict.state.rawValue), .string(attempt.outcome.rawValue), .int64(verdict.firstAttemptAt),
          .int64(verdict.startedAt),
          .int64(attempt.nextAt?.wholeMilliseconds), .int64(isFinal ? at : nil), .int64(number),
        ])
      try session.execute(
        """
        UPDATE webhook_endpoints SET delivered_at = coalesce($1, delivered_at), failing_since = $2, last_outcome = $3,
          last_attempt_at = $4
        WHERE number = $5
        """,
        [
          .int64(verdict.state == .delivered ? at : nil), .int64(verdict.failingSince),
          .string(attempt.outcome.rawValue),
          .int64(verdict.startedAt), .int64(times.endpoint),
        ])
      try Self.note(attempt, at: verdict.startedAt, ofWebhook: number, to: times.endpoint, in: session)
      var expired: [Int64] = []
      if let disabled = verdict.disabled {
        try session.execute(
          "UPDATE webhook_endpoints SET disabled_at = $1, disabled_reason = $2 WHERE number = $3",
          [.int64(at), .string(disabled.rawValue), .int64(times.endpoint)])
        expired = try Self.expireWebhooks(of: times.endpoint, at: at, in: session)
      }
      // The counts come last, because transactions that store messages lock them last.
      if isFinal { try Self.count(verdict.state, 1, of: times.endpoint, in: session) }
      if !expired.isEmpty { try Self.count(.expired, Int64(expired.count), of: times.endpoint, in: session) }
      return Ledger.WebhookRecord(state: verdict.state, disabled: verdict.disabled, expired: expired)
    }
  }

  /// Ends the unfinished messages of an endpoint. The caller counts the messages.
  private static func expireWebhooks(
    of endpoint: Int64, at: Int64, in session: borrowing PostgreSQLSession
  ) throws -> [Int64] {
    let numbers = try session.all(
      """
      SELECT number FROM webhooks WHERE endpoint = $1 AND finished_at IS NULL ORDER BY number FOR NO KEY UPDATE
      """, [.int64(endpoint)]
    ) { row in try row.read("number", as: Int64.self) }
    if numbers.isEmpty { return [] }
    try session.execute(
      "UPDATE webhooks SET state = 'expired', finished_at = $1 WHERE number = ANY($2)",
      [.int64(at), .int64s(numbers)])
    return numbers
  }

  /// Counts messages that have ended.
  private static func count(
    _ state: Ledger.Webhook.State, _ count: Int64, of endpoint: Int64, in session: borrowing PostgreSQLSession
  ) throws {
    // The names of the final states are names of columns too.
    let column = state.rawValue
    try session.execute(
      """
      INSERT INTO webhook_counts (endpoint, shard, waiting, \(column)) VALUES ($1, \(Schema.shard), -$2::bigint, $2)
      ON CONFLICT (endpoint, shard) DO UPDATE SET
        waiting = webhook_counts.waiting + excluded.waiting, \(column) = webhook_counts.\(column) + excluded.\(column)
      """, [.int64(endpoint), .int64(count)])
  }

  public func webhooks(
    account: String, endpoint: String, limit: Int
  ) async throws(LedgerError) -> [Ledger.Webhook] {
    if account.hasZero || endpoint.hasZero { return [] }
    return try await read(isLong: true) { session in
      try session.all(
        """
        SELECT webhooks.number, message_id, body, kind, state, outcome, attempts, webhooks.created_at, finished_at
        FROM webhooks JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
        WHERE account = $1 AND id = $2 ORDER BY webhooks.number LIMIT $3
        """, [.string(account), .string(endpoint), Self.limit(limit)], Ledger.Webhook.init(row:))
    }
  }

  // MARK: - Attempts

  public func webhookAttempts(
    account: String, endpoint: String
  ) async throws(LedgerError) -> [Ledger.KeptWebhookAttempt] {
    if account.hasZero || endpoint.hasZero { return [] }
    return try await read { session in
      try session.all(
        """
        SELECT at, outcome, status, milliseconds, message, kind FROM webhook_attempts
        JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
        WHERE account = $1 AND id = $2 ORDER BY webhook_attempts.number DESC LIMIT $3
        """, [.string(account), .string(endpoint), .int64(Int64(Ledger.mostWebhookAttempts))],
        Ledger.KeptWebhookAttempt.init(row:))
    }
  }

  /// Keeps an attempt, and forgets the oldest one if there are too many. The caller has locked the endpoint.
  private static func note(
    _ attempt: Ledger.WebhookAttempt, at: Int64, ofWebhook number: Int64, to endpoint: Int64,
    in session: borrowing PostgreSQLSession
  ) throws {
    try session.execute(
      """
      INSERT INTO webhook_attempts (endpoint, at, outcome, status, milliseconds, message, kind)
      SELECT $1, $2, $3, $4, $5, message_id, kind FROM webhooks WHERE number = $6
      """,
      [
        .int64(endpoint), .int64(at), .string(attempt.outcome.rawValue), .int64(attempt.status.map(Int64.init)),
        .int64(Int64(max(0, attempt.milliseconds))), .int64(number),
      ])
    try session.execute(
      """
      DELETE FROM webhook_attempts WHERE endpoint = $1 AND number <= (
        SELECT number FROM webhook_attempts WHERE endpoint = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)
      """, [.int64(endpoint), .int64(Int64(Ledger.mostWebhookAttempts))])
  }
}
