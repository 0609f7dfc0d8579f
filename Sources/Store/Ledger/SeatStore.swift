// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The exclusive rights to play a lane and to make deliveries.
  public protocol SeatStore: Sendable {
    /// The folder of this machine in which the ledger has its files, such as those of the seats.
    var folder: URL { get }

    /// Returns the name of the lane of an output of this machine. If several machines use the ledger, the lane's name
    /// contains the name of the machine, because an output such as `default` is another loudspeaker on each machine.
    ///
    /// - Parameter output: The name of the output.
    func lane(ofOutput output: String) -> String

    /// Takes the lane's seat. The lane then belongs to this machine until a person moves it.
    ///
    /// - Throws: ``LedgerError`` with `laneTaken` when this process or another already has the seat on this ledger, or if
    ///   the lane belongs to another machine. The call tries for 0.1 s, because a watcher holds the lock for a moment
    ///   when it reads the status.
    func takeSeat(lane: String) async throws(LedgerError) -> PlayerSeat

    /// Returns the ledger for the player that has a seat. If the seat is lost, the player's writes fail with `leaseLost`,
    /// and change nothing.
    func ledger(under seat: PlayerSeat) -> any Store

    /// Returns whether the lane has a player, and the player's latest report.
    func player(lane: String) async throws(LedgerError) -> PlayerStatus

    /// Returns the status of every lane that was ever played, sorted by the lane's name.
    func players() async throws(LedgerError) -> [PlayerStatus]

    /// Returns the lanes with unfinished announcements that a player of this machine may take over, sorted by name.
    func lanesToTakeOver() async throws(LedgerError) -> [String]

    /// Gives a lane to this machine. A person orders this if the lane's former machine does not come back. The next
    /// player that starts here and takes over lanes plays the announcements that wait on the lane.
    ///
    /// - Returns: The number of requests that wait on the lane.
    /// - Throws: ``LedgerError`` with `laneTaken` when a process plays the lane.
    func moveHere(lane: String) async throws(LedgerError) -> Int

    /// Takes the right to make deliveries.
    ///
    /// - Returns: nil when this process or another has already taken the right.
    /// - Throws: ``LedgerError`` with a file error, `unreachable` or `busy`.
    func takeSeat(of kind: DeliverySeat.Kind) async throws(LedgerError) -> DeliverySeat?
  }
}
