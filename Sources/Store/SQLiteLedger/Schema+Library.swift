// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of the containers that file-provider extensions show, and of the changes of the sound library.
  ///
  /// - A name has one row in `library_changes`: its latest change. Another change replaces the row and so moves it to
  ///   the end, because `AUTOINCREMENT` never reuses an anchor. A clip belongs to an account and an app group. A pack
  ///   belongs to all accounts and app groups. ``addTones(to:)`` adds tones.
  /// - `library_feed` has the id of the feed, the highest anchor of a removal that was forgotten, and the highest
  ///   anchor that was pushed to phones.
  static let library = """
    CREATE TABLE device_enumerators (
      account       TEXT NOT NULL,
      device        TEXT NOT NULL,
      container     TEXT NOT NULL,
      registered_at INTEGER NOT NULL,
      PRIMARY KEY (account, device, container),
      FOREIGN KEY (account, device) REFERENCES devices (account, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE library_changes (
      anchor   INTEGER PRIMARY KEY AUTOINCREMENT,
      account  TEXT,
      group_id TEXT,
      kind     TEXT NOT NULL CHECK (kind IN ('clip', 'pack')),
      name     TEXT NOT NULL,
      sha256   BLOB NOT NULL CHECK (length(sha256) = 32),
      bytes    INTEGER NOT NULL,
      change   TEXT NOT NULL CHECK (change IN ('added', 'changed', 'removed')),
      at       INTEGER NOT NULL,
      CHECK ((kind = 'clip') = (account IS NOT NULL)),
      CHECK ((kind = 'clip') = (group_id IS NOT NULL))
    ) STRICT;
    CREATE UNIQUE INDEX library_clips ON library_changes (name, account, group_id) WHERE kind = 'clip';
    CREATE UNIQUE INDEX library_packs ON library_changes (name) WHERE kind = 'pack';
    CREATE INDEX library_by_group ON library_changes (account, group_id, anchor);
    CREATE INDEX library_by_digest ON library_changes (sha256, account) WHERE kind = 'clip';
    CREATE INDEX library_removals ON library_changes (at) WHERE change = 'removed';

    CREATE TABLE library_feed (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      id       TEXT NOT NULL,
      expired  INTEGER NOT NULL,
      pushed   INTEGER NOT NULL
    ) STRICT;
    INSERT INTO library_feed VALUES (1, lower(hex(randomblob(4))), 0, 0);
    """
}
