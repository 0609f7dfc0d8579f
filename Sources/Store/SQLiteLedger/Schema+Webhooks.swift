// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of webhook endpoints and of the messages to them.
  ///
  /// - The secret of an endpoint is stored as it is, because each message is signed with it.
  /// - `webhook_endpoints.waiting` and the columns after it count the endpoint's messages by state. `missed` counts the
  ///   events for which no message was stored, because too many were waiting.
  /// - `webhook_endpoints.failing_since` is the time since which every attempt has failed.
  /// - A message is unfinished until `finished_at` is set. Its id and its body never change, so they are the same in
  ///   every attempt. When an endpoint is removed, its messages are removed too.
  static let webhooks = """
    CREATE TABLE webhook_endpoints (
      number          INTEGER PRIMARY KEY AUTOINCREMENT,
      id              TEXT NOT NULL UNIQUE,
      account         TEXT NOT NULL,
      url             TEXT NOT NULL,
      secret          TEXT NOT NULL,
      kinds           TEXT NOT NULL,
      description     TEXT,
      created_at      INTEGER NOT NULL,
      delivered_at    INTEGER,
      failing_since   INTEGER,
      last_outcome    TEXT,
      last_attempt_at INTEGER,
      disabled_at     INTEGER,
      disabled_reason TEXT,
      waiting         INTEGER NOT NULL DEFAULT 0,
      delivered       INTEGER NOT NULL DEFAULT 0,
      failed          INTEGER NOT NULL DEFAULT 0,
      expired         INTEGER NOT NULL DEFAULT 0,
      missed          INTEGER NOT NULL DEFAULT 0,
      UNIQUE (account, url),
      CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
    ) STRICT;

    CREATE TABLE webhooks (
      number           INTEGER PRIMARY KEY AUTOINCREMENT,
      message_id       TEXT NOT NULL UNIQUE,
      endpoint         INTEGER NOT NULL REFERENCES webhook_endpoints (number) ON DELETE CASCADE,
      kind             TEXT NOT NULL,
      body             BLOB NOT NULL,
      state            TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'expired')),
      outcome          TEXT,
      attempts         INTEGER NOT NULL DEFAULT 0,
      next_at          INTEGER NOT NULL,
      first_attempt_at INTEGER,
      created_at       INTEGER NOT NULL,
      finished_at      INTEGER,
      CHECK ((finished_at IS NULL) = (state = 'waiting'))
    ) STRICT;
    CREATE INDEX webhooks_unfinished ON webhooks (number) WHERE finished_at IS NULL;
    CREATE INDEX webhooks_finished ON webhooks (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX webhooks_by_endpoint ON webhooks (endpoint, number);
    """
}
