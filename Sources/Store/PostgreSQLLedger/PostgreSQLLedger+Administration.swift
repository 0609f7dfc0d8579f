// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func record(
    _ action: Ledger.AdministrativeAct.Action, by actor: Ledger.Administrator, subject: String?
  ) async throws(LedgerError) {
    try refuse(Ledger.brokenRule(ofSubject: subject), while: .recording)
    try await write(while: .recording) { [self] session in
      try record(action, by: actor, subject: subject, in: session)
    }
  }

  public func administrativeActs(
    after number: Int64, limit: Int
  ) async throws(LedgerError) -> [Ledger.AdministrativeAct] {
    let last = try await settledNumber(of: .administration).settled
    return try await read { session in
      try session.all(
        """
        SELECT number, at, actor, action, subject FROM administration
        WHERE number > $1 AND number <= $2 ORDER BY number LIMIT $3
        """, [.int64(number), .int64(last), Self.limit(limit)], Ledger.AdministrativeAct.init(row:))
    }
  }

  func record(
    _ action: Ledger.AdministrativeAct.Action, by actor: Ledger.Administrator, subject: String?,
    in session: borrowing PostgreSQLSession
  ) throws {
    try session.execute(
      "INSERT INTO administration (at, actor, action, subject) VALUES ($1, $2, $3, $4)",
      [.int64(timeStamp), .string(actor.description), .string(action.rawValue), .string(subject)])
  }
}
