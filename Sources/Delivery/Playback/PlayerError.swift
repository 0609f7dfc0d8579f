// SPDX-License-Identifier: Apache-2.0

/// The error for a request that a player did not carry out. Errors of the ledger are `LedgerError`s.
public struct PlayerError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The player was not started, or was stopped.
    case notRunning = "not_running"
    /// The player was started before. A player can only run once.
    case alreadyStarted = "already_started"
    /// No finished announcement of the lane has that number, or none was played yet.
    case nothingToReplay = "nothing_to_replay"
    /// The volume is not in the range 0 to 100 per cent.
    case volumeInvalid = "volume_invalid"
  }

  public var code: Code
  public var lane: String

  init(_ code: Code, lane: String) {
    self.code = code
    self.lane = lane
  }

  public var description: String {
    switch code {
    case .notRunning: "The player of the lane \(lane) is not running; start it first."
    case .alreadyStarted: "The player of the lane \(lane) was already started; create another player."
    case .nothingToReplay:
      """
      Nothing was played on the lane \(lane) yet, or no announcement with this number has ended; give the number of one \
      that has ended.
      """
    case .volumeInvalid: "The volume of the lane \(lane) is out of range; give 0 to 100 per cent."
    }
  }
}
