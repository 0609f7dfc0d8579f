// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The exclusive rights to play a lane and to make deliveries.
  public protocol SeatStore: Sendable {
    /// The folder of this machine in which the ledger has its files, such as those of the seats.
    var folder: URL { get }

    /// Takes the lane's seat.
    ///
    /// - Throws: ``LedgerError`` with `laneTaken` when this process or another already has the seat on this ledger. The
    ///   call tries for 0.1 s, because a watcher holds the lock for a moment when it reads the status.
    func takeSeat(lane: String) throws(LedgerError) -> PlayerSeat

    /// Returns whether the lane has a player, and the player's latest report.
    func player(lane: String) throws(LedgerError) -> PlayerStatus

    /// Returns the status of every lane that was ever played, sorted by the lane's name.
    func players() throws(LedgerError) -> [PlayerStatus]

    /// Takes the right to make deliveries.
    ///
    /// - Returns: nil when this process or another has already taken the right.
    /// - Throws: ``LedgerError`` with a file error, `unreachable` or `busy`.
    func takeSeat(of kind: DeliverySeat.Kind) async throws(LedgerError) -> DeliverySeat?
  }
}
