// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// What became of an announcement that was to be removed.
  public enum Removal: Sendable, Hashable {
    /// Nothing is known of the id.
    case unknown
    /// It waits or is being heard: nothing was changed.
    case notEnded
    /// It is forgotten. `reports` are its answers', and `clip` is the one that was heard.
    case removed(reports: [Data], clip: String?)
  }

  /// Removes an account's announcement that has ended, or was never to be heard, with all its answers: durable when it
  /// returns. Its id is forgotten: offered again, it is a new one.
  ///
  /// - Throws: ``LedgerError``; nothing was changed then.
  public func remove(account: String, id: String) async throws(LedgerError) -> Removal {
    if account.hasZero || id.hasZero { return .unknown }
    return try await write(while: .removing) { database in
      let entry = try Row.fetchOne(
        database.cachedStatement(
          sql: "SELECT clip, finished_at IS NULL AS lasts FROM announcements WHERE account = ? AND id = ?"),
        arguments: [account, id])
      if let entry, try entry.value("lasts") { return .notEnded }
      let reports = try Data.fetchAll(
        database.cachedStatement(sql: "SELECT report FROM answers WHERE account = ? AND id = ?"),
        arguments: [account, id])
      guard entry != nil || !reports.isEmpty else { return .unknown }
      for table in ["answers", "announcements"] {
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE account = ? AND id = ?")
          .execute(arguments: [account, id])
      }
      return .removed(reports: reports, clip: try entry.flatMap { try $0.optional("clip") })
    }
  }

  /// Whether another account has an announcement with that clip: all of them are looked through.
  public func isClipOfOthers(_ name: String, than account: String) async throws(LedgerError) -> Bool {
    if account.hasZero || name.hasZero || name.isEmpty { return false }
    return try await read { database in
      try Bool.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT EXISTS (SELECT 1 FROM announcements WHERE account <> ? AND clip = ?)
                OR EXISTS (SELECT 1 FROM answers WHERE account <> ? AND instr(report, ?) > 0)
            """), arguments: [account, name, account, Data(name.utf8)]) ?? false
    }
  }
}
