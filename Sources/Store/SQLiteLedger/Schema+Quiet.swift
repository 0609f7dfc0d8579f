// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Schema {
  /// Adds the state `quiet` and the summaries of quiet payments, and the index with which the amounts of an account are
  /// added up by their time.
  ///
  /// SQLite has no statement that changes the checks of a column. The function edits the checks in the text of the
  /// schema, because otherwise the table with all its payloads would have to be rewritten. No stored row can break a
  /// check that allows more than before. This edit comes last, because other changes of the table start from the text
  /// that SQLite has already read.
  static func addQuiet(to database: Database) throws {
    try database.execute(
      sql: """
        ALTER TABLE announcements ADD COLUMN summary_due INTEGER NOT NULL DEFAULT 0 CHECK (summary_due IN (0, 1));
        CREATE INDEX announcements_quiet ON announcements (lane, number) WHERE summary_due = 1;
        CREATE INDEX decisions_of_money ON decisions (account, accepted_at, currency, kind, amount)
          WHERE amount IS NOT NULL;
        """)
    let version = try Int.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
    // The new schema version makes other connections read the schema again, and the reset makes this connection do so.
    try database.execute(
      sql: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, '''failed'', ''expired'')', '''failed'', ''expired'', ''quiet'')')
          WHERE type = 'table' AND name = 'announcements';
        PRAGMA schema_version = \(version + 1);
        PRAGMA writable_schema = RESET;
        """)
    database.clearSchemaCache()
  }
}
