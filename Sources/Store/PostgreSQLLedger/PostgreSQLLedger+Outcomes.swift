// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PostgreSQL
public import PushMessages

extension PostgreSQLLedger {
  public func noteOutcome(
    _ state: Ledger.Push.State, reason: String?, of kind: PushTokenKind, account: String, device: String
  ) async throws(LedgerError) {
    try refuse(
      Ledger.Push.brokenRule(ofOutcome: state, reason: reason, names: [account, device]), while: .pushing)
    try await write(while: .pushing) { [self] session in
      // The lock keeps the device from being removed between the look-up and the insertion.
      try session.execute(
        """
        INSERT INTO device_outcomes (account, device, kind, state, reason, at)
        SELECT account, id, $3, $4, $5, $6 FROM devices WHERE account = $1 AND id = $2 FOR KEY SHARE
        ON CONFLICT (account, device, kind) DO UPDATE
          SET state = excluded.state, reason = excluded.reason, at = excluded.at
        """,
        [
          .string(account), .string(device), .string(kind.rawValue), .string(state.rawValue), .string(reason),
          .int64(timeStamp),
        ])
    }
  }

  /// Stores the outcomes of pushes in the outbox as outcomes of their devices. A push to a removed device with the same
  /// id is ignored, because it says nothing about the present device.
  ///
  /// - Parameter numbers: The numbers of pushes that have just ended. Of several with the same kind of token, the last one
  ///   counts.
  static func noteOutcomes(ofPushes numbers: [Int64], in session: borrowing PostgreSQLSession) throws {
    // All nodes lock devices, and then their outcomes, in the same order.
    try session.execute(
      """
      SELECT id FROM devices WHERE (account, id) IN (SELECT account, device FROM pushes WHERE number = ANY($1))
      ORDER BY account, id FOR KEY SHARE
      """, [.int64s(numbers)])
    try session.execute(
      """
      INSERT INTO device_outcomes (account, device, kind, state, reason, at)
      SELECT DISTINCT ON (pushes.account, device, coalesce(token_kind, kind))
        pushes.account, device, coalesce(token_kind, kind), state, reason, finished_at
      FROM unnest($1::bigint[]) WITH ORDINALITY AS ended (number, place) JOIN pushes USING (number)
      JOIN devices ON devices.account = pushes.account AND devices.id = device
      WHERE number > registered_after
      ORDER BY pushes.account, device, coalesce(token_kind, kind), place DESC
      ON CONFLICT (account, device, kind) DO UPDATE
        SET state = excluded.state, reason = excluded.reason, at = excluded.at
      """, [.int64s(numbers)])
  }
}
