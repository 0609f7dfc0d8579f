// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Ledger {
  /// Somebody who administers: a user of this machine, or a key.
  public struct Administrator: Sendable, Hashable, CustomStringConvertible {
    /// `user:1000`, `user:997 for user:1000` under sudo, or `key:7d3k9q2m`.
    public let description: String

    /// The user whose process this is, and the one who called sudo.
    public static var currentUser: Administrator {
      user(getuid(), sudo: ProcessInfo.processInfo.environment["SUDO_UID"].flatMap(UInt32.init))
    }

    static func user(_ id: UInt32, sudo caller: UInt32?) -> Administrator {
      Administrator(description: "user:\(id)" + (caller.map { " for user:\($0)" } ?? ""))
    }

    /// - Parameter id: the key's id, which is no secret.
    public static func key(_ id: String) -> Administrator { Administrator(description: "key:\(id)") }
  }

  /// Something that was administered: what, when and by whom. It has no amounts, names or tokens.
  public struct AdministrativeAct: Sendable, Hashable {
    public enum Action: String, Sendable, Hashable, CaseIterable {
      case keyCreated = "key_created"
      case keyRotated = "key_rotated"
      case keyRevoked = "key_revoked"
      case playbackPaused = "playback_paused"
      case playbackResumed = "playback_resumed"
      case announcementReplayed = "announcement_replayed"
      case announcementCancelled = "announcement_cancelled"
      case batchCancelled = "batch_cancelled"
      case announcementRemoved = "announcement_removed"
      case clipRemoved = "clip_removed"
    }

    /// Strictly rising, never used again.
    public let number: Int64
    public let at: Date
    /// As ``Administrator`` describes itself.
    public let actor: String
    public let action: Action
    /// The id of a key or a batch, the number of an announcement on the player, or the name of a clip; nil for the player,
    /// and for an announcement that was not to be played.
    public let subject: String?
  }

  /// What was administered is kept at least so long, in seconds: 365 days, and longer where announcements are.
  public static let administrationRetention: TimeInterval = 365 * 86_400

  /// Writes down what was done; durable when it returns. What was written is never changed.
  ///
  /// - Parameter subject: as in ``AdministrativeAct/subject``, at most 255 bytes.
  public func record(
    _ action: AdministrativeAct.Action, by actor: Administrator, subject: String? = nil
  ) async throws(LedgerError) {
    if let subject, subject.utf8.count > 255 || subject.hasZero {
      throw LedgerError(
        .invalidValue, while: .recording, in: file, field: "subject (at most 255 bytes, none of them 0)")
    }
    try await write(while: .recording) { [self] database in
      try record(action, by: actor, subject: subject, in: database)
    }
  }

  /// What was administered after an act, oldest first.
  ///
  /// - Parameters:
  ///   - number: of the last act that is known; 0 for none.
  ///   - limit: 1 to 1,000.
  public func administrativeActs(
    after number: Int64 = 0, limit: Int = 1000
  ) async throws(LedgerError) -> [AdministrativeAct] {
    let limit = min(max(limit, 1), 1000)
    return try await read { database in
      try Row.fetchAll(
        database, sql: "SELECT * FROM administration WHERE number > ? ORDER BY number LIMIT ?",
        arguments: [number, limit]
      ).map { row in
        AdministrativeAct(
          number: try row.value("number"), at: Date(wholeMilliseconds: try row.value("at")),
          actor: try row.value("actor"), action: try row.name("action"), subject: try row.optional("subject"))
      }
    }
  }

  func record(
    _ action: AdministrativeAct.Action, by actor: Administrator, subject: String?, in database: Database
  ) throws {
    try database.execute(
      sql: "INSERT INTO administration (at, actor, action, subject) VALUES (?, ?, ?, ?)",
      arguments: [timeStamp, actor.description, action.rawValue, subject])
  }
}
