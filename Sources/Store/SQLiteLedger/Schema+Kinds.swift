// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger

extension Schema {
  /// The columns for an announcement's kind, and for the defaults of its sender. Before this migration, the account's
  /// name held the kind, and the payload held the defaults; see `docs/decisions/0037-one-stored-announcement.md`.
  ///
  /// The index of clips leaves out entries that the player creates, because a replay uses the clip of its original. The
  /// index of waiting requests has every column that counting them needs, so that no payload is read.
  private static let kindColumns = """
    ALTER TABLE announcements ADD COLUMN kind TEXT NOT NULL DEFAULT 'request'
      CHECK (kind IN ('request', 'file', 'summary'));
    ALTER TABLE announcements ADD COLUMN replay INTEGER NOT NULL DEFAULT 0 CHECK (replay IN (0, 1));
    ALTER TABLE announcements ADD COLUMN default_locale TEXT;
    ALTER TABLE announcements ADD COLUMN default_pack TEXT;
    ALTER TABLE announcements ADD COLUMN default_group TEXT;

    UPDATE announcements SET kind = 'file' WHERE account IN ('crier:files', 'crier:replay:crier:files');
    UPDATE announcements SET kind = 'summary' WHERE account IN ('crier:summary', 'crier:replay:crier:summary');
    UPDATE announcements SET replay = 1 WHERE account = 'crier:replay' OR account GLOB 'crier:replay:*';

    DROP INDEX announcements_by_clip;
    CREATE INDEX announcements_by_clip ON announcements (clip, account)
      WHERE clip IS NOT NULL AND kind = 'request' AND NOT replay;
    CREATE INDEX announcements_waiting ON announcements (lane, finished_at, kind, replay, account)
      WHERE finished_at IS NULL AND kind = 'request' AND NOT replay AND account <> '';
    """

  /// Adds the columns and fills them in. Entries that a player has already made keep their accounts, because ids are
  /// unique only within an account.
  static func addKinds(to database: Database) throws {
    try database.execute(sql: kindColumns)
    let page = try database.makeStatement(
      sql: """
        SELECT number, payload FROM announcements
        WHERE kind = 'request' AND number > ? AND instr(payload, ?) ORDER BY number LIMIT 200
        """)
    let update = try database.makeStatement(
      sql: """
        UPDATE announcements SET payload = ?, default_locale = ?, default_pack = ?, default_group = ? WHERE number = ?
        """)
    var last: Int64 = 0
    while true {
      let rows = try Row.fetchAll(page, arguments: [last, PayloadWithDefaults.key])
      for row in rows {
        last = try row.value("number")
        guard let read = PayloadWithDefaults(try row.value("payload")) else { continue }
        try update.execute(arguments: [
          read.payload, read.defaults["locale"], read.defaults["pack"], read.defaults["group"], last,
        ])
      }
      if rows.isEmpty { return }
    }
  }
}

/// A payload into which an earlier version wrote its sender's defaults: `{"crier:defaults":{…},`, followed by the rest
/// of the bytes that were sent.
private struct PayloadWithDefaults {
  static let key = Data(#""crier:defaults":"#.utf8)

  /// The bytes that were sent.
  let payload: Data
  let defaults: [String: String]

  /// - Returns: Nil when the payload does not begin with defaults. It then has exactly the bytes that were sent.
  init?(_ stored: Data) {
    let brace = UInt8(ascii: "{")
    guard let start = stored.firstIndex(of: brace) else { return nil }
    let afterKey = stored.index(after: start) + Self.key.count
    guard stored[stored.index(after: start)...].starts(with: Self.key), afterKey < stored.endIndex,
      stored[afterKey] == brace, let end = Self.endOfObject(stored[afterKey...]),
      end < stored.endIndex, stored[end] == UInt8(ascii: ","),
      let defaults = try? JSONDecoder().decode([String: String].self, from: stored[afterKey..<end])
    else { return nil }
    self.defaults = defaults
    payload = stored[...start] + stored[stored.index(after: end)...]
  }

  /// Returns the index after a flat JSON object of strings; nil if the object has no end.
  private static func endOfObject(_ json: Data) -> Data.Index? {
    var isInString = false
    var isEscaped = false
    for index in json.indices {
      switch json[index] {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isInString
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "}") where !isInString: return json.index(after: index)
      default: break
      }
    }
    return nil
  }
}
