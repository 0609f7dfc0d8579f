// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public func remove(account: String, id: String) async throws(LedgerError) -> Ledger.Removal {
    if account.hasZero || id.hasZero { return .unknown }
    return try await write(while: .removing) { [self] database in
      let entry = try Self.entries("account = ? AND id = ?", [account, id], in: database).first
      if let entry, try !entry.state.isFinal || Self.isReplayed(entry.number, in: database) { return .notEnded }
      let pushStates = try String.fetchSet(
        database.cachedStatement(sql: "SELECT state FROM pushes WHERE account = ? AND announcement = ?"),
        arguments: [account, id])
      guard pushStates.isDisjoint(with: ["waiting", "sending"]) else { return .notEnded }
      let answers = try database.cachedStatement(
        sql: "SELECT key, body_digest, clip, clip_group FROM answers WHERE account = ? AND id = ?"
      ).all([account, id], Ledger.RemovedAnswer.init(row:))
      guard entry != nil || !answers.isEmpty || !pushStates.isEmpty else { return .unknown }
      if let entry {
        // Each replay holds a copy of the original's payload.
        try database.cachedStatement(
          sql: "DELETE FROM announcements WHERE number IN (SELECT number FROM replays WHERE original = ?)"
        ).execute(arguments: [entry.number])
      }
      for table in ["answers", "announcements"] {
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE account = ? AND id = ?")
          .execute(arguments: [account, id])
      }
      let pushedClips = try String.fetchSet(
        database.cachedStatement(
          sql: "SELECT clip FROM pushes WHERE account = ? AND announcement = ? AND clip IS NOT NULL"),
        arguments: [account, id])
      // The text of a notification contains names from the payment.
      try database.cachedStatement(sql: "DELETE FROM pushes WHERE account = ? AND announcement = ?")
        .execute(arguments: [account, id])
      let clips = Set(answers.compactMap(\.clip?.name) + [entry?.clip].compactMap(\.self)).union(pushedClips)
      try forget(clips.sorted(), account: account, in: database)
      return .removed(entry: entry, answers: answers, pushedClips: pushedClips)
    }
  }

  /// Returns whether an announcement has an unfinished replay.
  private static func isReplayed(_ number: Int64, in database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM replays JOIN announcements USING (number)
                         WHERE original = ? AND finished_at IS NULL)
          """), arguments: [number]) ?? false
  }

  public func wasPushed(clip name: String, account: String, device: String) async throws(LedgerError) -> Bool {
    if account.hasZero || device.hasZero || name.hasZero || name.isEmpty { return false }
    return try await read { database in
      try Bool.fetchOne(
        database.cachedStatement(sql: Self.clipOfDevice), arguments: ["clip": name, "account": account, "id": device])
        ?? false
    }
  }

  /// The query behind ``wasPushed(clip:account:device:)``.
  static let clipOfDevice = """
    SELECT EXISTS (SELECT 1 FROM pushes INDEXED BY pushes_by_clip
                   JOIN devices ON devices.account = pushes.account AND devices.id = pushes.device
                   WHERE clip = :clip AND pushes.account = :account AND device = :id AND sequence > first_sequence)
    """

  public func isClipOfOthers(_ name: String, than account: String) async throws(LedgerError) -> Bool {
    if account.hasZero || name.hasZero || name.isEmpty { return false }
    return try await read { database in
      try Bool.fetchOne(
        database.cachedStatement(sql: Self.clipOfOthers), arguments: ["clip": name, "account": account]) ?? false
    }
  }

  /// The query behind ``isClipOfOthers(_:than:)``. It makes eight look-ups: in each of the four indexes, it looks for
  /// an account before the given one and for an account after it.
  static var clipOfOthers: String { "SELECT \(lookUps(["<", ">"]).joined(separator: " OR "))" }

  /// The query that tells whether an account has an announcement or a push with a clip, or made the clip in a batch.
  static var clipOfAccount: String { "SELECT \(lookUps(["="]).joined(separator: " OR "))" }

  /// Returns look-ups of a clip in the four indexes.
  ///
  /// - Parameter comparisons: How the accounts that are looked for compare with the given account.
  private static func lookUps(_ comparisons: [String]) -> [String] {
    let tables = [
      ("answers", ""), ("batch_clips", ""), ("pushes", ""),
      // This condition must be the same as the index's own condition.
      ("announcements", " AND kind = 'request' AND NOT replay"),
    ]
    return tables.flatMap { table, condition in
      comparisons.map { "EXISTS (SELECT 1 FROM \(table) WHERE clip = :clip AND account \($0) :account\(condition))" }
    }
  }
}
