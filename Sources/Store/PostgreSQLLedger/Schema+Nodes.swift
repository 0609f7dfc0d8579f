// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of migration 10.
  ///
  /// - `nodes` has a row for each process that held a lease or runs the service. `home` is the id of its home folder.
  /// - `leases` has a row for each lease that was ever taken. `epoch` rises by one with each new holder. From `until`, or
  ///   if `until` is further ahead than a lease can last, another node may take the lease; see ``isFree(_:)``.
  ///
  /// Their times come from the server's clock, which all nodes share, and not from the ledger's clock. The type keeps the
  /// two apart.
  static let nodes = """
    CREATE TABLE nodes (
      id         text COLLATE "C" PRIMARY KEY,
      home       text COLLATE "C" NOT NULL,
      host       text COLLATE "C" NOT NULL,
      version    text COLLATE "C" NOT NULL,
      address    text COLLATE "C",
      started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      seen_at    timestamptz NOT NULL
    );

    CREATE TABLE leases (
      name  text COLLATE "C" PRIMARY KEY,
      node  text COLLATE "C" NOT NULL REFERENCES nodes (id),
      epoch bigint NOT NULL CHECK (epoch > 0),
      until timestamptz NOT NULL
    );
    CREATE INDEX leases_by_node ON leases (node);
    """

  /// The changes of migration 12.
  ///
  /// - The name of a lane's lease is `lane:` followed by the name of the lane. Only a node with the same `home` takes
  ///   it, because a lane belongs to its machine. `report` is the latest report of the lane's player.
  /// - `place` says in which folder of which running machine a node has its locked files; see ``NodeIdentity/place``.
  static let lanesOfMachines = """
    ALTER TABLE leases ADD COLUMN report bytea;
    ALTER TABLE nodes ADD COLUMN place text COLLATE "C";
    """

  /// The change of migration 13: `fingerprints` has a line for each thing that must be the same on all nodes; null for a
  /// process that runs no service, and for one of an earlier version.
  static let fingerprintsOfNodes = "ALTER TABLE nodes ADD COLUMN fingerprints text[] COLLATE \"C\";"

  /// The table of migration 14: the provider tokens that the nodes share, each encrypted with the key that signed it. They
  /// are worthless after an hour, so nothing copies them into another ledger.
  static let providerTokens = """
    CREATE TABLE provider_tokens (
      key    text COLLATE "C" PRIMARY KEY,
      sealed bytea NOT NULL
    );
    """

  /// The expression for a number of milliseconds as a duration.
  static func milliseconds(_ value: String) -> String { "\(value)::bigint * interval '1 millisecond'" }

  /// The condition for a lease that another node may take.
  ///
  /// If the server's clock was set back, or a standby with another clock has taken over, a lease may seem to last much
  /// longer than it can. Such a lease is free too. Nothing goes wrong if its holder is alive, because the database refuses
  /// the holder's next write.
  ///
  /// - Parameter length: The expression for the length of a lease in milliseconds.
  static func isFree(_ length: String) -> String {
    "(leases.until <= clock_timestamp() OR leases.until > clock_timestamp() + 2 * \(milliseconds(length)))"
  }
}
