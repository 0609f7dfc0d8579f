// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func pause(lane: String) async throws(LedgerError) -> Ledger.Pause? {
    try checkLane(lane, while: .reading)
    return try await read { session in
      try session.first(
        "SELECT since, paused_by, account FROM pauses WHERE lane = $1", [.string(lane)], Ledger.Pause.init(row:))
    }
  }

  public func keep(_ pause: Ledger.Pause?, lane: String) async throws(LedgerError) {
    try checkLane(lane, while: .commanding)
    try await write(while: .commanding) { session in
      // The lock keeps a move of the lane's requests from carrying the pause away meanwhile.
      try Self.lock(lanes: [lane], in: session)
      guard let pause else {
        try session.execute("DELETE FROM pauses WHERE lane = $1", [.string(lane)])
        return
      }
      try session.execute(
        Self.keeping,
        [.string(lane), .int64(pause.since.wholeMilliseconds ?? 0), .string(pause.by), .string(pause.account)])
    }
  }

  static let keeping = """
    INSERT INTO pauses (lane, since, paused_by, account) VALUES ($1, $2, $3, $4)
    ON CONFLICT (lane) DO UPDATE SET since = excluded.since, paused_by = excluded.paused_by, account = excluded.account
    """
}
