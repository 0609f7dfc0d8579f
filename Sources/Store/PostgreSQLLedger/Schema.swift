// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// The tables of the ledger. A change of the tables is a new migration; a published migration is never edited.
///
/// - Times are milliseconds since 1970, in UTC, by the clock of the node that stores them. ``nodes`` has other times.
/// - Texts have the collation "C", so that they are compared byte for byte, as the ledger in SQLite does.
/// - Identity columns and sequences never give out a number twice. Numbers have gaps, because a transaction that is
///   rolled back has used its numbers up. Two transactions may become visible in another order than that of their
///   numbers. Numbers after which a reader continues therefore have a rule: ``announcements``, ``events`` and
///   ``SettledNumbers`` each describe one.
enum Schema {
  static let migrations = PostgreSQLMigrations([
    .init("1: announcements, answers, decisions", announcements),
    .init("2: events", events),
    .init("3: commands, pauses, alarms", commands),
    .init("4: keys, sign-ins, signed requests, administration", keys),
    .init("5: devices", devices),
    .init("6: pushes", pushes),
    .init("7: webhooks", webhooks),
    .init("8: library, clips of batches", library),
    .init("9: payments of providers", providers),
    .init("10: nodes, leases", nodes),
    .init("11: indexes and vacuuming of large tables", largeTables),
    .init("12: lanes of machines", lanesOfMachines),
    .init("13: fingerprints of nodes", fingerprintsOfNodes),
    .init("14: provider tokens", providerTokens),
    .init("15: sources of clips", sourcesOfClips),
    .init("16: batches", batches),
  ])

  /// The expression for the number of this transaction. A transaction gets its number at the first use of the
  /// expression.
  static let thisTransaction = "pg_current_xact_id()::text::bigint"

  /// The expression for the number below which every transaction has ended, so that no row of it can appear any more.
  /// The transactions of all databases of the server count.
  static let horizon = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"

  /// The expression for the horizon of this database. Transactions of other databases, which may take hours, do not
  /// count. It reads all locks of the server, so it is used only if ``horizon`` is too low.
  ///
  /// Each transaction holds a lock on its number. The view of locks has only the lower 32 bits of the number. An open
  /// transaction whose lock is not found, because it has just begun or ended, counts as one of this database.
  static let horizonOfDatabase = """
    coalesce((
      SELECT min(number::text::bigint) FROM pg_snapshot_xip(pg_current_snapshot()) AS open (number)
      WHERE NOT EXISTS (
        SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted AND datname <> current_database()
          AND transactionid::text::bigint = number::text::bigint & 4294967295)
    ), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
    """
}
