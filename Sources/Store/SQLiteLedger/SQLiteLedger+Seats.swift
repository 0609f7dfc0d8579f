// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger

extension SQLiteLedger {
  public var folder: URL { file.deletingLastPathComponent() }

  public func lane(ofOutput output: String) -> String { output }

  public func takeSeat(lane: String) throws(LedgerError) -> PlayerSeat { try seats.takeSeat(lane: lane) }

  /// A locked file cannot be lost, so the player needs no other ledger.
  public func ledger(under seat: PlayerSeat) -> any Ledger.Store { self }

  public func player(lane: String) throws(LedgerError) -> PlayerStatus { try seats.player(lane: lane) }

  public func players() throws(LedgerError) -> [PlayerStatus] { try seats.players() }

  public func moveHere(lane: String) async throws(LedgerError) -> Int {
    // Each lane belongs to this machine already.
    let seat = try takeSeat(lane: lane)
    let count = try await waitingLanes().first { $0.lane == lane }?.count ?? 0
    await seat.giveBack()
    return count
  }

  public func takeSeat(of kind: DeliverySeat.Kind) async throws(LedgerError) -> DeliverySeat? {
    try seats.takeSeat(of: kind)
  }

  /// Refuses a write under a seat that was given back. A locked file cannot be lost in another way.
  func check(_ seat: DeliverySeat?, while action: LedgerError.Action) throws(LedgerError) {
    if seat?.isGivenBack == true { throw LedgerError(.leaseLost, while: action, in: file) }
  }

  private var seats: SeatFiles { SeatFiles(beside: file, now: now) }
}
