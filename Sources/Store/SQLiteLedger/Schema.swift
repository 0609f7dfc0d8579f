// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger

/// The tables of the ledger. A change of the tables is a new migration; a published migration is never edited.
enum Schema {
  /// The application id "CRLG", which SQLite stores in the header of the file.
  static let applicationID: Int32 = 0x4352_4C47

  /// Refuses another program's database before anything in it is changed.
  ///
  /// - Returns: Whether the database is still empty.
  static func examine(_ database: Database, file: URL) throws -> Bool {
    let id = try Int32.fetchOne(database, sql: "PRAGMA application_id")
    guard id != applicationID else { return false }
    // A new file gets the table of migrations before the first migration runs. If the process is killed in between, the
    // file contains only this table. Such a file is still a ledger.
    let tables = try Int.fetchOne(
      database, sql: "SELECT count(*) FROM sqlite_schema WHERE tbl_name <> 'grdb_migrations'")
    guard id == 0, tables == 0 else { throw LedgerError(.notALedger, while: .opening, in: file) }
    return true
  }

  static func migrate(_ writer: DatabaseQueue, file: URL) throws {
    let migrator = migrator
    try writer.read { try refuseNewer($0, migrator, file: file) }
    guard try !writer.read(migrator.hasCompletedMigrations) else { return }
    try migrator.migrate(writer)
  }

  /// Refuses a ledger that does not have the tables of this version. Nothing in it is changed.
  static func requireCurrent(_ reader: DatabaseQueue, file: URL) throws {
    let migrator = migrator
    try reader.read { try refuseNewer($0, migrator, file: file) }
    guard try reader.read(migrator.hasCompletedMigrations) else {
      throw LedgerError(.olderVersion, while: .opening, in: file)
    }
  }

  /// Refuses a ledger that a newer version has changed, and names a change that this version does not know.
  private static func refuseNewer(_ database: Database, _ migrator: DatabaseMigrator, file: URL) throws {
    guard let newer = try migrator.appliedIdentifiers(database).subtracting(migrator.migrations).min() else { return }
    throw LedgerError(.newerVersion, while: .opening, in: file, field: newer)
  }

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1: announcements, events, commands") { database in
      try database.execute(sql: "PRAGMA application_id = \(applicationID)")
      try database.execute(sql: first)
    }
    migrator.registerMigration("2: keys, answers") { try $0.execute(sql: second) }
    migrator.registerMigration("3: signed requests") { try $0.execute(sql: third) }
    migrator.registerMigration("4: replays") { try $0.execute(sql: replays) }
    migrator.registerMigration("5: expiry of keys, administration") { try $0.execute(sql: administration) }
    migrator.registerMigration("6: clips of answers and batches") { try addClips(to: $0) }
    migrator.registerMigration("7: kind and defaults of announcements") { try addKinds(to: $0) }
    migrator.registerMigration("8: lists of announcements by state") { try $0.execute(sql: listIndex) }
    migrator.registerMigration("9: devices, pushes") { try $0.execute(sql: pushes) }
    migrator.registerMigration("10: webhooks") { try $0.execute(sql: webhooks) }
    migrator.registerMigration("11: enumerators, changes of the library") { try $0.execute(sql: library) }
    migrator.registerMigration("12: starts without an end, order of registrations") { try $0.execute(sql: starts) }
    migrator.registerMigration("13: search") { try addWords(to: $0) }
    migrator.registerMigration("14: ended pushes that announce nothing") { try $0.execute(sql: silentPushes) }
    migrator.registerMigration("15: decisions about announcements") { try $0.execute(sql: decisions) }
    migrator.registerMigration("16: payments of providers") { try $0.execute(sql: providers) }
    migrator.registerMigration("17: quiet announcements, sums") { try addQuiet(to: $0) }
    migrator.registerMigration("18: pauses, alarms") { try $0.execute(sql: pauses) }
    migrator.registerMigration("19: codes for signing in") { try $0.execute(sql: signIns) }
    migrator.registerMigration("20: attempts of webhooks, outcomes of devices") { try $0.execute(sql: attempts) }
    migrator.registerMigration("21: receipts of phones, refunds, format of webhooks") { try $0.execute(sql: receipts) }
    migrator.registerMigration("22: tones of the library") { try addTones(to: $0) }
    migrator.registerMigration("23: messages of attempts") { try $0.execute(sql: attemptedMessages) }
    migrator.registerMigration("24: sources of clips") { try $0.execute(sql: sourcesOfClips) }
    return migrator
  }

  /// The tables of migration 1. Times are milliseconds since 1970, in UTC. `AUTOINCREMENT` ensures that a number is
  /// never reused, even after pruning.
  private static let first = """
    CREATE TABLE announcements (
      number        INTEGER PRIMARY KEY AUTOINCREMENT,
      account       TEXT NOT NULL,
      id            TEXT NOT NULL,
      lane          TEXT NOT NULL,
      category      TEXT NOT NULL CHECK (category IN ('payment', 'refund', 'alert', 'information')),
      sequence      INTEGER,
      payload       BLOB NOT NULL,
      state         TEXT NOT NULL CHECK (state IN ('accepted', 'rendering', 'waiting', 'playing',
                                                   'played', 'cancelled', 'failed', 'expired')),
      detail        TEXT,
      clip          TEXT,
      summarised_by INTEGER REFERENCES announcements (number) ON DELETE SET NULL,
      attempts      INTEGER NOT NULL DEFAULT 0,
      heard         INTEGER,
      accepted_at   INTEGER NOT NULL,
      expires_at    INTEGER,
      changed_at    INTEGER NOT NULL,
      finished_at   INTEGER,
      UNIQUE (account, id),
      CHECK ((finished_at IS NOT NULL) = (state IN ('played', 'cancelled', 'failed', 'expired')))
    ) STRICT;
    CREATE INDEX announcements_by_lane ON announcements (lane, number, state);
    CREATE INDEX announcements_unfinished ON announcements (lane, number) WHERE finished_at IS NULL;
    CREATE INDEX announcements_finished ON announcements (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX announcements_summarised ON announcements (summarised_by) WHERE summarised_by IS NOT NULL;

    CREATE TABLE lanes (
      lane        TEXT PRIMARY KEY,
      last_passed INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE events (
      position     INTEGER PRIMARY KEY AUTOINCREMENT,
      at           INTEGER NOT NULL,
      announcement INTEGER,
      lane         TEXT NOT NULL,
      kind         TEXT NOT NULL,
      detail       TEXT
    ) STRICT;

    CREATE TABLE commands (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      at     INTEGER NOT NULL,
      lane   TEXT NOT NULL,
      kind   TEXT NOT NULL,
      value  INTEGER
    ) STRICT;
    CREATE INDEX commands_by_lane ON commands (lane, number);
    """

  /// The tables of migration 2. `key_changes` counts the changes that a cache of keys must notice. It does not count
  /// new times of last use.
  private static let second = """
    CREATE TABLE keys (
      id           TEXT NOT NULL PRIMARY KEY,
      account      TEXT NOT NULL,
      digest       BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
      scopes       TEXT NOT NULL,
      name         TEXT,
      locale       TEXT,
      pack         TEXT,
      group_id     TEXT,
      rate         REAL,
      burst        INTEGER,
      created_at   INTEGER NOT NULL,
      revoked_at   INTEGER,
      last_used_at INTEGER,
      CHECK ((rate IS NULL) = (burst IS NULL))
    ) STRICT;
    CREATE TABLE key_changes (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      count    INTEGER NOT NULL
    ) STRICT;
    INSERT INTO key_changes VALUES (1, 0);
    CREATE TRIGGER key_created AFTER INSERT ON keys
      BEGIN UPDATE key_changes SET count = count + 1; END;
    CREATE TRIGGER key_changed
      AFTER UPDATE OF id, account, digest, scopes, name, locale, pack, group_id, rate, burst, revoked_at ON keys
      BEGIN UPDATE key_changes SET count = count + 1; END;
    CREATE TRIGGER key_removed AFTER DELETE ON keys
      BEGIN UPDATE key_changes SET count = count + 1; END;

    CREATE TABLE answers (
      account     TEXT NOT NULL,
      key         TEXT NOT NULL,
      body_digest BLOB NOT NULL CHECK (length(body_digest) = 32),
      id          TEXT NOT NULL,
      status      INTEGER NOT NULL,
      report      BLOB NOT NULL,
      created_at  INTEGER NOT NULL,
      UNIQUE (account, key)
    ) STRICT;
    CREATE INDEX answers_by_id ON answers (account, id);
    CREATE INDEX answers_by_account ON answers (account, created_at);
    CREATE INDEX answers_by_age ON answers (created_at);
    CREATE INDEX announcements_by_account ON announcements (account);
    """

  /// The tables of migration 3. `signed_at` is in whole seconds since 1970, as the sender signed it.
  private static let third = """
    CREATE TABLE signed_requests (
      key_id    TEXT NOT NULL,
      number    INTEGER NOT NULL,
      signature BLOB NOT NULL UNIQUE CHECK (length(signature) = 32),
      signed_at INTEGER NOT NULL,
      PRIMARY KEY (key_id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX signed_requests_by_age ON signed_requests (signed_at);
    CREATE TABLE forgotten_signed_requests (
      only_row  INTEGER PRIMARY KEY CHECK (only_row = 1),
      signed_at INTEGER NOT NULL
    ) STRICT;
    """
}
