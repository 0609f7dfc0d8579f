// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func pause(lane: String) async throws(LedgerError) -> Ledger.Pause? {
    try checkLane(lane, while: .reading)
    return try await read { database in
      try database.cachedStatement(sql: "SELECT since, paused_by, account FROM pauses WHERE lane = ?").first(
        [lane], Ledger.Pause.init(row:))
    }
  }

  public func keep(_ pause: Ledger.Pause?, lane: String) async throws(LedgerError) {
    try checkLane(lane, while: .commanding)
    try await write(while: .commanding) { database in
      guard let pause else {
        return try database.execute(sql: "DELETE FROM pauses WHERE lane = ?", arguments: [lane])
      }
      try database.execute(
        sql: "INSERT OR REPLACE INTO pauses (lane, since, paused_by, account) VALUES (?, ?, ?, ?)",
        arguments: [lane, pause.since.wholeMilliseconds ?? 0, pause.by, pause.account])
    }
  }
}

extension Schema {
  /// The tables of migration 18.
  ///
  /// - `pauses` has a row for each lane that is paused. `account` is the account of the key that paused it.
  /// - `alarms` has a row for each alarm whose beginning was reported and whose end was not. `lane` is the lane of the
  ///   service that reported it, empty if it has none.
  static let pauses = """
    CREATE TABLE pauses (
      lane      TEXT NOT NULL PRIMARY KEY,
      since     INTEGER NOT NULL,
      paused_by TEXT,
      account   TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE alarms (
      lane     TEXT NOT NULL,
      alarm    TEXT NOT NULL,
      began_at INTEGER NOT NULL,
      PRIMARY KEY (lane, alarm)
    ) STRICT, WITHOUT ROWID;
    """
}
