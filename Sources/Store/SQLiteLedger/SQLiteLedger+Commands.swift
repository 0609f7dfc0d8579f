// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  @discardableResult
  public func send(_ command: Ledger.Command, lane: String) async throws(LedgerError) -> Int64 {
    try checkLane(lane, while: .commanding)
    try refuse(command.brokenRule, while: .commanding)
    return try await write(while: .commanding, cost: 256) { [self] database in
      let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM commands WHERE lane = ?", arguments: [lane])
      guard (count ?? 0) < Ledger.maximumCommands else {
        throw error(.tooManyCommands, while: .commanding)
      }
      let stored = command.stored
      try database.execute(
        sql: "INSERT INTO commands (at, lane, kind, value) VALUES (?, ?, ?, ?)",
        arguments: [timeStamp, lane, stored.kind, stored.value])
      return database.lastInsertedRowID
    }
  }

  public func lastCommandNumber() async throws(LedgerError) -> Int64 {
    try await read(while: .commanding) { database in
      try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'commands'") ?? 0
    }
  }

  public func takeCommands(lane: String) async throws(LedgerError) -> [Ledger.SentCommand] {
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
      return try rows.map(Ledger.SentCommand.init(row:))
    }
  }
}
