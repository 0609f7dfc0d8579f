// SPDX-License-Identifier: Apache-2.0

public import Foundation
private import GRDB

/// A ledger as an earlier version of Crier left it, for tests of migrations.
///
/// `version-6.sql` is the dump of a ledger that commit d5f023c wrote. That commit was the last one that stored an
/// announcement's kind in the account's name, and the sender's defaults in the payload. Its commands were: `crier keys
/// create` for the account `shop` (`--locale zh-CN --group group.tills`) and for the account `kiosk`; `crier serve
/// --output null`; a payment and a sound file that were played; then, while the player was paused, three payments of
/// `shop`, a text of `kiosk`, a clip that was not to be played, replays of the played payment and of the played file,
/// and a second sound file. The service and the command were then killed. In the dump, the times of the answers were
/// set back by 30 days, so that the answers have expired on any day.
///
/// `version-14.sql` is the dump of a ledger that commit a44cd8a wrote. That commit was the last one that did not store
/// the decisions about an announcement. Its home was `/var/lib/crier`. Its commands were: `crier keys create` for the
/// account `shop` (`--locale zh-CN --group group.tills`); `crier serve --output null`; a payment that was played; then,
/// while the player was paused, a payment, a refund and a text to play, and a payment that was not to be played. The
/// service was then killed. ``write(_:to:)`` sets the times of its answers to now, so that they are valid on any day.
public enum EarlierLedger {
  public enum Version: String, Sendable {
    case six = "version-6"
    case fourteen = "version-14"
  }

  /// Writes the ledger to a file. The folder is created if it does not exist.
  public static func write(_ version: Version = .six, to file: URL) throws {
    let dump = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "\(version.rawValue).sql")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let database = try DatabaseQueue(waitingFor: file)
    try database.writeWithoutTransaction { database in
      // A dump does not contain these two settings. 1129466951 is the application id of a ledger.
      try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = 1129466951")
      try database.execute(sql: try String(contentsOf: dump, encoding: .utf8))
      if version == .fourteen {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try database.execute(sql: "UPDATE answers SET created_at = ?", arguments: [now])
      }
      try database.execute(sql: "PRAGMA journal_mode = WAL")
    }
    try database.close()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: file.path(percentEncoded: false))
  }

  /// Returns the stored responses by the ids of their announcements. Nothing in the file is migrated.
  public static func responses(in file: URL) throws -> [String: Data] {
    let database = try DatabaseQueue(waitingFor: file)
    defer { try? database.close() }
    return try database.read { database in
      let rows = try Row.fetchAll(database, sql: "SELECT id, report FROM answers")
      return Dictionary(rows.map { ($0["id"] as String, $0["report"] as Data) }) { first, _ in first }
    }
  }
}
