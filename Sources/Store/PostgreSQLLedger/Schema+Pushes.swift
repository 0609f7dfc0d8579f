// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The table of pushes.
  ///
  /// - A push is unfinished until `finished_at` is set. Its body never changes, so it is the same in every attempt.
  /// - `starts` is the number of times that work on the push has begun since work on it last came to an end.
  /// - `token_kind` is the kind of the token with which the push was last sent; null if it was sent with a token of its
  ///   own kind, or not at all.
  /// - `handed_over_at` is the time at which the phone says it handed the notification over to iOS.
  /// - The default of `number` takes the transaction's id before the number; see ``SettledNumbers``.
  static let pushes = """
    CREATE SEQUENCE push_numbers;
    CREATE TABLE pushes (
      number         bigint PRIMARY KEY
        DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('push_numbers') END,
      apns_id        text COLLATE "C" NOT NULL UNIQUE,
      account        text COLLATE "C" NOT NULL,
      device         text COLLATE "C" NOT NULL,
      announcement   text COLLATE "C",
      kind           text COLLATE "C" NOT NULL CHECK (kind IN ('alert', 'background', 'fileprovider')),
      app            text COLLATE "C" NOT NULL,
      environment    text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
      sequence       bigint,
      priority       bigint NOT NULL,
      collapse_id    text COLLATE "C",
      body           bytea NOT NULL,
      clip           text COLLATE "C",
      state          text COLLATE "C" NOT NULL
        CHECK (state IN ('waiting', 'sending', 'delivered', 'failed', 'expired', 'unregistered')),
      reason         text COLLATE "C",
      attempts       bigint NOT NULL DEFAULT 0,
      starts         bigint NOT NULL DEFAULT 0,
      token_kind     text COLLATE "C",
      created_at     bigint NOT NULL,
      expires_at     bigint NOT NULL,
      finished_at    bigint,
      handed_over_at bigint,
      CHECK ((finished_at IS NULL) = (state IN ('waiting', 'sending')))
    );
    ALTER SEQUENCE push_numbers OWNED BY pushes.number;
    CREATE INDEX pushes_unfinished ON pushes (number) WHERE finished_at IS NULL;
    CREATE INDEX pushes_set_aside ON pushes (number) WHERE starts >= 2 AND finished_at IS NULL;
    CREATE INDEX pushes_finished ON pushes (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX pushes_silent ON pushes (finished_at) WHERE finished_at IS NOT NULL AND announcement IS NULL;
    CREATE INDEX pushes_by_announcement ON pushes (account, announcement) WHERE announcement IS NOT NULL;
    CREATE INDEX pushes_by_sequence ON pushes (account, device, sequence) WHERE sequence IS NOT NULL;
    CREATE INDEX pushes_by_clip ON pushes (clip, account, device) WHERE clip IS NOT NULL;
    CREATE INDEX pushes_needed_clips ON pushes (clip) WHERE clip IS NOT NULL AND finished_at IS NULL;
    """
}
