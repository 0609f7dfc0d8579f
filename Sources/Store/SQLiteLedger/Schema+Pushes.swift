// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of devices and their pushes.
  ///
  /// - `devices.last_sequence` is the number of the latest announcement that was pushed to the device. It rises by one
  ///   with each announcement, in the transaction that accepts it. `devices.first_sequence` is its value at the time of
  ///   the registration: a device continues the numbers of a removed device with the same id, but has none of its
  ///   pushes.
  /// - A push is unfinished until `finished_at` is set. Its body never changes, so it is the same in every attempt.
  static let pushes = """
    CREATE TABLE devices (
      account        TEXT NOT NULL,
      id             TEXT NOT NULL,
      app            TEXT NOT NULL,
      environment    TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
      app_group      TEXT,
      device_group   TEXT,
      locale         TEXT,
      tone           TEXT,
      key_id         TEXT,
      first_sequence INTEGER NOT NULL DEFAULT 0,
      last_sequence  INTEGER NOT NULL DEFAULT 0,
      registered_at  INTEGER NOT NULL,
      changed_at     INTEGER NOT NULL,
      PRIMARY KEY (account, id)
    ) STRICT;
    CREATE INDEX devices_by_group ON devices (account, device_group) WHERE device_group IS NOT NULL;

    CREATE TABLE device_tokens (
      account       TEXT NOT NULL,
      device        TEXT NOT NULL,
      kind          TEXT NOT NULL
        CHECK (kind IN ('alert', 'background', 'fileprovider', 'fileprovider_extension')),
      token         TEXT NOT NULL,
      registered_at INTEGER NOT NULL,
      refusals      INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (account, device, kind),
      FOREIGN KEY (account, device) REFERENCES devices (account, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX device_tokens_by_token ON device_tokens (account, token);

    CREATE TABLE pushes (
      number       INTEGER PRIMARY KEY AUTOINCREMENT,
      apns_id      TEXT NOT NULL UNIQUE,
      account      TEXT NOT NULL,
      device       TEXT NOT NULL,
      announcement TEXT,
      kind         TEXT NOT NULL CHECK (kind IN ('alert', 'background', 'fileprovider')),
      app          TEXT NOT NULL,
      environment  TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
      sequence     INTEGER,
      priority     INTEGER NOT NULL,
      collapse_id  TEXT,
      body         BLOB NOT NULL,
      clip         TEXT,
      state        TEXT NOT NULL
        CHECK (state IN ('waiting', 'sending', 'delivered', 'failed', 'expired', 'unregistered')),
      reason       TEXT,
      attempts     INTEGER NOT NULL DEFAULT 0,
      created_at   INTEGER NOT NULL,
      expires_at   INTEGER NOT NULL,
      finished_at  INTEGER,
      CHECK ((finished_at IS NULL) = (state IN ('waiting', 'sending')))
    ) STRICT;
    CREATE INDEX pushes_unfinished ON pushes (number) WHERE finished_at IS NULL;
    CREATE INDEX pushes_finished ON pushes (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX pushes_by_announcement ON pushes (account, announcement) WHERE announcement IS NOT NULL;
    CREATE INDEX pushes_by_sequence ON pushes (account, device, sequence) WHERE sequence IS NOT NULL;
    CREATE INDEX pushes_by_clip ON pushes (clip, account, device) WHERE clip IS NOT NULL;
    CREATE INDEX pushes_needed_clips ON pushes (clip) WHERE clip IS NOT NULL AND finished_at IS NULL;

    ALTER TABLE keys ADD COLUMN device TEXT;
    CREATE INDEX keys_by_device ON keys (account, device) WHERE device IS NOT NULL;
    """

  /// The index with which pruning finds the oldest ended pushes that announce nothing.
  static let silentPushes = """
    CREATE INDEX pushes_silent ON pushes (finished_at) WHERE finished_at IS NOT NULL AND announcement IS NULL;
    """
}
