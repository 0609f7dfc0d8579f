// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The table of the codes with which people sign in, and a column in the table of keys. The column has the id of the
  /// code that was exchanged for the key.
  ///
  /// `maker` is the key that made the code; null if a user of this machine did. The key for which the code is exchanged
  /// gets the `addresses`.
  static let signIns = """
    CREATE TABLE sign_in_codes (
      id         TEXT NOT NULL PRIMARY KEY,
      digest     BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
      scope      TEXT NOT NULL,
      account    TEXT NOT NULL,
      name       TEXT NOT NULL,
      days       INTEGER NOT NULL CHECK (days > 0),
      addresses  TEXT,
      maker      TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at    INTEGER
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE keys ADD COLUMN sign_in_code TEXT;
    """
}
