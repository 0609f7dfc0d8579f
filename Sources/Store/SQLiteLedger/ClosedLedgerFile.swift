// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
package import Foundation
import GRDB
package import Ledger

/// The file of a ledger that no process uses, for reading all its rows. As long as this object exists, no process can
/// open the ledger except for reading. The file keeps its bytes.
package final class ClosedLedgerFile: Sendable {
  private let file: URL
  private let lock: LockedFile
  private let reader: DatabaseQueue

  /// Opens the file, and reads and checks every page. The call blocks.
  ///
  /// - Throws: ``LedgerError``: `noLedger` if there is no file, `inUse` if another process has it open, `olderVersion`
  ///   if the ledger must be migrated first, and other codes as ``SQLiteLedger/init(reading:options:)``.
  package init(_ file: URL) throws(LedgerError) {
    let file = file.absoluteURL.standardizedFileURL
    do {
      guard try FileStatus.byteCount(at: file.path(percentEncoded: false)) != nil else {
        throw LedgerError(.noLedger, while: .moving, in: file)
      }
      lock = try Self.lock(file)
      // This comes before the file is opened: closing it releases all locks that this process holds on it.
      if let user = try SQLiteLocks.user(of: file) {
        throw LedgerError(.inUse, while: .moving, in: file, process: user > 0 ? user : nil)
      }
      (reader, _) = try SQLiteLedger.openForReading(file, options: SQLiteLedger.Options())
    } catch {
      throw LedgerError(error, while: .moving, in: file)
    }
    self.file = file
  }

  deinit { try? reader.close() }

  /// Reads rows. All of them are of one moment. The call blocks.
  package func read<Value>(_ work: (SQLiteRows) throws -> Value) throws -> Value {
    do {
      return try reader.inDatabase { database in
        try database.execute(sql: "BEGIN")
        defer { try? database.rollback() }
        return try work(SQLiteRows(database: database))
      }
    } catch {
      throw LedgerError.moving(file, error)
    }
  }

  /// Takes the lock that every process takes to open a ledger.
  static func lock(_ file: URL) throws -> LockedFile {
    guard let lock = try LockedFile(file.appendingPathExtension("opening"), patience: 5) else {
      throw LedgerError(.inUse, while: .moving, in: file)
    }
    return lock
  }
}

extension LedgerError {
  /// Returns a ledger's error in place of an error of SQLite or of the system. Any other error is returned as it is,
  /// because it comes from the other ledger.
  static func moving(_ file: URL, _ error: any Error) -> any Error {
    switch error {
    case is DatabaseError, is UnreadableRow, is SystemError: LedgerError(error, while: .moving, in: file)
    default: error
    }
  }
}

/// The locks that SQLite holds on a database in WAL mode.
enum SQLiteLocks {
  /// Returns the id of another process that has a database open; nil if no process has. The id is 0 if the process
  /// cannot be seen from here.
  ///
  /// Each connection keeps a shared lock until it is closed, on the bytes that "os.h" of SQLite calls `SHARED_FIRST`
  /// and `SHARED_SIZE`. The kernel releases the lock of a process that is killed.
  static func user(of file: URL) throws(SystemError) -> Int32? {
    BlockingWatchdog.check()
    // Safe: the text lives as long as the call.
    let descriptor = unsafe open(file.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    var lock: flock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0x4000_0002
    lock.l_len = 510
    // Safe: the call fills in the value that lives here. It takes no lock.
    guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0 else { throw .last }
    return lock.l_type == Int16(F_UNLCK) ? nil : max(0, lock.l_pid)
  }
}
