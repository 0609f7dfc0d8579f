// SPDX-License-Identifier: Apache-2.0

/// Why a player did not do what it was asked; faults of the ledger are `LedgerError`s.
public struct PlayerError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// It was not started, or was stopped.
    case notRunning = "not_running"
    /// It was started before: a player runs once.
    case alreadyStarted = "already_started"
    /// No finished announcement of the lane has that number, or none was played yet.
    case nothingToReplay = "nothing_to_replay"
    /// A volume is 0 to 100 per cent.
    case volumeInvalid = "volume_invalid"
    /// The account's name begins with `crier:`.
    case accountReserved = "account_reserved"
  }

  public var code: Code
  public var lane: String

  init(_ code: Code, lane: String) {
    self.code = code
    self.lane = lane
  }

  public var description: String {
    switch code {
    case .notRunning: "The player of the lane \(lane) does not run; start it first."
    case .alreadyStarted: "The player of the lane \(lane) was started before; make another one."
    case .nothingToReplay:
      "The lane \(lane) has nothing to play again; give the number of an announcement that has ended."
    case .volumeInvalid: "The volume of the lane \(lane) is out of range; give 0 to 100 per cent."
    case .accountReserved:
      "An announcement for the lane \(lane) has a reserved account; give one that does not begin with crier:."
    }
  }
}
