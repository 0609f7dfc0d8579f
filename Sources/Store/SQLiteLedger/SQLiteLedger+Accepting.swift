// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger
import PlaybackOrder

extension SQLiteLedger {
  public func accept(
    _ new: StoredAnnouncement, standingFor members: [Int64]
  ) async throws(LedgerError) -> Ledger.Acceptance {
    try refuse(new.brokenRule, while: .accepting)
    return try await write(while: .accepting, cost: new.cost) { [self] database in
      try accept(new, standingFor: members, in: database)
    }
  }

  func accept(
    _ new: StoredAnnouncement, standingFor members: [Int64] = [], in database: Database
  ) throws -> Ledger.Acceptance {
    if let first = try Self.duplicate(of: new, in: database) { return first }
    try checkSize(in: database)
    let at = timeStamp
    let state = new.firstState
    try database.cachedStatement(
      sql: """
        INSERT INTO announcements
          (account, id, lane, kind, replay, category, sequence, payload, default_locale, default_pack,
           default_group, state, clip, accepted_at, expires_at, changed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      new.account, new.id, new.lane, new.kind.rawValue, new.isReplay, new.category.rawValue, new.sequence, new.payload,
      new.defaultLocale, new.defaultPack, new.defaultGroup, state.rawValue, new.decision?.clip.name, at,
      new.expiresAt?.wholeMilliseconds,
      at,
    ])
    let number = database.lastInsertedRowID
    if let decision = new.decision {
      try Self.store(decision, account: new.account, id: new.id, at: at, in: database)
    }
    try Self.append(.accepted, number, lane: new.lane, at: at, in: database)
    if state == .waiting { try Self.append(.waiting, number, lane: new.lane, at: at, in: database) }
    for member in members { try mark(member, as: number, lane: new.lane, at: at, in: database) }
    return Ledger.Acceptance(number: number, isDuplicate: false, state: state, isSamePayload: true)
  }

  /// Throws `diskFull` when the file has reached ``Options/maximumBytes``. SQLite's own limit is higher, so that
  /// accepted announcements can still change their state.
  func checkSize(in database: Database) throws {
    guard let limit = options.maximumBytes else { return }
    let pages = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA page_count")) ?? 0
    let free = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
    guard (pages - free) * 4096 < limit else { throw error(.diskFull, while: .accepting) }
  }

  private static func duplicate(of new: StoredAnnouncement, in database: Database) throws -> Ledger.Acceptance? {
    let statement = try database.cachedStatement(
      sql: "SELECT number, state, payload = ? AS same FROM announcements WHERE account = ? AND id = ?")
    return try statement.first([new.payload, new.account, new.id], Ledger.Acceptance.init(first:))
  }

  private func mark(_ member: Int64, as summary: Int64, lane: String, at: Int64, in database: Database) throws {
    try database.cachedStatement(
      sql: """
        UPDATE announcements SET summarised_by = ?, changed_at = ?
        WHERE number = ? AND lane = ? AND summarised_by IS NULL AND state IN ('accepted', 'rendering', 'waiting')
          AND number <> ? AND NOT EXISTS (SELECT 1 FROM announcements WHERE summarised_by = ?)
        """
    ).execute(arguments: [summary, at, member, lane, summary, member])
    guard database.changesCount == 1 else { throw error(.illegalSummary, while: .accepting) }
    try Self.append(
      .summarised, member, lane: lane, detail: ["by": String(summary)], at: at, in: database)
  }
}
