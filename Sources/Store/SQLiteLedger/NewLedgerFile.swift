// SPDX-License-Identifier: Apache-2.0

import FileSystem
package import Foundation
import GRDB
package import Ledger

/// The file of a ledger that is being made. It gets its name when it is complete, so a ledger is there completely or
/// not at all. As long as this object exists, no process can open a ledger with this name for use.
package final class NewLedgerFile: Sendable {
  private let file: URL
  /// The file's name until the file is complete. A killed process leaves the unfinished file behind, and the next move
  /// removes the file.
  package let unfinished: URL
  private let lock: LockedFile
  private let writer: DatabaseQueue

  /// Makes a file with empty tables beside the place of the ledger. Missing folders are created with the mode 0700. The
  /// call blocks.
  ///
  /// - Throws: ``LedgerError``: `notEmpty` if there is a ledger or a part of one; `inUse` if another process is making
  ///   one.
  package init(for file: URL) throws(LedgerError) {
    let file = file.absoluteURL.standardizedFileURL
    let unfinished = file.appendingPathExtension("moving")
    do {
      try DurableFolder.make(file.deletingLastPathComponent(), .ownerOnly)
      lock = try ClosedLedgerFile.lock(file)
      // SQLite would read the log of another ledger into the new file.
      for suffix in Self.suffixes + [".damaged"] {
        guard try FileStatus.byteCount(at: file.path(percentEncoded: false) + suffix) == nil else {
          throw LedgerError(.notEmpty, while: .moving, in: file)
        }
      }
      try Self.remove(unfinished)
      try DurableFile.createEmpty(unfinished)
      writer = try Self.open(unfinished)
    } catch {
      throw LedgerError(error, while: .moving, in: file)
    }
    self.file = file
    self.unfinished = unfinished
  }

  /// Removes the file, unless it was published. It cannot be used any more.
  package func discard() {
    try? writer.close()
    try? Self.remove(unfinished)
  }

  /// Stores and reads rows. The call blocks.
  ///
  /// - Parameter work: The work, which begins in a transaction. ``SQLiteRows/complete()`` commits it.
  package func fill<Value>(_ work: (SQLiteRows) throws -> Value) throws -> Value {
    do {
      return try writer.inDatabase { database in
        try database.beginTransaction(.immediate)
        defer { if database.isInsideTransaction { try? database.rollback() } }
        return try work(SQLiteRows(database: database))
      }
    } catch {
      throw LedgerError.moving(file, error)
    }
  }

  /// Gives the file its name, and returns when all of it is on the disk. The call blocks.
  package func publish() throws(LedgerError) {
    do {
      try writer.inDatabase { database in
        // The mode is written into the file. A service would set it too, but a program that only reads would not.
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else { throw SystemError.inputOutput }
      }
      try writer.close()
      try DurableFile.rename(unfinished, to: file.lastPathComponent)
    } catch {
      throw LedgerError(error, while: .moving, in: file)
    }
  }

  /// The ends of the names of SQLite's files.
  private static let suffixes = ["", "-wal", "-shm", "-journal"]

  private static func remove(_ file: URL) throws(SystemError) {
    for suffix in suffixes {
      try DurableFile.remove(URL(filePath: file.path(percentEncoded: false) + suffix))
    }
  }

  private static func open(_ file: URL) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "crier.ledger.moving"
    // The rows are checked once, when all of them are there.
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      // A file that is not completed is thrown away, so nothing has to be undone, and nothing has to be on the disk.
      // The cache has 64 MiB, because rows come into the indexes in any order.
      try database.execute(
        sql: """
          PRAGMA auto_vacuum = INCREMENTAL;
          PRAGMA journal_mode = OFF;
          PRAGMA synchronous = OFF;
          PRAGMA cache_size = -65536;
          """)
    }
    let writer = try DatabaseQueue(path: file.path(percentEncoded: false), configuration: configuration)
    try Schema.migrate(writer, file: file)
    return writer
  }
}
