// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger
import WebhookMessages

extension SQLiteLedger {
  // MARK: - Telling

  /// Puts a message about an event into the outbox, for each endpoint of the account that is registered for it. The
  /// message is stored in the transaction of the event itself.
  ///
  /// An account without endpoints costs one look-up in an index.
  ///
  /// - Parameter event: The event; nil if the account gets no message.
  func tell(_ event: WebhookEvent?, of account: String, in database: Database) throws {
    // Announcements of this machine belong to no account.
    guard let event, !account.isEmpty else { return }
    let endpoints = try Row.fetchAll(
      database.cachedStatement(
        sql: "SELECT number, kinds, waiting, format FROM webhook_endpoints WHERE account = ? AND disabled_at IS NULL"),
      arguments: [account])
    for endpoint in endpoints {
      guard try Set<WebhookEvent.Kind>(webhookKinds: endpoint.value("kinds")).contains(event.kind) else { continue }
      try tell(event, to: endpoint, in: database)
    }
  }

  /// - Parameter row: The columns `number`, `waiting` and `format` of the endpoint.
  /// - Returns: The message's id; nil if too many messages wait for the endpoint.
  @discardableResult
  private func tell(_ event: WebhookEvent, to row: Row, in database: Database) throws -> String? {
    let endpoint: Int64 = try row.value("number")
    let waiting: Int = try row.value("waiting")
    let format = WebhookEvent.Format(webhookFormat: try row.value("format"))
    guard waiting < Ledger.mostWaitingWebhooks else {
      try database.cachedStatement(sql: "UPDATE webhook_endpoints SET missed = missed + 1 WHERE number = ?")
        .execute(arguments: [endpoint])
      return nil
    }
    let id = WebhookMessage.newID()
    let at = timeStamp
    try database.cachedStatement(
      sql: """
        INSERT INTO webhooks (message_id, endpoint, kind, body, state, next_at, created_at)
        VALUES (?1, ?2, ?3, ?4, 'waiting', ?5, ?5)
        """
    ).execute(arguments: [id, endpoint, event.kind.rawValue, try event.body(format), at])
    try database.cachedStatement(sql: "UPDATE webhook_endpoints SET waiting = waiting + 1 WHERE number = ?")
      .execute(arguments: [endpoint])
    return id
  }

  /// Puts the messages about the end of a push into the outbox. A push that announces nothing is not an event.
  func tellEnd(ofPush number: Int64, in database: Database) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: "SELECT account, announcement, device, state, reason, finished_at FROM pushes WHERE number = ?"),
      arguments: [number])
    guard let row else { return }
    try tell(WebhookEvent(endOfPush: row), of: try row.value("account"), in: database)
  }

  public func testWebhookEndpoint(account: String, id: String) async throws(LedgerError) -> Ledger.WebhookTest {
    if account.hasZero || id.hasZero { return .unknown }
    return try await write(while: .changingWebhooks, cost: 2048) { [self] database in
      try checkSize(in: database)
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: "SELECT number, waiting, format, disabled_at FROM webhook_endpoints WHERE account = ? AND id = ?"),
        arguments: [account, id])
      guard let row else { return .unknown }
      guard try row.int64("disabled_at") == nil else { return .disabled }
      let message = try tell(WebhookEvent(.ping, at: Date(wholeMilliseconds: timeStamp)), to: row, in: database)
      return message.map { .stored(messageID: $0) } ?? .tooManyWaiting
    }
  }

  // MARK: - Sending

  public func unfinishedWebhooks(
    after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.UnfinishedWebhook] {
    try await read(isLong: true) { database in
      try database.cachedStatement(
        sql: """
          SELECT number, endpoint, next_at, coalesce(attempted_at, created_at) AS computed_at, first_attempt_at, starts
          FROM webhooks WHERE finished_at IS NULL AND number > ? ORDER BY number LIMIT ?
          """
      ).all([number, Ledger.limit(limit, most: 10_000)], Ledger.UnfinishedWebhook.init(row:))
    }
  }

  public func startSending(
    webhooks numbers: [Int64], under seat: DeliverySeat?
  ) async throws(LedgerError) -> [Ledger.WebhookToSend] {
    try check(seat, while: .changingWebhooks)
    return try await write(while: .changingWebhooks) { database in
      try numbers.compactMap { number in
        let row = try Row.fetchOne(
          database.cachedStatement(
            sql: """
              SELECT webhooks.*, account, url, secret, webhook_endpoints.id AS endpoint_id
              FROM webhooks JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
              WHERE webhooks.number = ? AND finished_at IS NULL
              """),
          arguments: [number])
        guard let row else { return nil }
        try database.cachedStatement(sql: "UPDATE webhooks SET starts = starts + 1 WHERE number = ?")
          .execute(arguments: [number])
        return try Ledger.WebhookToSend(row: row)
      }
    }
  }

  public func stopSending(webhook number: Int64, under seat: DeliverySeat?) async throws(LedgerError) {
    try check(seat, while: .changingWebhooks)
    try await write(while: .changingWebhooks) { database in
      try database.cachedStatement(sql: "UPDATE webhooks SET starts = 0 WHERE number = ?").execute(arguments: [number])
    }
  }

  public func record(
    _ attempt: Ledger.WebhookAttempt, ofWebhook number: Int64, under seat: DeliverySeat?
  ) async throws(LedgerError) -> Ledger.WebhookRecord? {
    try check(seat, while: .changingWebhooks)
    return try await write(while: .changingWebhooks) { [self] database in
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT endpoint, first_attempt_at, delivered_at, failing_since
            FROM webhooks JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
            WHERE webhooks.number = ? AND finished_at IS NULL
            """),
        arguments: [number])
      guard let row else { return nil }
      let endpoint: Int64 = try row.value("endpoint")
      let at = timeStamp
      let verdict = attempt.verdict(
        at: at, firstAttemptAt: try row.optional("first_attempt_at"), deliveredAt: try row.optional("delivered_at"),
        failingSince: try row.optional("failing_since"))
      let isFinal = verdict.state != .waiting
      try database.cachedStatement(
        sql: """
          UPDATE webhooks SET state = ?, outcome = ?, attempts = attempts + 1, starts = 0, first_attempt_at = ?,
            attempted_at = ?, next_at = coalesce(?, next_at), finished_at = ?
          WHERE number = ?
          """
      ).execute(arguments: [
        verdict.state.rawValue, attempt.outcome.rawValue, verdict.firstAttemptAt, verdict.startedAt,
        attempt.nextAt?.wholeMilliseconds, isFinal ? at : nil, number,
      ])
      try database.cachedStatement(
        sql: """
          UPDATE webhook_endpoints SET
            delivered_at = coalesce(?, delivered_at), failing_since = ?, last_outcome = ?, last_attempt_at = ?
          WHERE number = ?
          """
      ).execute(arguments: [
        verdict.state == .delivered ? at : nil, verdict.failingSince, attempt.outcome.rawValue, verdict.startedAt,
        endpoint,
      ])
      try Self.note(attempt, at: verdict.startedAt, ofWebhook: number, to: endpoint, in: database)
      if isFinal { try count(verdict.state, 1, of: endpoint, in: database) }
      guard let disabled = verdict.disabled else {
        return Ledger.WebhookRecord(state: verdict.state, disabled: nil, expired: [])
      }
      try database.cachedStatement(
        sql: "UPDATE webhook_endpoints SET disabled_at = ?, disabled_reason = ? WHERE number = ?"
      ).execute(arguments: [at, disabled.rawValue, endpoint])
      let expired = try expireWebhooks(of: endpoint, at: at, in: database)
      return Ledger.WebhookRecord(state: verdict.state, disabled: disabled, expired: expired)
    }
  }

  /// Ends the unfinished messages of an endpoint.
  private func expireWebhooks(of endpoint: Int64, at: Int64, in database: Database) throws -> [Int64] {
    let numbers = try Int64.fetchAll(
      database.cachedStatement(
        sql: "SELECT number FROM webhooks WHERE endpoint = ? AND finished_at IS NULL ORDER BY number"),
      arguments: [endpoint])
    let update = try database.cachedStatement(
      sql: "UPDATE webhooks SET state = 'expired', finished_at = ? WHERE number = ?")
    for number in numbers { try update.execute(arguments: [at, number]) }
    try count(.expired, numbers.count, of: endpoint, in: database)
    return numbers
  }

  /// Counts messages that have ended.
  private func count(_ state: Ledger.Webhook.State, _ count: Int, of endpoint: Int64, in database: Database) throws {
    // The names of the final states are names of columns too.
    try database.cachedStatement(
      sql: """
        UPDATE webhook_endpoints SET waiting = waiting - ?1, \(state.rawValue) = \(state.rawValue) + ?1
        WHERE number = ?2
        """
    ).execute(arguments: [count, endpoint])
  }

  public func webhooks(account: String, endpoint: String, limit: Int) async throws(LedgerError) -> [Ledger.Webhook] {
    if account.hasZero || endpoint.hasZero { return [] }
    return try await read(isLong: true) { database in
      try database.cachedStatement(
        sql: """
          SELECT webhooks.* FROM webhooks JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
          WHERE account = ? AND id = ? ORDER BY webhooks.number LIMIT ?
          """
      ).all([account, endpoint, Ledger.limit(limit)], Ledger.Webhook.init(row:))
    }
  }
}
