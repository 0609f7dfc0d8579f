// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of the payments that providers' webhooks have reported.
  ///
  /// - A row of `provider_payments` is unfinished until its payment was announced, or proved impossible to announce.
  ///   Its `payload` is the announcement to accept, and is deleted when the row has ended. `starts` is the number of
  ///   times that its announcing has begun.
  /// - A row of `provider_ids` is kept longer than the payment's row, so that a payment is recognized when a provider
  ///   reports it again, to any node. It has 16 bytes for the payment and 8 for its sum. It is deleted after `until`; a
  ///   row without `until` stays.
  /// - The default of `provider_payments.number` takes the transaction's id before the number; see ``SettledNumbers``.
  static let providers = """
    CREATE SEQUENCE provider_payment_numbers;
    CREATE TABLE provider_payments (
      number      bigint PRIMARY KEY
        DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('provider_payment_numbers') END,
      account     text COLLATE "C" NOT NULL,
      endpoint    text COLLATE "C" NOT NULL,
      id          text COLLATE "C",
      kind        text COLLATE "C",
      amount      text COLLATE "C",
      currency    text COLLATE "C",
      payload     bytea,
      state       text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'announced', 'late', 'refused')),
      reason      text COLLATE "C",
      starts      bigint NOT NULL DEFAULT 0,
      received_at bigint NOT NULL,
      finished_at bigint,
      CHECK ((finished_at IS NULL) = (state = 'waiting')),
      CHECK ((payload IS NULL) = (state <> 'waiting'))
    );
    ALTER SEQUENCE provider_payment_numbers OWNED BY provider_payments.number;
    CREATE INDEX provider_payments_unfinished ON provider_payments (number) WHERE finished_at IS NULL;
    CREATE INDEX provider_payments_set_aside ON provider_payments (number) WHERE starts >= 2 AND finished_at IS NULL;
    CREATE INDEX provider_payments_finished ON provider_payments (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX provider_payments_by_endpoint ON provider_payments (account, endpoint, number);

    CREATE TABLE provider_ids (
      id    bytea PRIMARY KEY CHECK (length(id) = 16),
      sum   bytea NOT NULL CHECK (length(sum) = 8),
      until bigint
    );
    CREATE INDEX provider_ids_by_end ON provider_ids (until) WHERE until IS NOT NULL;
    """
}
