// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// An answer of an announcement that was removed.
  public struct RemovedAnswer: Sendable, Hashable {
    /// As ``NewAnswer/key``.
    public let key: String
    /// SHA-256 of the request's body, 32 bytes.
    public let bodyDigest: Data
    /// As ``NewAnswer/clip``.
    public let clip: PublishedClip?
  }

  /// What became of an announcement that was to be removed.
  public enum Removal: Sendable, Hashable {
    /// Nothing is known of the id.
    case unknown
    /// It waits or is being heard, or a replay of it does: nothing was changed.
    case notEnded
    /// It is forgotten, with all its answers and its replays. `entry` is nil when it was not to be played, or was pruned.
    case removed(entry: Entry?, answers: [RemovedAnswer])
  }

  /// Removes an account's announcement that has ended, or was never to be heard, with all its answers and replays:
  /// durable when it returns. Its id is forgotten: offered again, it is a new one.
  ///
  /// - Throws: ``LedgerError``; nothing was changed then.
  public func remove(account: String, id: String) async throws(LedgerError) -> Removal {
    if account.hasZero || id.hasZero { return .unknown }
    return try await write(while: .removing) { database in
      let entry = try Row.fetchOne(
        database.cachedStatement(sql: "SELECT * FROM announcements WHERE account = ? AND id = ?"),
        arguments: [account, id]
      ).map(Entry.init(row:))
      if let entry, try !entry.state.isFinal || Self.isReplayed(entry.number, in: database) { return .notEnded }
      let answers = try Row.fetchAll(
        database.cachedStatement(
          sql: "SELECT key, body_digest, clip, clip_group FROM answers WHERE account = ? AND id = ?"),
        arguments: [account, id]
      ).map(RemovedAnswer.init(row:))
      guard entry != nil || !answers.isEmpty else { return .unknown }
      if let entry {
        // Each has the payload of what it played again.
        try database.cachedStatement(
          sql: "DELETE FROM announcements WHERE number IN (SELECT number FROM replays WHERE original = ?)"
        ).execute(arguments: [entry.number])
      }
      for table in ["answers", "announcements"] {
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE account = ? AND id = ?")
          .execute(arguments: [account, id])
      }
      return .removed(entry: entry, answers: answers)
    }
  }

  /// Whether a replay of an announcement has not ended.
  private static func isReplayed(_ number: Int64, in database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM replays JOIN announcements USING (number)
                         WHERE original = ? AND finished_at IS NULL)
          """), arguments: [number]) ?? false
  }

  /// Whether another account has an announcement with that clip, or had it made by a batch. What the account itself has
  /// of it is not looked through, however much it is.
  public func isClipOfOthers(_ name: String, than account: String) async throws(LedgerError) -> Bool {
    if account.hasZero || name.hasZero || name.isEmpty { return false }
    return try await read { database in
      try Bool.fetchOne(
        database.cachedStatement(sql: Self.clipOfOthers), arguments: ["clip": name, "account": account]) ?? false
    }
  }

  /// The accounts before and behind the one given, in each of the indexes: six look-ups.
  static var clipOfOthers: String {
    let tables = [
      ("answers", ""), ("batch_clips", ""),
      // As the index has it.
      ("announcements", " AND account NOT GLOB 'crier:*'"),
    ]
    let lookUps: [String] = tables.flatMap { table, condition in
      ["<", ">"].map { "EXISTS (SELECT 1 FROM \(table) WHERE clip = :clip AND account \($0) :account\(condition))" }
    }
    return "SELECT \(lookUps.joined(separator: " OR "))"
  }
}

extension Ledger.RemovedAnswer {
  fileprivate init(row: Row) throws {
    key = try row.value("key")
    bodyDigest = try row.value("body_digest")
    clip = try row.clip()
  }
}
