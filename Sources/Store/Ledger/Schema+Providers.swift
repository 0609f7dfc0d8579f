// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of migration 16: what payment providers' webhooks have reported.
  ///
  /// - A row of `provider_payments` is unfinished until it was announced, or until it is known that it cannot be. Its
  ///   `payload` is the announcement that is to be accepted, and goes when the row has ended. `starts` is as in
  ///   migration 12.
  /// - `provider_ids` outlives the rows, so that a payment that a provider reports again is known. A row has 16 bytes
  ///   for the payment and 8 for its sum, and goes after `until`; without it, it stays.
  static let providers = """
    CREATE TABLE provider_payments (
      number      INTEGER PRIMARY KEY AUTOINCREMENT,
      account     TEXT NOT NULL,
      endpoint    TEXT NOT NULL,
      id          TEXT,
      kind        TEXT,
      amount      TEXT,
      currency    TEXT,
      payload     BLOB,
      state       TEXT NOT NULL CHECK (state IN ('waiting', 'announced', 'late', 'refused')),
      reason      TEXT,
      starts      INTEGER NOT NULL DEFAULT 0,
      received_at INTEGER NOT NULL,
      finished_at INTEGER,
      CHECK ((finished_at IS NULL) = (state = 'waiting')),
      CHECK ((payload IS NULL) = (state <> 'waiting'))
    ) STRICT;
    CREATE INDEX provider_payments_unfinished ON provider_payments (number) WHERE finished_at IS NULL;
    CREATE INDEX provider_payments_finished ON provider_payments (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX provider_payments_by_endpoint ON provider_payments (account, endpoint, number);

    CREATE TABLE provider_ids (
      id     BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
      sum    BLOB NOT NULL CHECK (length(sum) = 8),
      until  INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX provider_ids_by_end ON provider_ids (until) WHERE until IS NOT NULL;
    """
}
