// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func record(
    _ kind: Ledger.Event.Kind, lane: String, number: Int64?, detail: [String: String], passing sequence: Int64?
  ) async throws(LedgerError) {
    try checkLane(lane, while: .changing)
    try refuse(Ledger.brokenRule(ofDetail: detail), while: .changing)
    try await write(while: .changing) { [self] database in
      if let sequence { try Self.pass(sequence, lane: lane, in: database) }
      try Self.append(kind, number, lane: lane, detail: detail, at: timeStamp, in: database)
    }
  }

  public func events(after position: Int64, lane: String?, limit: Int) async throws(LedgerError) -> [Ledger.Event] {
    if let lane { try checkLane(lane, while: .reading) }
    return try await read(isLong: true) { database in
      let statement = try database.cachedStatement(
        sql: "SELECT * FROM events WHERE position > ? AND (? IS NULL OR lane = ?) ORDER BY position LIMIT ?")
      return try statement.all([position, lane, lane, Ledger.limit(limit)], Ledger.Event.init(row:))
    }
  }

  public func lastEventPosition() async throws(LedgerError) -> Int64 {
    try await read { database in
      try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'events'") ?? 0
    }
  }

  static func append(
    _ kind: Ledger.Event.Kind, _ number: Int64?, lane: String, detail: [String: String] = [:], at: Int64,
    in database: Database
  ) throws {
    try database.cachedStatement(
      sql: "INSERT INTO events (at, announcement, lane, kind, detail) VALUES (?, ?, ?, ?, ?)"
    ).execute(arguments: [at, number, lane, kind.rawValue, try Ledger.json(detail)])
  }
}
