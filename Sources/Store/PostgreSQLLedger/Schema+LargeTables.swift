// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The indexes that tables with millions of rows need, and the settings for vacuuming them.
  ///
  /// - Without `webhook_endpoints_disabled` and `keys_by_group`, calls that each node repeats would read all endpoints, or
  ///   all keys.
  /// - `device_tokens_with_token` replaces an index that began with the account. The planner also used the former index
  ///   where only the account is known, and then read all tokens of an account with thousands of devices.
  /// - By default, a table is vacuumed when a fifth of its rows are dead, and its statistics are renewed when a tenth
  ///   has changed. A table that holds 30 days of rows would reach these limits only after days. Until then, the
  ///   planner decides by old statistics, and indexes of unfinished rows keep the entries of all rows that have ended
  ///   since.
  static let largeTables = """
    CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (account, disabled_at) WHERE disabled_at IS NOT NULL;
    CREATE INDEX keys_by_group ON keys (group_id) WHERE group_id IS NOT NULL;
    CREATE INDEX device_tokens_with_token ON device_tokens (token, account);
    DROP INDEX device_tokens_by_token;
    ALTER TABLE announcements SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    ALTER TABLE answers SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    ALTER TABLE decisions SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    ALTER TABLE library_changes SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    ALTER TABLE pushes SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    ALTER TABLE webhooks SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    """
}
