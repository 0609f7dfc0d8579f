// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PlaybackOrder
import PostgreSQL

extension PostgreSQLLedger {
  public func accept(
    _ new: StoredAnnouncement, standingFor members: [Int64]
  ) async throws(LedgerError) -> Ledger.Acceptance {
    try refuse(new.brokenRule, while: .accepting)
    return try await write(while: .accepting, cost: new.cost) { [self] session in
      let acceptance = try accept(new, in: session)
      if !acceptance.isDuplicate { try mark(members, as: acceptance.number, lane: new.lane, in: session) }
      return acceptance
    }
  }

  func accept(
    _ new: StoredAnnouncement, in session: borrowing PostgreSQLSession
  ) throws -> Ledger.Acceptance {
    guard let acceptance = try accept([new], in: session).first else { throw UnreadableRow() }
    return acceptance
  }

  /// Accepts announcements. The announcements of a lane get rising numbers in their order.
  ///
  /// - Returns: The result for each announcement, in their order. Of announcements with the same id, those after the
  ///   first one are duplicates.
  func accept(
    _ news: [StoredAnnouncement], in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.Acceptance] {
    if news.isEmpty { return [] }
    let at = timeStamp
    var acceptances: [Ledger.Acceptance?] = Array(repeating: nil, count: news.count)
    // An announcement that is in the way may be removed before it is read. The insertion is then repeated.
    for _ in 0..<5 {
      let open = news.indices.filter { acceptances[$0] == nil }
      if open.isEmpty { break }
      let numbers = try insert(open.map { news[$0] }, at: at, in: session)
      var accepted: [(new: StoredAnnouncement, number: Int64)] = []
      var others: [Int] = []
      var given: Set<AnnouncementKey> = []
      for index in open {
        let key = AnnouncementKey(news[index].account, news[index].id)
        guard let number = numbers[key], given.insert(key).inserted else {
          others.append(index)
          continue
        }
        acceptances[index] = Ledger.Acceptance(
          number: number, isDuplicate: false, state: news[index].firstState, isSamePayload: true)
        accepted.append((news[index], number))
      }
      try note(accepted, at: at, in: session)
      for (index, first) in zip(others, try first(others.map { news[$0] }, in: session)) {
        acceptances[index] = first
      }
    }
    return try acceptances.map { acceptance in
      guard let acceptance else { throw error(.busy, while: .accepting) }
      return acceptance
    }
  }

  /// Inserts the announcements whose ids are new.
  ///
  /// - Returns: The number of each announcement that was inserted.
  private func insert(
    _ news: [StoredAnnouncement], at: Int64, in session: borrowing PostgreSQLSession
  ) throws -> [AnnouncementKey: Int64] {
    let results = try session.pipeline { pipeline in
      // The numbers are drawn while the lanes are locked; see `Schema.announcements`.
      Self.lock(lanes: news.map(\.lane), &pipeline)
      pipeline.add(Self.insertion, Self.values(of: news, at: at))
    }
    var numbers: [AnnouncementKey: Int64] = [:]
    for row in results[2] {
      numbers[AnnouncementKey(try row.read("account"), try row.read("id"))] = try row.read("number") as Int64
    }
    return numbers
  }

  /// The statement that inserts announcements, in the order of its arrays. A transaction that inserts the same id at the
  /// same moment waits for this one to end.
  static let insertion = """
    INSERT INTO announcements
      (account, id, lane, kind, replay, category, sequence, payload, default_locale, default_pack, default_group,
       state, clip, expires_at, accepted_at, changed_at)
    SELECT account, id, lane, kind, replay, category, sequence, payload, default_locale, default_pack, default_group,
      state, clip, expires_at, $1, $1
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::bigint[], $9::bytea[],
                $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[])
      WITH ORDINALITY AS new (account, id, lane, kind, replay, category, sequence, payload, default_locale,
                              default_pack, default_group, state, clip, expires_at, place)
    ORDER BY place
    ON CONFLICT (account, id) DO NOTHING
    RETURNING number, account, id
    """

  private static func values(of news: [StoredAnnouncement], at: Int64) -> [PostgreSQLValue] {
    [
      .int64(at), .strings(news.map(\.account)), .strings(news.map(\.id)), .strings(news.map(\.lane)),
      .strings(news.map(\.kind.rawValue)), .bools(news.map(\.isReplay)), .strings(news.map(\.category.rawValue)),
      .int64s(news.map(\.sequence)), .byteStrings(news.map(\.payload)), .strings(news.map(\.defaultLocale)),
      .strings(news.map(\.defaultPack)), .strings(news.map(\.defaultGroup)),
      .strings(news.map(\.firstState.rawValue)), .strings(news.map { $0.decision?.clip.name }),
      .int64s(news.map { $0.expiresAt?.wholeMilliseconds }),
    ]
  }

  /// Stores what belongs to announcements that were inserted: their decisions and their first events.
  private func note(
    _ accepted: [(new: StoredAnnouncement, number: Int64)], at: Int64, in session: borrowing PostgreSQLSession
  ) throws {
    if accepted.isEmpty { return }
    let events = accepted.flatMap { new, number in
      [NewEvent(kind: .accepted, number: number, lane: new.lane)]
        + (new.firstState == .waiting ? [NewEvent(kind: .waiting, number: number, lane: new.lane)] : [])
    }
    let values = try Self.values(of: events, at: at)
    let decisions = accepted.map { new, _ in (AnnouncementKey(new.account, new.id), new.decision) }
    _ = try session.pipeline { pipeline in
      Self.store(decisions, at: at, &pipeline)
      pipeline.add(Self.appending, values)
    }
  }

  /// Returns the announcements that have the ids already; nil for an id that was removed meanwhile.
  ///
  /// The announcements stay until this transaction ends, so that an answer which refers to one is removed with it.
  private func first(
    _ news: [StoredAnnouncement], in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.Acceptance?] {
    var found: [Ledger.Acceptance?] = Array(repeating: nil, count: news.count)
    if news.isEmpty { return found }
    let rows = try session.rows(
      Self.firstAnnouncements,
      [.strings(news.map(\.account)), .strings(news.map(\.id)), .byteStrings(news.map(\.payload))])
    for row in rows {
      found[try row.value("place") - 1] = try Ledger.Acceptance(first: row)
    }
    return found
  }

  static let firstAnnouncements = """
    SELECT new.place, announcements.number, announcements.state, announcements.payload = new.payload AS same
    FROM unnest($1::text[], $2::text[], $3::bytea[]) WITH ORDINALITY AS new (account, id, payload, place)
      JOIN announcements ON announcements.account = new.account AND announcements.id = new.id
    ORDER BY announcements.number FOR KEY SHARE OF announcements
    """

  /// Adds the statements that lock lanes for the rest of the transaction, and make their rows first if there are none.
  static func lock(lanes: [String], _ pipeline: inout PostgreSQLPipeline) {
    let lanes = PostgreSQLValue.strings(lanes.inByteOrder)
    pipeline.add("INSERT INTO lanes (lane) SELECT unnest($1::text[]) ON CONFLICT (lane) DO NOTHING", [lanes])
    pipeline.add("SELECT 1 FROM lanes WHERE lane = ANY ($1::text[]) ORDER BY lane FOR NO KEY UPDATE", [lanes])
  }

  static func lock(lanes: [String], in session: borrowing PostgreSQLSession) throws {
    _ = try session.pipeline { lock(lanes: lanes, &$0) }
  }

  /// Notes that a summary stands for announcements. If another transaction changes one of them at this moment, the
  /// statement waits for it and checks the conditions again.
  private func mark(
    _ members: [Int64], as summary: Int64, lane: String, in session: borrowing PostgreSQLSession
  ) throws {
    if members.isEmpty { return }
    let at = timeStamp
    let marked = try session.execute(
      Self.marking, [.int64(summary), .int64(at), .int64s(members), .string(lane)])
    guard marked == members.count else { throw error(.illegalSummary, while: .accepting) }
    let events = members.map { member in
      NewEvent(kind: .summarised, number: member, lane: lane, detail: ["by": String(summary)])
    }
    try Self.append(events, at: at, in: session)
  }

  static let marking = """
    UPDATE announcements SET summarised_by = $1, changed_at = $2
    WHERE number IN (SELECT number FROM announcements WHERE number = ANY ($3) ORDER BY number FOR NO KEY UPDATE)
      AND lane = $4 AND summarised_by IS NULL AND state IN ('accepted', 'rendering', 'waiting') AND number <> $1
      AND NOT EXISTS (SELECT 1 FROM announcements AS member WHERE member.summarised_by = announcements.number)
    """
}
