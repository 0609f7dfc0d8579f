// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// A command that another process sends to the player of a lane.
  public enum Command: Sendable, Hashable {
    case pause
    case resume
    /// Ends the announcement with this number if it is playing; nil ends whatever is playing.
    case skip(Int64?)
    /// Cancels the announcement with this number.
    case cancel(Int64)
    /// Plays the announcement with this number again; nil plays the last played announcement again.
    case replay(Int64?)
    /// Sets the volume, 0 to 100 per cent.
    case volume(Int)

    var stored: (kind: String, value: Int64?) {
      switch self {
      case .pause: ("pause", nil)
      case .resume: ("resume", nil)
      case .skip(let number): ("skip", number)
      case .cancel(let number): ("cancel", number)
      case .replay(let number): ("replay", number)
      case .volume(let percent): ("volume", Int64(percent))
      }
    }

    init?(kind: String, value: Int64?) {
      switch (kind, value) {
      case ("pause", nil): self = .pause
      case ("resume", nil): self = .resume
      case ("skip", let number): self = .skip(number)
      case ("cancel", let number?): self = .cancel(number)
      case ("replay", let number): self = .replay(number)
      case ("volume", let percent?): self = .volume(Int(percent))
      default: return nil
      }
    }
  }

  /// A command as the player receives it.
  public struct SentCommand: Sendable, Hashable {
    /// The command's number. Numbers strictly increase and are never reused.
    public let number: Int64
    public let sentAt: Date
    public let command: Command
  }

  /// The maximum number of commands that may wait for one lane's player.
  public static let maximumCommands = 1000

  /// Stores a command for the lane's player, which need not be running.
  ///
  /// - Returns: The command's number.
  /// - Throws: ``LedgerError`` with `invalidValue` for a volume outside 0 to 100, `tooManyCommands`, `waitingListFull`,
  ///   or a file error.
  @discardableResult
  public func send(_ command: Command, lane: String) async throws(LedgerError) -> Int64 {
    try checkLane(lane, while: .commanding)
    if case .volume(let percent) = command, !(0...100).contains(percent) {
      throw LedgerError(.invalidValue, while: .commanding, in: file, field: "volume (0 to 100 per cent)")
    }
    return try await write(while: .commanding, cost: 256) { [self] database in
      let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM commands WHERE lane = ?", arguments: [lane])
      guard (count ?? 0) < Self.maximumCommands else {
        throw LedgerError(.tooManyCommands, while: .commanding, in: file)
      }
      let stored = command.stored
      try database.execute(
        sql: "INSERT INTO commands (at, lane, kind, value) VALUES (?, ?, ?, ?)",
        arguments: [timeStamp, lane, stored.kind, stored.value])
      return database.lastInsertedRowID
    }
  }

  /// Returns the number of the last command that was sent to any lane, or 0 if there was none. A player uses the
  /// number, and not the clock, to recognize commands that were sent before it started.
  public func lastCommandNumber() async throws(LedgerError) -> Int64 {
    try await read(while: .commanding) { database in
      try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'commands'") ?? 0
    }
  }

  /// Removes the lane's commands from the ledger and returns them in the order in which they were sent.
  ///
  /// Each command is returned only once. A player that crashes before it carries out a command does not receive it
  /// again after a restart, so that a stale command cannot skip a later announcement.
  ///
  /// If there are no commands, the call only reads the file, so it is cheap to call often.
  public func takeCommands(lane: String) async throws(LedgerError) -> [SentCommand] {
    try checkLane(lane, while: .commanding)
    let isAny = try await read(while: .commanding) { database in
      try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM commands WHERE lane = ?)"), arguments: [lane])
    }
    guard isAny == true else { return [] }
    return try await write(while: .commanding) { database in
      let rows = try Row.fetchAll(
        database, sql: "SELECT * FROM commands WHERE lane = ? ORDER BY number", arguments: [lane])
      try database.execute(sql: "DELETE FROM commands WHERE lane = ?", arguments: [lane])
      return try rows.map { row in
        guard let command = Command(kind: try row.value("kind"), value: try row.optional("value")) else {
          throw UnreadableRow()
        }
        return SentCommand(
          number: try row.value("number"), sentAt: Date(wholeMilliseconds: try row.value("at")), command: command)
      }
    }
  }
}
