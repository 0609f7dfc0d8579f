// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of the changes of the sound library, and of the clips of batches.
  ///
  /// - A name has one row in `library_changes`: its latest change. Another change gives the row a new anchor, and so
  ///   moves it to the end. A clip belongs to an account and an app group. A pack belongs to all accounts and app
  ///   groups. A tone belongs to one app group, and to all accounts.
  /// - The default of `anchor` takes the transaction's id before the number; see ``SettledNumbers``.
  /// - `library_feed` has the id of the feed, the highest anchor of a removal that was forgotten, and the highest
  ///   anchor that was pushed to phones.
  static let library = """
    CREATE SEQUENCE library_anchors;
    CREATE TABLE library_changes (
      anchor   bigint PRIMARY KEY
        DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('library_anchors') END,
      account  text COLLATE "C",
      group_id text COLLATE "C",
      kind     text COLLATE "C" NOT NULL CHECK (kind IN ('clip', 'pack', 'tone')),
      name     text COLLATE "C" NOT NULL,
      sha256   bytea NOT NULL CHECK (length(sha256) = 32),
      bytes    bigint NOT NULL,
      change   text COLLATE "C" NOT NULL CHECK (change IN ('added', 'changed', 'removed')),
      at       bigint NOT NULL,
      CHECK ((kind = 'clip') = (account IS NOT NULL)),
      CHECK ((kind = 'pack') = (group_id IS NULL))
    );
    ALTER SEQUENCE library_anchors OWNED BY library_changes.anchor;
    CREATE UNIQUE INDEX library_clips ON library_changes (name, account, group_id) WHERE kind = 'clip';
    CREATE UNIQUE INDEX library_packs ON library_changes (name) WHERE kind = 'pack';
    CREATE UNIQUE INDEX library_tones ON library_changes (name, group_id) WHERE kind = 'tone';
    CREATE INDEX library_by_group ON library_changes (account, group_id, anchor);
    CREATE INDEX library_by_digest ON library_changes (sha256, account) WHERE kind = 'clip';
    CREATE INDEX library_removals ON library_changes (at) WHERE change = 'removed';

    CREATE TABLE library_feed (
      only_row bigint PRIMARY KEY CHECK (only_row = 1),
      id       text COLLATE "C" NOT NULL,
      expired  bigint NOT NULL,
      pushed   bigint NOT NULL
    );
    INSERT INTO library_feed VALUES (1, left(gen_random_uuid()::text, 8), 0, 0);

    CREATE TABLE batch_clips (
      clip    text COLLATE "C" NOT NULL,
      account text COLLATE "C" NOT NULL,
      batch   text COLLATE "C" NOT NULL,
      PRIMARY KEY (clip, account)
    );
    CREATE INDEX batch_clips_by_batch ON batch_clips (batch);
    """
}
