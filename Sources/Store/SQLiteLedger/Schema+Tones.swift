// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Schema {
  /// Adds tones to the library. A tone belongs to one app group, and to all accounts.
  ///
  /// The checks are changed in the text of the schema, as ``addQuiet(to:)`` does. No stored row can break them: a clip
  /// still needs an account and a group, and a pack still has neither.
  static func addTones(to database: Database) throws {
    try database.execute(
      sql: "CREATE UNIQUE INDEX library_tones ON library_changes (name, group_id) WHERE kind = 'tone'")
    let version = try Int.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
    try database.execute(
      sql: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(sql,
            '(''clip'', ''pack'')', '(''clip'', ''pack'', ''tone'')'),
            '(kind = ''clip'') = (group_id IS NOT NULL)', '(kind = ''pack'') = (group_id IS NULL)')
          WHERE type = 'table' AND name = 'library_changes';
        PRAGMA schema_version = \(version + 1);
        PRAGMA writable_schema = RESET;
        """)
    database.clearSchemaCache()
  }
}
