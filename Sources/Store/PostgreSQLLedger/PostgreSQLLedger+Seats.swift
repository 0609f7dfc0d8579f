// SPDX-License-Identifier: Apache-2.0

public import Ledger

// The seats of lanes are locked files of this machine. A lane is a loudspeaker of one machine, so the processes that could
// play it are on that machine.
extension PostgreSQLLedger {
  public func takeSeat(lane: String) throws(LedgerError) -> PlayerSeat { try seats.takeSeat(lane: lane) }

  public func player(lane: String) throws(LedgerError) -> PlayerStatus { try seats.player(lane: lane) }

  public func players() throws(LedgerError) -> [PlayerStatus] { try seats.players() }
}
