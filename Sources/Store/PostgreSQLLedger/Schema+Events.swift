// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of migration 2.
  ///
  /// A watcher reads the events after the last position that it has seen, so positions must be in the order in which
  /// events become visible. Transactions end in another order than they begin, so no counter gives such positions. The
  /// position of an event therefore consists of the number of its transaction and of its place among the events of the
  /// transaction:
  ///
  ///     position = base + transaction * 2^18 + place
  ///
  /// Reading stops before the first position whose transaction may still be open (``horizonOfDatabase``). All later
  /// events then have a higher position than all events that were read. Transactions are numbered with 64 bits, so 2^45
  /// of them have positions: more than thirty years of 30,000 a second.
  ///
  /// A database that was dumped and loaded into another server meets transactions with lower numbers there. `base` is
  /// raised then, when the ledger is opened; see ``PostgreSQLLedger/alignPositions(_:)``. `pruned` is the highest
  /// position that was pruned.
  static let events = """
    CREATE TABLE event_positions (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      base     bigint NOT NULL,
      pruned   bigint NOT NULL
    );
    INSERT INTO event_positions (base, pruned) VALUES (0, 0);

    CREATE TABLE events (
      position     bigint PRIMARY KEY,
      at           bigint NOT NULL,
      announcement bigint,
      lane         text COLLATE "C" NOT NULL,
      kind         text COLLATE "C" NOT NULL,
      detail       text COLLATE "C"
    );
    CREATE INDEX events_by_lane ON events (lane, position);
    """

  /// The statement that raises `base` if positions would not rise, because the database was loaded into another server.
  /// Its parameter is the highest position in the table.
  static let alignment = """
    UPDATE event_positions SET base = $1 + 1 - (\(thisTransaction) << 18)
    WHERE base + (\(thisTransaction) << 18) <= $1
    """
}
