// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import GRDB
import Ledger

/// The three files of an open ledger, which are checked before and after each commit, and once a second.
///
/// The check compares the file that has each name now with the file that had the name when the ledger was opened. This
/// type never opens the ledger's file and the index, because closing them would release the locks that SQLite holds on
/// them in this process. It can open the log, on which SQLite holds no locks.
final class LedgerFiles: Sendable {
  private let file: URL
  private let path: String
  /// The path without symbolic links. If a link leads to the file, SQLite puts the log beside the file and not beside
  /// the link.
  private let realPath: String
  private let log: ReadableFile
  private let rule: Locked<LedgerFilesRule>

  /// - Parameter database: The connection that writes, which has opened all three files.
  init(of file: URL, _ database: Database) throws {
    self.file = file
    path = file.path(percentEncoded: false)
    realPath = file.resolvingSymlinksInPath().path(percentEncoded: false)
    log = try ReadableFile(path: realPath + "-wal")
    let (path, realPath, log) = (path, realPath, log)
    let first = try Self.look(path, realPath, log, database)
    guard first.file != nil, first.log != nil, first.index != nil else {
      let part: LedgerError.FileChange.Part = first.file == nil ? .file : first.log == nil ? .log : .index
      throw LedgerError(.fileChanged, while: .opening, in: file, change: .init(part, .removed))
    }
    rule = Locked(LedgerFilesRule(first))
  }

  /// Checks the files.
  ///
  /// - Parameters:
  ///   - database: The connection that writes.
  ///   - begins: Whether a write of this ledger begins now.
  /// - Throws: `LedgerError` with `fileChanged`; SQLite's errors.
  func check(_ database: Database, while action: LedgerError.Action, beforeWriting begins: Bool = false) throws {
    let look = try Self.look(path, realPath, log, database)
    switch rule.withLock({ $0.judge(look) }) {
    case .whole: break
    case .changed(let change): throw LedgerError(.fileChanged, while: action, in: file, change: change)
    case .unexplained(let change):
      // Pages in SQLite's cache would hide that the file has lost them.
      try database.execute(sql: "PRAGMA shrink_memory")
      guard (try? String.fetchAll(database, sql: "PRAGMA quick_check(1)")) == ["ok"] else {
        throw LedgerError(.fileChanged, while: action, in: file, change: change)
      }
      rule.withLock { $0.accept(look) }
    }
    if begins { rule.withLock { $0.hasWritten = true } }
  }

  /// Moves the content of the log into the file if the log was removed or replaced and nothing else is wrong. This
  /// process still has the whole log open.
  ///
  /// - Parameter error: The error that ``check(_:while:beforeWriting:)`` threw. The transaction has ended.
  func rescueLog(_ database: Database, after error: any Error) {
    guard let change = (error as? LedgerError)?.change, change.part == .log,
      [.removed, .replaced].contains(change.kind)
    else { return }
    _ = try? database.checkpoint(.passive)
  }

  private static func look(
    _ path: String, _ realPath: String, _ log: ReadableFile, _ database: Database
  ) throws -> LedgerFilesRule.Look {
    let file = try FileStatus.status(at: path)
    let logStatus = try FileStatus.status(at: realPath + "-wal", followsLink: false)
    let index = try FileStatus.status(at: realPath + "-shm", followsLink: false)
    var header = try log.read(LogFile.headerBytes, at: 0)
    // Another process may be writing the header.
    while case let again = try log.read(LogFile.headerBytes, at: 0), again != header { header = again }
    let pages = try Int.fetchOne(database.cachedStatement(sql: "PRAGMA page_count")) ?? 0
    let version = try Int.fetchOne(database.cachedStatement(sql: "PRAGMA data_version")) ?? 0
    return LedgerFilesRule.Look(
      file: file, log: logStatus, index: index, logHeader: header, databaseBytes: pages * pageBytes,
      dataVersion: version)
  }

  /// The size of a page in bytes. SQLite has used this size for new files since 2016.
  private static let pageBytes = 4096
}
