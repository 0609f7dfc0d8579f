// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL
import WebhookMessages

// Storing the messages about events, in the transactions of the events.
extension PostgreSQLLedger {
  /// An endpoint that gets messages.
  private struct Endpoint {
    var number: Int64
    var account: String
    var kinds: Set<WebhookEvent.Kind>
    var format: WebhookEvent.Format
    /// The number of messages that wait for the endpoint.
    var waiting: Int64

    static let columns = """
      number, account, kinds, format, disabled_at,
      (SELECT coalesce(sum(waiting), 0)::bigint FROM webhook_counts WHERE endpoint = webhook_endpoints.number) AS waiting
      """

    init(row: PostgreSQLRow) throws {
      number = try row.read("number")
      account = try row.read("account")
      kinds = Set<WebhookEvent.Kind>(webhookKinds: try row.read("kinds"))
      format = WebhookEvent.Format(webhookFormat: try row.value("format"))
      waiting = try row.read("waiting")
    }
  }

  /// Puts messages about events into the outbox, in the order of the events: one for each endpoint of the account that
  /// is registered for it. The messages are stored in the transaction of the events themselves.
  ///
  /// An account without endpoints costs one look-up in an index.
  func tell(_ events: [(account: String, event: WebhookEvent)], in session: borrowing PostgreSQLSession) throws {
    let endpoints = try Self.endpoints(of: events.map(\.account), in: session)
    if endpoints.isEmpty { return }
    try tell(events, to: endpoints, in: session)
  }

  /// Returns the enabled endpoints of accounts.
  private static func endpoints(
    of accounts: [String], in session: borrowing PostgreSQLSession
  ) throws -> [Endpoint] {
    // Announcements of this machine belong to no account.
    let accounts = accounts.filter { !$0.isEmpty }
    if accounts.isEmpty { return [] }
    // The lock keeps an endpoint from being removed before its messages are stored. It does not make events of the
    // account wait for each other, nor for attempts to send. If another node disables the endpoint at this moment, the
    // message ends when its turn comes.
    return try session.all(
      """
      SELECT \(Endpoint.columns) FROM webhook_endpoints WHERE account = ANY($1) AND disabled_at IS NULL
      ORDER BY number FOR KEY SHARE
      """, [.strings(accounts)], Endpoint.init(row:))
  }

  /// - Parameter endpoints: The endpoints of the events' accounts, in the order of their numbers.
  /// - Returns: The ids of the messages that were stored.
  @discardableResult
  private func tell(
    _ events: [(account: String, event: WebhookEvent)], to endpoints: [Endpoint],
    in session: borrowing PostgreSQLSession
  ) throws -> [String] {
    var (ids, numbers, kinds, bodies): ([String], [Int64], [String], [Data]) = ([], [], [], [])
    var stored = [Int64](repeating: 0, count: endpoints.count)
    var missed = stored
    for (account, event) in events {
      for (place, endpoint) in endpoints.enumerated() where endpoint.account.bytes == account.bytes {
        guard event.kind == .ping || endpoint.kinds.contains(event.kind) else { continue }
        // Events that are stored at the same moment do not see each other's counts, so an endpoint may exceed the limit by
        // as many messages as there are connections.
        guard endpoint.waiting + stored[place] < Int64(Ledger.mostWaitingWebhooks) else {
          missed[place] += 1
          continue
        }
        stored[place] += 1
        ids.append(WebhookMessage.newID())
        numbers.append(endpoint.number)
        kinds.append(event.kind.rawValue)
        bodies.append(try event.body(endpoint.format))
      }
    }
    if !ids.isEmpty {
      try session.execute(
        """
        INSERT INTO webhooks (message_id, endpoint, kind, body, state, next_at, created_at)
        SELECT message_id, endpoint, kind, body, 'waiting', $1, $1
        FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bytea[]) WITH ORDINALITY
          AS new (message_id, endpoint, kind, body, place)
        ORDER BY place
        """,
        [.int64(timeStamp), .strings(ids), .int64s(numbers), .strings(kinds), .byteStrings(bodies)])
      newWebhooks.add(ids.count)
    }
    let changed = endpoints.indices.filter { stored[$0] > 0 || missed[$0] > 0 }
    if !changed.isEmpty {
      // The counts are locked in the order of the endpoints' numbers.
      try session.execute(
        """
        INSERT INTO webhook_counts (endpoint, shard, waiting, missed)
        SELECT endpoint, \(Schema.shard), waiting, missed
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS new (endpoint, waiting, missed) ORDER BY endpoint
        ON CONFLICT (endpoint, shard) DO UPDATE SET
          waiting = webhook_counts.waiting + excluded.waiting, missed = webhook_counts.missed + excluded.missed
        """,
        [
          .int64s(changed.map { endpoints[$0].number }), .int64s(changed.map { stored[$0] }),
          .int64s(changed.map { missed[$0] }),
        ])
    }
    return ids
  }

  /// Puts the messages about the ends of pushes into the outbox. A push that announces nothing is not an event.
  func tellEnds(ofPushes numbers: [Int64], in session: borrowing PostgreSQLSession) throws {
    var events: [(account: String, event: WebhookEvent)] = []
    for row in try session.rows(
      """
      SELECT account, announcement, device, state, reason, finished_at
      FROM unnest($1::bigint[]) WITH ORDINALITY AS ended (number, place) JOIN pushes USING (number)
      WHERE announcement IS NOT NULL ORDER BY place
      """, [.int64s(numbers)])
    {
      if let event = try WebhookEvent(endOfPush: row) { events.append((try row.read("account"), event)) }
    }
    try tell(events, in: session)
  }

  public func testWebhookEndpoint(account: String, id: String) async throws(LedgerError) -> Ledger.WebhookTest {
    if account.hasZero || id.hasZero { return .unknown }
    return try await write(while: .changingWebhooks, cost: 2048) { [self] session in
      let found = try session.first(
        "SELECT \(Endpoint.columns) FROM webhook_endpoints WHERE account = $1 AND id = $2 FOR KEY SHARE",
        [.string(account), .string(id)]
      ) { row in (endpoint: try Endpoint(row: row), disabledAt: try row.int64("disabled_at")) }
      guard let found else { return .unknown }
      guard found.disabledAt == nil else { return .disabled }
      let event = WebhookEvent(.ping, at: Date(wholeMilliseconds: timeStamp))
      let ids = try tell([(account, event)], to: [found.endpoint], in: session)
      return ids.first.map { .stored(messageID: $0) } ?? .tooManyWaiting
    }
  }
}
