// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger
public import PushMessages

extension SQLiteLedger {
  public func noteOutcome(
    _ state: Ledger.Push.State, reason: String?, of kind: PushTokenKind, account: String, device: String
  ) async throws(LedgerError) {
    try refuse(
      Ledger.Push.brokenRule(ofOutcome: state, reason: reason, names: [account, device]), while: .pushing)
    try await write(while: .pushing) { [self] database in
      try database.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO device_outcomes (account, device, kind, state, reason, at)
          SELECT account, id, ?3, ?4, ?5, ?6 FROM devices WHERE account = ?1 AND id = ?2
          """
      ).execute(arguments: [account, device, kind.rawValue, state.rawValue, reason, timeStamp])
    }
  }

  /// Stores the outcome of a push in the outbox as an outcome of its device. A push to a removed device with the same
  /// id is ignored, because it says nothing about the present device.
  static func noteOutcome(ofPush number: Int64, in database: Database) throws {
    try database.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO device_outcomes (account, device, kind, state, reason, at)
        SELECT pushes.account, device, coalesce(token_kind, kind), state, reason, finished_at
        FROM pushes JOIN devices ON devices.account = pushes.account AND devices.id = device
        WHERE pushes.number = ? AND pushes.number > registered_after
        """
    ).execute(arguments: [number])
  }
}
