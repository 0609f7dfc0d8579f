// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// A pause that somebody ordered on a lane.
  public struct Pause: Sendable, Hashable {
    /// The time since which the lane is paused.
    public var since: Date
    /// The name of the key, or the command, that paused the lane.
    public var by: String?
    /// The account of the key; nil for a command on this machine.
    public var account: String?

    public init(since: Date, by: String? = nil, account: String? = nil) {
      (self.since, self.by, self.account) = (since, by, account)
    }
  }

  /// Returns the stored pause of a lane; nil if there is none.
  public func pause(lane: String) async throws(LedgerError) -> Pause? {
    try checkLane(lane, while: .reading)
    return try await read { database in
      try database.cachedStatement(sql: "SELECT since, paused_by, account FROM pauses WHERE lane = ?").first([lane]) {
        Pause(
          since: Date(wholeMilliseconds: try $0.value("since")), by: try $0.optional("paused_by"),
          account: try $0.optional("account"))
      }
    }
  }

  /// Stores the pause of a lane, so that it lasts across a restart. It is durable when the call returns.
  ///
  /// - Parameter pause: The pause; nil if the lane is not paused any more.
  /// - Throws: ``LedgerError``. Nothing was changed then.
  public func keep(_ pause: Pause?, lane: String) async throws(LedgerError) {
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
