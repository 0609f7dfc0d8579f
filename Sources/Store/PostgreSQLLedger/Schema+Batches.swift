// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of the batches that any node works on.
  ///
  /// - `batches.request` and `batches.status` belong to the service. `status` counts the rows whose results are stored.
  /// - `batches.starts` is the number of times that a node has begun the batch without an ordered end.
  /// - A list and a result are stored in pieces, which have the numbers 0, 1 and so on. `row_numbers` has the rows to
  ///   which the lines of a piece belong.
  /// - The lease of a batch has the name `batch:` and the batch's id. It is removed together with the batch.
  static let batches = """
    CREATE TABLE batches (
      id           text COLLATE "C" PRIMARY KEY,
      account      text COLLATE "C" NOT NULL,
      request      bytea NOT NULL,
      status       bytea NOT NULL,
      state        text COLLATE "C" NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
      starts       bigint NOT NULL DEFAULT 0,
      created_at   bigint NOT NULL,
      cancelled_at bigint,
      finished_at  bigint,
      CHECK ((state = 'running') = (finished_at IS NULL))
    );
    CREATE INDEX batches_by_account ON batches (account, created_at, id);
    CREATE INDEX batches_unfinished ON batches (created_at, id) WHERE finished_at IS NULL;
    CREATE INDEX batches_ended ON batches (finished_at) WHERE finished_at IS NOT NULL;

    CREATE TABLE batch_lists (
      batch  text COLLATE "C" NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
      number bigint NOT NULL,
      bytes  bytea NOT NULL,
      PRIMARY KEY (batch, number)
    );

    CREATE TABLE batch_results (
      batch       text COLLATE "C" NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
      number      bigint NOT NULL,
      row_numbers bigint[] NOT NULL,
      lines       bytea NOT NULL,
      PRIMARY KEY (batch, number)
    );
    """
}
