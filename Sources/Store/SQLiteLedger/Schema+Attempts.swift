// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The latest attempts to each webhook endpoint, and the last outcome of the pushes with each kind of token of a
  /// device.
  ///
  /// `pushes.token_kind` is the kind of the token with which the push was last sent; null if it was not sent.
  static let attempts = """
    CREATE TABLE webhook_attempts (
      number       INTEGER PRIMARY KEY AUTOINCREMENT,
      endpoint     INTEGER NOT NULL REFERENCES webhook_endpoints (number) ON DELETE CASCADE,
      at           INTEGER NOT NULL,
      outcome      TEXT NOT NULL,
      status       INTEGER,
      milliseconds INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX webhook_attempts_by_endpoint ON webhook_attempts (endpoint, number);

    ALTER TABLE pushes ADD COLUMN token_kind TEXT;
    CREATE TABLE device_outcomes (
      account TEXT NOT NULL,
      device  TEXT NOT NULL,
      kind    TEXT NOT NULL,
      state   TEXT NOT NULL,
      reason  TEXT,
      at      INTEGER NOT NULL,
      PRIMARY KEY (account, device, kind),
      FOREIGN KEY (account, device) REFERENCES devices (account, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    """

  /// The columns of migration 23: the id and the event of the message that was sent; null in rows of earlier versions.
  static let attemptedMessages = """
    ALTER TABLE webhook_attempts ADD COLUMN message TEXT;
    ALTER TABLE webhook_attempts ADD COLUMN kind TEXT;
    """
}
