// SPDX-License-Identifier: Apache-2.0

// What a ledger does on lanes that no process plays. While a call holds the seat of a lane, no player can start there.
extension Ledger.Implementation where Self: Ledger.AcceptanceStore & Ledger.StateStore & Ledger.SeatStore {
  /// Cancels an announcement; see ``Ledger/StateStore/cancelUnplayed(_:)``.
  package func cancelWithoutPlayer(_ number: Int64) async throws(LedgerError) -> Bool {
    guard let entry = try await entry(number), !entry.state.isFinal else { return false }
    let seat = try takeSeat(lane: entry.lane)
    defer { withExtendedLifetime(seat) {} }
    // A player may have moved the announcement to its own lane before this call took the seat.
    guard try await self.entry(number)?.lane == entry.lane else { throw error(.laneTaken, while: .changing) }
    do throws(LedgerError) {
      return try await set(number, .cancelled)
    } catch {
      if error.code == .illegalTransition || error.code == .notFound { return false }
      throw error
    }
  }

  /// Restores an announcement; see ``Ledger/StateStore/restoreUnplayed(_:)``.
  package func restoreWithoutPlayer(_ number: Int64) async throws(LedgerError) -> Ledger.Entry? {
    guard let lane = try await entry(number)?.lane else { return nil }
    // A player that had started might already have read past the announcement's number, and would miss it.
    let seat = try takeSeat(lane: lane)
    defer { withExtendedLifetime(seat) {} }
    return try await restore(number)
  }

  /// Returns lanes, each with its number of waiting requests.
  package func waitingLanes(_ counts: [(lane: String, count: Int)]) throws(LedgerError) -> [Ledger.WaitingLane] {
    var lanes: [Ledger.WaitingLane] = []
    for (lane, count) in counts {
      lanes.append(Ledger.WaitingLane(lane: lane, count: count, isPlayed: try player(lane: lane).isRunning))
    }
    return lanes
  }
}
