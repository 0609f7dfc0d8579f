// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  @discardableResult
  public func send(_ command: Ledger.Command, lane: String) async throws(LedgerError) -> Int64 {
    try checkLane(lane, while: .commanding)
    try refuse(command.brokenRule, while: .commanding)
    return try await write(while: .commanding, cost: 256) { [self] session in
      // While the lane is locked, no other command for it is stored, so the count stays what it is.
      try Self.lock(lanes: [lane], in: session)
      let count = try session.first(Self.countingCommands, [.string(lane)]) { try $0.value("count") as Int } ?? 0
      guard count < Ledger.maximumCommands else { throw error(.tooManyCommands, while: .commanding) }
      let stored = command.stored
      let number: Int64? = try session.value(
        Self.sending, [.int64(timeStamp), .string(lane), .string(stored.kind), .int64(stored.value)])
      guard let number else { throw UnreadableRow() }
      return number
    }
  }

  static let countingCommands = "SELECT count(*) AS count FROM commands WHERE lane = $1"
  static let sending = """
    INSERT INTO commands (at, lane, kind, value) VALUES ($1, $2, $3, $4) RETURNING number AS value
    """

  /// Returns the last number that was given to a command. A command that is being stored at this moment counts as sent,
  /// so that a player which starts now does not carry it out later.
  public func lastCommandNumber() async throws(LedgerError) -> Int64 {
    try await read(while: .commanding) { session in try session.value(Self.lastCommand) ?? 0 }
  }

  static let lastCommand = """
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS value FROM commands_number_seq
    """

  public func takeCommands(lane: String) async throws(LedgerError) -> [Ledger.SentCommand] {
    try checkLane(lane, while: .commanding)
    let isAny = try await read(while: .commanding) { session in
      try session.value(Self.anyCommand, [.string(lane)], as: Bool.self)
    }
    guard isAny == true else { return [] }
    return try await write(while: .commanding) { session in
      // Each row is deleted by one transaction only, so each command is returned once.
      let commands = try session.all(Self.takingCommands, [.string(lane)], Ledger.SentCommand.init(row:))
      return commands.sorted { $0.number < $1.number }
    }
  }

  static let anyCommand = "SELECT EXISTS (SELECT 1 FROM commands WHERE lane = $1) AS value"
  static let takingCommands = "DELETE FROM commands WHERE lane = $1 RETURNING number, at, kind, value"
}
