// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The table that links a replay to its original and to the account that requested it. The account is null if a
  /// person at the machine requested the replay.
  static let replays = """
    CREATE TABLE replays (
      number    INTEGER PRIMARY KEY REFERENCES announcements (number) ON DELETE CASCADE,
      original  INTEGER REFERENCES announcements (number) ON DELETE SET NULL,
      requester TEXT
    ) STRICT;
    CREATE INDEX replays_by_original ON replays (original) WHERE original IS NOT NULL;
    """

  /// The columns for keys' expiry and addresses, and the log of administration. A key's addresses are networks
  /// separated by spaces. Entries of the log are added and pruned but never changed.
  static let administration = """
    ALTER TABLE keys ADD COLUMN expires_at INTEGER;
    ALTER TABLE keys ADD COLUMN addresses TEXT;
    ALTER TABLE keys ADD COLUMN strict INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1));
    ALTER TABLE keys ADD COLUMN rotated_to TEXT;
    CREATE TRIGGER key_access_changed AFTER UPDATE OF expires_at, addresses, strict, rotated_to ON keys
      BEGIN UPDATE key_changes SET count = count + 1; END;

    CREATE TABLE administration (
      number  INTEGER PRIMARY KEY AUTOINCREMENT,
      at      INTEGER NOT NULL,
      actor   TEXT NOT NULL,
      action  TEXT NOT NULL,
      subject TEXT
    ) STRICT;
    CREATE INDEX administration_by_age ON administration (at);
    CREATE TRIGGER administration_unchanged BEFORE UPDATE ON administration
      BEGIN SELECT RAISE(ABORT, 'what was done is not changed'); END;
    """
}
