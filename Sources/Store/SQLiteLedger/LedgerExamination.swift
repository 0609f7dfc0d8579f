// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation
import GRDB
public import Ledger

/// The state of a ledger's file, found without opening the ledger for use.
public enum LedgerExamination: Sendable, Hashable {
  /// There is no file.
  case missing
  /// The file has a log with changes that are not in the file, but the log's index (`-shm`) is missing. This happens if
  /// a ledger is copied incompletely after a crash. SQLite would have to write the index to read the ledger.
  case unindexedLog
  /// SQLite found no fault in any page.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the file without its log, in bytes.
  ///   - isOpen: Whether the file has a log and its index. They exist while a program has the ledger open, and after a
  ///     program was killed.
  ///   - keysInForce: The number of keys that are neither revoked nor expired, without those of devices.
  ///   - keysEnded: The number of the other keys, without those of devices.
  ///   - webhookEndpoints: The number of webhook endpoints that are not disabled.
  ///   - setAside: The number of unfinished deliveries that are set aside; see ``InterruptedWork``.
  case sound(
    byteCount: Int, isOpen: Bool, keysInForce: Int, keysEnded: Int, webhookEndpoints: Int, setAside: Int)
}

extension SQLiteLedger {
  /// Examines a ledger's file: which program and version wrote it, every page (`PRAGMA quick_check`), and the numbers
  /// of its keys. The call changes no file and makes none, and takes no lock that a running service would wait for. It
  /// reads the whole file.
  ///
  /// If the file has no log and no index, SQLite reads it as a file that nobody changes (`immutable`). If a program
  /// opens the file meanwhile, the call reads it again.
  ///
  /// - Parameter moment: The time at which a key must be valid to count as in force.
  /// - Throws: ``LedgerError``, as ``init(reading:options:)``; `busy` if the file kept changing.
  public static func examine(_ file: URL, at moment: Date) throws(LedgerError) -> LedgerExamination {
    let file = file.absoluteURL.standardizedFileURL
    do {
      for _ in 0..<3 {
        let before = try FileState(file)
        guard let status = before.status else { return .missing }
        try requireWholeFile(file)
        if before.log ?? 0 > 0, !before.hasIndex, try !isContained(logOf: file) { return .unindexedLog }
        let isOpen = before.log != nil && before.hasIndex
        let result = Result { try examine(file, status, isOpen: isOpen, at: moment) }
        // A file with a log may change while it is read, because SQLite reads a consistent state of both.
        if try isOpen || FileState(file) == before { return try result.get() }
      }
      throw LedgerError(.busy, while: .opening, in: file)
    } catch {
      throw LedgerError(error, while: .opening, in: file)
    }
  }

  private static func isContained(logOf file: URL) throws -> Bool {
    let path = file.path(percentEncoded: false)
    guard let log = FileManager.default.contents(atPath: path + "-wal").flatMap(LogFile.init),
      let database = FileHandle(forReadingAtPath: path)
    else { return false }
    defer { try? database.close() }
    return try log.isContained(in: database)
  }

  private static func examine(
    _ file: URL, _ status: FileStatus, isOpen: Bool, at moment: Date
  ) throws -> LedgerExamination {
    var options = Options()
    options.busyTimeout = 1
    let (reader, _) = try openForReading(file, options: options, isImmutable: !isOpen)
    defer { try? reader.close() }
    let now = moment.wholeMilliseconds ?? 0
    return try reader.inDatabase { database in
      let inForce = try Int.fetchOne(
        database,
        sql: """
          SELECT count(*) FROM keys
          WHERE device IS NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
          """, arguments: [now])
      let all = try Int.fetchOne(database, sql: "SELECT count(*) FROM keys WHERE device IS NULL")
      let endpoints = try Int.fetchOne(
        database, sql: "SELECT count(*) FROM webhook_endpoints WHERE disabled_at IS NULL")
      return .sound(
        byteCount: status.byteCount, isOpen: isOpen, keysInForce: inForce ?? 0,
        keysEnded: (all ?? 0) - (inForce ?? 0), webhookEndpoints: endpoints ?? 0,
        setAside: try setAsideCounts(in: database).total)
    }
  }

  /// Counts the unfinished deliveries that are set aside, and those whose second start is under way. Each count is a
  /// look-up in an index of its own.
  static func setAsideCounts(in database: Database) throws -> Ledger.SetAsideCounts {
    func count(_ table: String) throws -> Int {
      try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM \(table) WHERE starts >= 2 AND finished_at IS NULL")) ?? 0
    }
    return Ledger.SetAsideCounts(
      announcements: try count("announcements"), pushes: try count("pushes"), webhooks: try count("webhooks"),
      providerPayments: try count("provider_payments"))
  }

  /// The properties of a ledger's files that must not change while the ledger is read as immutable.
  private struct FileState: Equatable {
    /// Nil if there is no file.
    var status: FileStatus?
    /// The log's size in bytes; nil if there is none.
    var log: Int?
    var hasIndex: Bool

    init(_ file: URL) throws {
      let path = file.path(percentEncoded: false)
      status = try FileStatus.status(at: path)
      log = try FileStatus.byteCount(at: path + "-wal")
      hasIndex = try FileStatus.byteCount(at: path + "-shm") != nil
    }
  }
}
