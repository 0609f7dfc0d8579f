// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL
import PushMessages

extension PostgreSQLLedger {
  // MARK: - Accepting

  @discardableResult
  public func accept(
    _ pushes: [NewPush], account: String, under seat: DeliverySeat?
  ) async throws(LedgerError) -> [Int64] {
    try refuse(NewPush.brokenRule(ofAccount: account), while: .pushing)
    return try await write(while: .pushing, under: seat, cost: 5_000 * pushes.count) { [self] session in
      try insert(pushes, account: account, announcement: nil, in: session)
    }
  }

  /// Puts pushes into the outbox. Pushes to devices that the account does not have are left out. If the announcement was
  /// pushed before, nothing is stored.
  ///
  /// - Returns: The numbers of the pushes, in their order.
  func insert(
    _ pushes: [NewPush], account: String, announcement: String?, in session: borrowing PostgreSQLSession
  ) throws -> [Int64] {
    for push in pushes { try refuse(push.brokenRule, while: .pushing) }
    if pushes.isEmpty { return [] }
    // The lock keeps the devices from being removed, and for alerts, it makes the sequence of each device gapless: the
    // row stays locked until the commit. Rows are locked in one order, because two announcements may go to the same
    // devices.
    let takesSequences = pushes.contains { $0.kind == .alert }
    var devices: [Data: (app: String, environment: String, last: Int64)] = [:]
    for row in try session.rows(
      """
      SELECT id, app, environment, last_sequence FROM devices WHERE account = $1 AND id = ANY($2)
      ORDER BY id FOR \(takesSequences ? "NO KEY UPDATE" : "KEY SHARE")
      """, [.string(account), .strings(pushes.map(\.device))])
    {
      let id: String = try row.read("id")
      devices[id.bytes] = (try row.read("app"), try row.read("environment"), try row.read("last_sequence"))
    }
    // Another node may have pushed the same announcement while this one waited for the devices.
    if let announcement, try Self.isPushed(account: account, announcement: announcement, in: session) { return [] }
    var rows = NewPushRows()
    var counts: [Data: Int64] = [:]
    for push in pushes {
      guard let device = devices[push.device.bytes] else { continue }
      var sequence: Int64?
      if push.kind == .alert {
        counts[push.device.bytes, default: 0] += 1
        sequence = device.last + (counts[push.device.bytes] ?? 0)
      }
      let body = push.body.bytes(sequence: sequence)
      try refuse(NewPush.brokenRule(ofBody: body), while: .pushing)
      rows.add(push, app: device.app, environment: device.environment, sequence: sequence, body: body)
    }
    if !counts.isEmpty {
      try session.execute(
        """
        UPDATE devices SET last_sequence = last_sequence + taken.count
        FROM unnest($2::text[], $3::bigint[]) AS taken (id, count) WHERE account = $1 AND devices.id = taken.id
        """,
        [
          .string(account), .strings(counts.keys.map { String(decoding: $0, as: UTF8.self) }),
          .int64s(Array(counts.values)),
        ])
    }
    return try session.all(
      """
      INSERT INTO pushes
        (apns_id, account, device, announcement, kind, app, environment, sequence, priority, collapse_id, body, clip,
         state, created_at, expires_at)
      SELECT apns_id, $1, device, $2, kind, app, environment, sequence, priority, collapse_id, body, clip, 'waiting', $3,
        expires_at
      FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::text[],
        $12::bytea[], $13::text[], $14::bigint[]) WITH ORDINALITY
        AS new (apns_id, device, kind, app, environment, sequence, priority, collapse_id, body, clip, expires_at, place)
      ORDER BY place RETURNING number
      """, [.string(account), .string(announcement), .int64(timeStamp)] + rows.values
    ) { row in try row.read("number") }
  }

  /// Returns whether an announcement was ever pushed. If it was, another request with its id does not push it again.
  static func isPushed(
    account: String, announcement: String, in session: borrowing PostgreSQLSession
  ) throws -> Bool {
    try session.value(
      "SELECT EXISTS (SELECT 1 FROM pushes WHERE account = $1 AND announcement = $2) AS value",
      [.string(account), .string(announcement)]) ?? false
  }

  /// Returns which of the announcements were ever pushed.
  static func pushed(
    _ account: String, _ ids: [String], in session: borrowing PostgreSQLSession
  ) throws -> Set<String> {
    Set(
      try session.all(
        """
        SELECT id FROM unnest($2::text[]) AS wanted (id)
        WHERE (SELECT true FROM pushes WHERE account = $1 AND announcement = wanted.id LIMIT 1)
        """, [.string(account), .strings(ids)]
      ) { row in try row.read("id", as: String.self) })
  }

  // MARK: - Sending

  public func unfinishedPushes(
    after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.UnfinishedPush] {
    let last = try await settledNumber(of: .pushes, isLong: true).settled
    return try await read(isLong: true) { session in
      try session.all(
        """
        SELECT number, account, device, announcement, app, environment, kind, created_at, expires_at, reason, state,
          starts
        FROM pushes WHERE finished_at IS NULL AND number > $1 AND number <= $2 ORDER BY number LIMIT $3
        """, [.int64(number), .int64(last), Self.limit(limit, most: 10_000)], Ledger.UnfinishedPush.init(row:))
    }
  }

  public func startSending(
    _ numbers: [Int64], under seat: DeliverySeat?
  ) async throws(LedgerError) -> [(push: Ledger.Push, token: String?)] {
    try await write(while: .pushing, under: seat) { session in
      try Self.lockUnfinished(numbers, in: session)
      let started = try session.all(
        """
        UPDATE pushes SET state = 'sending', attempts = attempts + 1, starts = starts + 1
        WHERE number = ANY($1) AND finished_at IS NULL RETURNING \(Self.pushColumns)
        """, [.int64s(numbers)], Ledger.Push.init(row:))
      let byNumber = Dictionary(started.map { ($0.number, $0) }) { first, _ in first }
      let pushes = numbers.compactMap { byNumber[$0] }
      let tokens = try Self.tokens(for: pushes, in: session)
      let others = pushes.filter { push in
        tokens[push.number].map { $0.kind.rawValue != push.kind.rawValue } ?? false
      }
      if !others.isEmpty {
        try session.execute(
          """
          UPDATE pushes SET token_kind = used.kind FROM unnest($1::bigint[], $2::text[]) AS used (number, kind)
          WHERE pushes.number = used.number
          """,
          [.int64s(others.map(\.number)), .strings(others.map { tokens[$0.number]?.kind.rawValue })])
      }
      return pushes.map { ($0, tokens[$0.number]?.text) }
    }
  }

  /// Locks unfinished pushes. Several nodes may work on the same pushes, so all lock them in the same order.
  private static func lockUnfinished(_ numbers: [Int64], in session: borrowing PostgreSQLSession) throws {
    try session.execute(
      "SELECT number FROM pushes WHERE number = ANY($1) AND finished_at IS NULL ORDER BY number FOR NO KEY UPDATE",
      [.int64s(numbers)])
  }

  /// Returns the tokens that pushes go to, by the numbers of the pushes.
  private static func tokens(
    for pushes: [Ledger.Push], in session: borrowing PostgreSQLSession
  ) throws -> [Int64: (kind: PushTokenKind, text: String)] {
    let names = pushes.map { (account: $0.account, id: $0.device) }
    // A device that several pushes go to is returned several times.
    let devices = try devices(names, in: session)
    let byName = Dictionary(devices.map { ([$0.account.bytes, $0.id.bytes], $0) }) { first, _ in first }
    var tokens: [Int64: (kind: PushTokenKind, text: String)] = [:]
    for push in pushes {
      guard let device = byName[[push.account.bytes, push.device.bytes]] else { continue }
      tokens[push.number] = device.token(for: push)
    }
    return tokens
  }

  @discardableResult
  public func finishPush(
    _ number: Int64, _ state: Ledger.Push.State, reason: String?, under seat: DeliverySeat?
  ) async throws(LedgerError) -> Bool {
    try refuse(Ledger.Push.brokenRule(ofOutcome: state, reason: reason), while: .pushing)
    return try await write(while: .pushing, under: seat) { [self] session in
      try !finish([(number, reason)], state, in: session).isEmpty
    }
  }

  public func expirePushes(
    _ pushes: [(number: Int64, reason: String?)], under seat: DeliverySeat?
  ) async throws(LedgerError) -> Set<Int64> {
    try await write(while: .pushing, under: seat, cost: 256 * pushes.count) { [self] session in
      Set(try finish(pushes, .expired, in: session))
    }
  }

  /// Ends pushes. If two nodes end the same push, the first one decides.
  ///
  /// - Returns: The numbers of the pushes that had not ended before, in the given order.
  private func finish(
    _ pushes: [(number: Int64, reason: String?)], _ state: Ledger.Push.State, in session: borrowing PostgreSQLSession
  ) throws -> [Int64] {
    // Of a push that is named twice, the first one counts.
    var reasons: [Int64: String?] = [:]
    var numbers: [Int64] = []
    for push in pushes where reasons[push.number] == nil {
      reasons[push.number] = .some(Ledger.Push.stored(push.reason))
      numbers.append(push.number)
    }
    try Self.lockUnfinished(numbers, in: session)
    let ended = Set(
      try session.all(
        Self.endingPushes,
        [
          .string(state.rawValue), .int64(timeStamp), .int64s(numbers), .strings(numbers.map { reasons[$0] ?? nil }),
        ]
      ) { row in try row.read("number", as: Int64.self) })
    numbers = numbers.filter(ended.contains)
    if numbers.isEmpty { return [] }
    try Self.noteOutcomes(ofPushes: numbers, in: session)
    try tellEnds(ofPushes: numbers, in: session)
    return numbers
  }

  // The condition is not `finished_at IS NULL`, for the reason that ``isUnfinished`` gives.
  static let endingPushes = """
    UPDATE pushes SET state = $1, finished_at = $2, starts = 0,
      reason = CASE $1 WHEN 'expired' THEN coalesce(ended.reason, pushes.reason) ELSE ended.reason END
    FROM unnest($3::bigint[], $4::text[]) AS ended (number, reason)
    WHERE pushes.number = ended.number AND state IN ('waiting', 'sending') RETURNING pushes.number
    """

  public func postponePush(
    _ number: Int64, reason: String?, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try await write(while: .pushing, under: seat) { session in
      try session.execute(
        "UPDATE pushes SET state = 'waiting', reason = $1, starts = 0 WHERE number = $2 AND finished_at IS NULL",
        [.string(Ledger.Push.stored(reason)), .int64(number)])
    }
  }

  // MARK: - Reading

  public func pushes(account: String, announcement: String) async throws(LedgerError) -> [Ledger.Push] {
    if account.hasZero || announcement.hasZero { return [] }
    return try await read(isLong: true) { try Self.pushes(account, announcement, in: $0) }
  }

  static func pushes(
    _ account: String, _ announcement: String, in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.Push] {
    try session.all(
      """
      SELECT \(pushColumns) FROM pushes WHERE account = $1 AND announcement = $2 ORDER BY number LIMIT 1000
      """, [.string(account), .string(announcement)], Ledger.Push.init(row:))
  }

  public func pushes(
    account: String, device: String, afterSequence sequence: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.Push] {
    if account.hasZero || device.hasZero { return [] }
    // The numbers of a device become visible in their order, because each transaction keeps the device locked.
    return try await read(isLong: true) { session in
      try session.all(
        """
        SELECT \(Self.pushColumns) FROM pushes WHERE account = $1 AND device = $2 AND sequence > greatest($3, (
          SELECT first_sequence FROM devices WHERE account = $1 AND id = $2))
          AND EXISTS (SELECT 1 FROM devices WHERE account = $1 AND id = $2)
        ORDER BY sequence LIMIT $4
        """,
        [
          .string(account), .string(device), .int64(sequence), Self.limit(limit),
        ], Ledger.Push.init(row:))
    }
  }

  public func pushCounts() async throws(LedgerError) -> [Ledger.Push.State: Int] {
    try await read(isLong: true) { session in
      var counts: [Ledger.Push.State: Int] = [:]
      for row in try session.rows("SELECT state, count(*) AS count FROM pushes GROUP BY state") {
        counts[try row.name("state"), default: 0] += try row.value("count")
      }
      return counts
    }
  }

  private static let pushColumns = """
    number, apns_id, account, device, announcement, kind, app, environment, sequence, priority, collapse_id, body, state,
    reason, attempts, created_at, expires_at, finished_at, handed_over_at
    """
}

/// The columns of pushes that are to be inserted.
private struct NewPushRows {
  private var ids: [String?] = []
  private var devices: [String?] = []
  private var kinds: [String?] = []
  private var apps: [String?] = []
  private var environments: [String?] = []
  private var sequences: [Int64?] = []
  private var priorities: [Int64?] = []
  private var collapseIDs: [String?] = []
  private var bodies: [Data?] = []
  private var clips: [String?] = []
  private var expiries: [Int64?] = []

  var values: [PostgreSQLValue] {
    [
      .strings(ids), .strings(devices), .strings(kinds), .strings(apps), .strings(environments), .int64s(sequences),
      .int64s(priorities), .strings(collapseIDs), .byteStrings(bodies), .strings(clips), .int64s(expiries),
    ]
  }

  mutating func add(_ push: NewPush, app: String, environment: String, sequence: Int64?, body: Data) {
    ids.append(UUID().uuidString.lowercased())
    devices.append(push.device)
    kinds.append(push.kind.rawValue)
    apps.append(app)
    environments.append(environment)
    sequences.append(sequence)
    priorities.append(Int64(push.priority))
    collapseIDs.append(push.collapseID)
    bodies.append(body)
    clips.append(push.clip)
    expiries.append(push.expiresAt.wholeMilliseconds)
  }
}
