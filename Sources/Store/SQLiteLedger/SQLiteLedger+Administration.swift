// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  public func record(
    _ action: Ledger.AdministrativeAct.Action, by actor: Ledger.Administrator, subject: String?
  ) async throws(LedgerError) {
    try refuse(Ledger.brokenRule(ofSubject: subject), while: .recording)
    try await write(while: .recording) { [self] database in
      try record(action, by: actor, subject: subject, in: database)
    }
  }

  public func administrativeActs(
    after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.AdministrativeAct] {
    try await read { database in
      try Row.fetchAll(
        database, sql: "SELECT * FROM administration WHERE number > ? ORDER BY number LIMIT ?",
        arguments: [number, Ledger.limit(limit)]
      ).map(Ledger.AdministrativeAct.init(row:))
    }
  }

  func record(
    _ action: Ledger.AdministrativeAct.Action, by actor: Ledger.Administrator, subject: String?, in database: Database
  ) throws {
    try database.execute(
      sql: "INSERT INTO administration (at, actor, action, subject) VALUES (?, ?, ?, ?)",
      arguments: [timeStamp, actor.description, action.rawValue, subject])
  }
}
