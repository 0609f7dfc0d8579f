// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// What another process asks a lane's player to do.
  public enum Command: Sendable, Hashable {
    case pause
    case resume
    /// Ends what is playing, if it is the announcement of that number; nil for whatever plays then.
    case skip(Int64?)
    /// Takes back the announcement of that number.
    case cancel(Int64)
    /// Plays the announcement of that number again; nil for the last one that was played.
    case replay(Int64?)
    /// 0 to 100 per cent.
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

  /// A command as the player takes it.
  public struct SentCommand: Sendable, Hashable {
    /// Strictly rising, never used again.
    public let number: Int64
    public let sentAt: Date
    public let command: Command
  }

  /// So many commands may wait for a lane's player.
  public static let maximumCommands = 1000

  /// Leaves a command for the lane's player, running or not.
  ///
  /// - Returns: the command's number.
  /// - Throws: ``LedgerError`` with `invalidValue` for a volume outside 0 to 100, `tooManyCommands`, `waitingListFull`,
  ///   or a fault of the file.
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

  /// The number of the last command that was sent to any lane, 0 before the first: a player that starts tells by it what
  /// was asked before, whatever the calendar says.
  public func lastCommandNumber() async throws(LedgerError) -> Int64 {
    try await read(while: .commanding) { database in
      try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'commands'") ?? 0
    }
  }

  /// Takes the lane's commands, in the order in which they were sent. Nobody else gets them, nor does this player again:
  /// one that crashes with a command in its hand has not done it, and will not skip another announcement for it later.
  ///
  /// While there are none it only reads, so that it can be asked often.
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
