// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger

extension Schema {
  /// The decisions about announcements. A decision is removed with the last row about its announcement.
  static let decisions = """
    CREATE TABLE decisions (
      account     TEXT NOT NULL,
      id          TEXT NOT NULL,
      kind        TEXT NOT NULL,
      text        TEXT NOT NULL,
      locale      TEXT NOT NULL,
      amount      TEXT,
      currency    TEXT,
      channel     TEXT,
      payer       TEXT,
      note        TEXT,
      occurred_at INTEGER,
      sequence    INTEGER,
      method      TEXT NOT NULL,
      voice       TEXT NOT NULL,
      pack_digest TEXT,
      clip        TEXT NOT NULL,
      clip_group  TEXT,
      duration    INTEGER NOT NULL,
      loudness    REAL NOT NULL,
      warnings    TEXT NOT NULL,
      accepted_at INTEGER NOT NULL,
      PRIMARY KEY (account, id),
      CHECK ((amount IS NULL) = (currency IS NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER decision_of_answer AFTER DELETE ON answers
      BEGIN
        DELETE FROM decisions WHERE account = old.account AND id = old.id
          AND NOT EXISTS (SELECT 1 FROM announcements WHERE account = old.account AND id = old.id)
          AND NOT EXISTS (SELECT 1 FROM answers WHERE account = old.account AND id = old.id);
      END;
    CREATE TRIGGER decision_of_announcement AFTER DELETE ON announcements
      BEGIN
        DELETE FROM decisions WHERE account = old.account AND id = old.id
          AND NOT EXISTS (SELECT 1 FROM answers WHERE account = old.account AND id = old.id);
      END;
    """
}

extension SQLiteLedger {
  /// Stores a decision. The first decision about an announcement is never replaced.
  static func store(
    _ decision: Decision, account: String, id: String, at: Int64, in database: Database
  ) throws {
    try database.cachedStatement(
      sql: """
        INSERT OR IGNORE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      account, id, decision.kind, decision.text, decision.locale, decision.amount?.value, decision.amount?.currency,
      decision.channel, decision.payer, decision.note, decision.occurredAt?.wholeMilliseconds, decision.sequence,
      decision.method, decision.voice, decision.packDigest, decision.clip.name, decision.clip.group,
      decision.durationMilliseconds, decision.loudnessLUFS, decision.storedWarnings, at,
      decision.refundOf,
    ])
  }

  /// Returns the decisions about announcements, with the bytes of the announcements' ids as keys. An announcement that
  /// waits to be rendered, or that an earlier version accepted, has no decision.
  static func decisions(account: String, ids: [String], in database: Database) throws -> [Data: Decision] {
    let statement = try database.cachedStatement(sql: "SELECT * FROM decisions WHERE \(withIDs)")
    let decisions = try statement.all([account, json(ids)]) { row in
      let id: String = try row.value("id")
      return (id.bytes, try Decision(row: row))
    }
    return Dictionary(decisions) { first, _ in first }
  }

  /// The condition for the rows of an account whose id is in a JSON array. One statement for many rows takes a fraction
  /// of the time of one statement for each row, because the names of the columns are read only once.
  static let withIDs = "account = ? AND id IN (SELECT value FROM json_each(?))"

  static func json(_ ids: [String]) throws -> String { String(decoding: try JSONEncoder().encode(ids), as: UTF8.self) }
}
