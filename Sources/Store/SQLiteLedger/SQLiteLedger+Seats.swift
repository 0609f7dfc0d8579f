// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger

extension SQLiteLedger {
  public var folder: URL { file.deletingLastPathComponent() }

  public func takeSeat(lane: String) throws(LedgerError) -> PlayerSeat { try seats.takeSeat(lane: lane) }

  public func player(lane: String) throws(LedgerError) -> PlayerStatus { try seats.player(lane: lane) }

  public func players() throws(LedgerError) -> [PlayerStatus] { try seats.players() }

  public func takeSeat(of kind: DeliverySeat.Kind) throws(LedgerError) -> DeliverySeat? { try seats.takeSeat(of: kind) }

  private var seats: SeatFiles { SeatFiles(beside: file, now: now) }
}
