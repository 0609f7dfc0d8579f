// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

/// An event to be stored.
struct NewEvent {
  var kind: Ledger.Event.Kind
  var number: Int64?
  var lane: String
  var detail: [String: String] = [:]
}

extension PostgreSQLLedger {
  public func record(
    _ kind: Ledger.Event.Kind, lane: String, number: Int64?, detail: [String: String], passing sequence: Int64?
  ) async throws(LedgerError) {
    try checkLane(lane, while: .changing)
    try refuse(Ledger.brokenRule(ofDetail: detail), while: .changing)
    try await write(while: .changing) { [self] session in
      if let sequence { try Self.pass(sequence, lane: lane, in: session) }
      let event = NewEvent(kind: kind, number: number, lane: lane, detail: detail)
      try Self.append([event], at: timeStamp, in: session)
    }
  }

  /// Returns the events after a position, oldest first; see ``Schema/events`` for the order.
  ///
  /// A transaction that is still open may have earlier events than some that are visible. The call waits a moment for
  /// such transactions, so that a caller sees the events of its own earlier calls. What is not in order after that is
  /// left to a later call.
  public func events(
    after position: Int64, lane: String?, limit: Int
  ) async throws(LedgerError) -> [Ledger.Event] {
    if let lane { try checkLane(lane, while: .reading) }
    let end = ContinuousClock.now + options.patienceForOrder
    var horizon = Schema.horizon
    while true {
      let page = try await read { [horizon] session in
        try session.all(
          Self.events(ofLane: lane != nil, below: horizon),
          [.int64(position), Self.limit(limit)] + (lane.map { [.string($0)] } ?? [])
        ) { row in
          let isSettled: Bool = try row.read("settled")
          return (event: try Ledger.Event(row: row), isSettled: isSettled)
        }
      }
      let settled = page.prefix(while: \.isSettled)
      if settled.count == page.count || ContinuousClock.now >= end { return settled.map(\.event) }
      // PostgreSQL reports the end of another transaction to nobody, so the query is repeated until the limit.
      guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { return settled.map(\.event) }
      // The transaction that is open may be of another database.
      horizon = Schema.horizonOfDatabase
    }
  }

  /// The query for the events after $1, at most $2 of them, of the lane $3.
  private static func events(ofLane: Bool, below horizon: String) -> String {
    """
    SELECT events.*, position < first.open AS settled
    FROM events CROSS JOIN (SELECT base + (\(horizon) << 18) AS open FROM event_positions) AS first
    WHERE position > $1\(ofLane ? " AND lane = $3" : "") ORDER BY position LIMIT $2
    """
  }

  public func lastEventPosition() async throws(LedgerError) -> Int64 {
    try await read { session in try session.value(Self.lastPosition) ?? 0 }
  }

  /// Returns the highest position below the horizon. Every event that becomes visible later has a higher one.
  static let lastPosition = """
    SELECT greatest(pruned, (SELECT max(position) FROM events WHERE position < first.open)) AS value
    FROM (SELECT pruned, base + (\(Schema.horizonOfDatabase) << 18) AS open FROM event_positions) AS first
    """

  /// Stores events in their order, after the events that this transaction has stored already.
  static func append(_ events: [NewEvent], at: Int64, in session: borrowing PostgreSQLSession) throws {
    guard !events.isEmpty else { return }
    try session.execute(appending, try values(of: events, at: at))
  }

  /// The parameters of ``appending``.
  static func values(of events: [NewEvent], at: Int64) throws -> [PostgreSQLValue] {
    [
      .int64(at), .int64s(events.map(\.number)), .strings(events.map(\.lane)), .strings(events.map(\.kind.rawValue)),
      .strings(try events.map { try Ledger.json($0.detail) }),
    ]
  }

  // The last two conditions find the events of this transaction only: its range of positions is its own.
  static let appending = """
    WITH own AS MATERIALIZED (
      SELECT base + (\(Schema.thisTransaction) << 18) AS first FROM event_positions
    ), last AS MATERIALIZED (
      SELECT coalesce((SELECT max(position) FROM events WHERE position >= first AND position < first + (1 << 18)),
                      first - 1) AS position
      FROM own
    )
    INSERT INTO events (position, at, announcement, lane, kind, detail)
    SELECT last.position + new.place, $1, new.announcement, new.lane, new.kind, new.detail
    FROM last CROSS JOIN unnest($2::bigint[], $3::text[], $4::text[], $5::text[])
      WITH ORDINALITY AS new (announcement, lane, kind, detail, place)
    """

  /// Returns the highest position of all events, including pruned events.
  static let lastPositionOfAll = """
    SELECT greatest(pruned, (SELECT max(position) FROM events)) AS value FROM event_positions
    """

  /// Makes sure that new events get higher positions than all events that the database has.
  static func alignPositions(_ session: borrowing PostgreSQLSession) throws {
    // This transaction draws its number in the second statement, so the number is higher than that of every event which
    // the first statement sees. The second statement changes nothing unless the server counts from a lower number than
    // the server from which the database came.
    let last: Int64? = try session.value(lastPositionOfAll)
    guard let last else { throw UnreadableRow() }
    try session.execute(Schema.alignment, [.int64(last)])
  }
}
