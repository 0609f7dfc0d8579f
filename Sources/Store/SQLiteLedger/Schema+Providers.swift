// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of migration 16, for the payments that providers' webhooks have reported.
  ///
  /// - A row of `provider_payments` is unfinished until its payment was announced, or proved impossible to announce.
  ///   Its `payload` is the announcement to accept, and is deleted when the row has ended. `starts` has the meaning of
  ///   migration 12.
  /// - A row of `provider_ids` is kept longer than the payment's row, so that a payment is recognized when a provider
  ///   reports it again. It has 16 bytes for the payment and 8 for its sum. It is deleted after `until`; a row without
  ///   `until` stays.
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
