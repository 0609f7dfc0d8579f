// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  /// Adds the statements that store decisions, and keep the stored ones until the transaction ends. The first decision
  /// about an announcement is never replaced.
  ///
  /// The rows are locked, also where a decision is nil or is stored already: a transaction that removes decisions then
  /// waits, and afterwards sees what this one stored about the announcement. Two transactions that push the same
  /// announcement wait for each other too, so that the second one sees the pushes of the first one.
  static func store(
    _ decisions: [(key: AnnouncementKey, decision: Decision?)], at: Int64, _ pipeline: inout PostgreSQLPipeline
  ) {
    let new = Dictionary(
      decisions.compactMap { key, decision in decision.map { (key, $0) } }
    ) { first, _ in first }
    if !new.isEmpty {
      pipeline.add(storing, values(of: new.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, at: at))
    }
    let others = decisions.map(\.key).filter { new[$0] == nil }
    if !others.isEmpty { pipeline.add(locking, others.parameters) }
  }

  // The update changes nothing, but locks the row that is in the way. `DO NOTHING` would leave it unlocked, so that
  // another transaction could still remove it.
  static let storing = """
    INSERT INTO decisions
      (account, id, kind, text, locale, amount, currency, channel, payer, note, occurred_at, sequence, method, voice,
       pack_digest, clip, clip_group, duration, loudness, warnings, accepted_at, refund_of)
    SELECT account, id, kind, text, locale, amount, currency, channel, payer, note, occurred_at, sequence, method,
      voice, pack_digest, clip, clip_group, duration, loudness::double precision, warnings, $1, refund_of
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[],
                $17::text[], $18::text[], $19::bigint[], $20::text[], $21::text[], $22::text[])
      AS new (account, id, kind, text, locale, amount, currency, channel, payer, note, occurred_at, sequence, method,
              voice, pack_digest, clip, clip_group, duration, loudness, warnings, refund_of)
    ON CONFLICT (account, id) DO UPDATE SET kind = excluded.kind WHERE false
    """

  static let locking = """
    SELECT 1 FROM unnest($1::text[], $2::text[]) AS wanted (account, id)
      JOIN decisions ON decisions.account = wanted.account AND decisions.id = wanted.id
    ORDER BY decisions.account, decisions.id FOR NO KEY UPDATE OF decisions
    """

  private static func values(
    of new: [(key: AnnouncementKey, decision: Decision)], at: Int64
  ) -> [PostgreSQLValue] {
    let decisions = new.map(\.decision)
    return [
      .int64(at), .strings(new.map(\.key.account)), .strings(new.map(\.key.id)), .strings(decisions.map(\.kind)),
      .strings(decisions.map(\.text)), .strings(decisions.map(\.locale)), .strings(decisions.map { $0.amount?.value }),
      .strings(decisions.map { $0.amount?.currency }), .strings(decisions.map(\.channel)),
      .strings(decisions.map(\.payer)), .strings(decisions.map(\.note)),
      .int64s(decisions.map { $0.occurredAt?.wholeMilliseconds }), .int64s(decisions.map(\.sequence)),
      .strings(decisions.map(\.method)), .strings(decisions.map(\.voice)), .strings(decisions.map(\.packDigest)),
      .strings(decisions.map(\.clip.name)), .strings(decisions.map(\.clip.group)),
      .int64s(decisions.map { Int64($0.durationMilliseconds) }), .strings(decisions.map { "\($0.loudnessLUFS)" }),
      .strings(decisions.map(\.storedWarnings)), .strings(decisions.map(\.refundOf)),
    ]
  }

  /// Locks the decisions about announcements, before rows about these announcements are removed.
  static func lockDecisions(_ keys: [AnnouncementKey], in session: borrowing PostgreSQLSession) throws {
    if !keys.isEmpty { try session.execute(locking, keys.parameters) }
  }

  /// Removes the decisions about announcements of which the ledger has no other row any more. The caller has locked
  /// them with ``lockDecisions(_:in:)`` in an earlier statement, so this statement sees every row that was stored
  /// before.
  static func removeDecisions(_ keys: [AnnouncementKey], in session: borrowing PostgreSQLSession) throws {
    if !keys.isEmpty { try session.execute(removing, keys.parameters) }
  }

  static let removing = """
    DELETE FROM decisions USING unnest($1::text[], $2::text[]) AS gone (account, id)
    WHERE decisions.account = gone.account AND decisions.id = gone.id
      AND NOT EXISTS (SELECT 1 FROM announcements
                      WHERE announcements.account = gone.account AND announcements.id = gone.id)
      AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.account = gone.account AND answers.id = gone.id)
    """

  /// Returns the decisions about announcements. An announcement that waits to be rendered has no decision.
  static func decisions(
    _ keys: [AnnouncementKey], in session: borrowing PostgreSQLSession
  ) throws -> [AnnouncementKey: Decision] {
    if keys.isEmpty { return [:] }
    let rows = try session.all(readingDecisions, keys.parameters) { row in
      (AnnouncementKey(try row.read("account"), try row.read("id")), try Decision(row: row))
    }
    return Dictionary(rows) { first, _ in first }
  }

  // Of the two columns with the name, the first one is read.
  static let readingDecisions = """
    SELECT loudness::text AS loudness, decisions.* FROM unnest($1::text[], $2::text[]) AS wanted (account, id)
      JOIN decisions ON decisions.account = wanted.account AND decisions.id = wanted.id
    """
}
