// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import GRDB
import Ledger

/// A check of every page of a ledger while other connections read and write it.
///
/// The check has its own connection and thread, so no call of the ledger waits for it. It reads one consistent state of
/// the file (`PRAGMA quick_check`). Until it has read that state to the end, SQLite cannot start the log afresh, and
/// the log grows. The check is therefore interrupted as soon as the log has grown by ``Settings/mostLogGrowth``. It
/// then continues table by table, because each of these parts is short. It no longer runs with a low priority then, so
/// that it ends even if the processors are busy. A part during which the log grows too much is repeated after a pause.
///
/// Table by table, SQLite does not look for pages that no table uses, but finds all other damage. If a table has lost
/// pages, SQLite notices the loss only where an entry in the pointer map is no longer right.
final class IntegrityCheck: Sendable {
  struct Settings: Sendable {
    /// The number of bytes by which the log may grow during one part of the check.
    var mostLogGrowth: Int64 = 64 << 20
    /// The interval at which the log's size is compared with the limit.
    var interval: Duration = .milliseconds(100)
    /// The pause before a part is repeated. It doubles up to ``longestPause``.
    var shortestPause: Duration = .seconds(1)
    var longestPause: Duration = .seconds(60)
    /// Waits for a duration, or throws if the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Returns the size of a ledger's log in bytes.
    var logBytes: @Sendable (_ ledger: URL) -> Int64 = { ledger in
      Int64(((try? FileStatus.byteCount(at: ledger.path(percentEncoded: false) + "-wal")) ?? nil) ?? 0)
    }
  }

  /// A part of the check, which reads the file in one transaction.
  private enum Part: Sendable, Equatable {
    case file
    /// A table with its indexes. The list of free pages belongs to the table `sqlite_schema`.
    case table(String)
  }

  private enum Outcome: Sendable, Equatable {
    case sound
    case damaged
    /// The log grew too much.
    case logGrew
    /// Another process kept the log's index locked, for example while it recovered the log after a crash.
    case busy
    case stopped
  }

  private struct State {
    var isStopped = false
    var hasLogGrown = false
    var logAtStart: Int64 = 0
  }

  private let connection: DatabaseQueue
  private let file: URL
  private let damage: Damage
  private let settings: Settings
  private let state = Locked(State())

  /// - Parameter connection: A connection that only reads, for this check alone.
  init(on connection: DatabaseQueue, of file: URL, damage: Damage, settings: Settings = Settings()) {
    self.connection = connection
    self.file = file
    self.damage = damage
    self.settings = settings
  }

  /// Runs the check to its end, or until the task is cancelled.
  ///
  /// - Returns: Whether the file was checked table by table; nil if the task was cancelled.
  /// - Throws: `LedgerError` with `damaged` as soon as the check, or any call of the ledger, finds damage; an error of
  ///   SQLite if the file cannot be read.
  func run() async throws -> Bool? {
    var parts = [Part.file]
    var isByTable = false
    var pause = settings.shortestPause
    while let part = parts.last {
      let outcome = try await check(part)
      switch outcome {
      case .sound:
        parts.removeLast()
        pause = settings.shortestPause
      case .damaged:
        damage.found()
        throw damage.error(while: .checking) ?? LedgerError(.damaged, while: .checking, in: file)
      case .stopped: return nil
      case .logGrew, .busy:
        if outcome == .logGrew, part == .file {
          isByTable = true
          parts = try await tables()
        }
        do { try await settings.sleep(pause) } catch { return nil }
        pause = min(pause * 2, settings.longestPause)
      }
    }
    return isByTable
  }

  /// Checks a part on its own thread, and meanwhile watches whether the check must be interrupted.
  private func check(_ part: Part) async throws -> Outcome {
    let looking = Task.detached { [self] in
      while (try? await Task.sleep(for: settings.interval)) != nil { look() }
    }
    defer { looking.cancel() }
    let result: Result<Outcome, any Error> = await withTaskCancellationHandler {
      await waitForAnswer { answer in
        // The shared threads for blocking work are few, and have the same priority as the requests.
        Thread.detachNewThread { [self] in
          if part == .file { lowerPriorityOfThread() }
          answer.give(Result { try checkNow(part) })
        }
      }
    } onCancel: {
      state.withLock { $0.isStopped = true }
      connection.interrupt()
    }
    return try result.get()
  }

  private func checkNow(_ part: Part) throws -> Outcome {
    state.withLock { state in
      state.hasLogGrown = false
      state.logAtStart = settings.logBytes(file)
    }
    var fault: (any Error)?
    var finding: String?
    do {
      finding = try connection.inDatabase { database in
        var finding: String?
        try database.inTransaction(.deferred) {
          look()
          if reasonToEnd == nil { finding = try self.finding(in: part, database) }
          return .commit
        }
        return finding
      }
    } catch {
      fault = error
    }
    // An interrupted check may report pages that it did not reach, so its result does not count.
    if let reason = reasonToEnd { return reason }
    switch fault {
    case let fault as DatabaseError:
      switch fault.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .damaged
      case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy
      default: throw fault
      }
    case let fault?: throw fault
    case nil: return finding == nil ? .sound : .damaged
    }
  }

  /// Returns SQLite's first finding; nil if there is none.
  private func finding(in part: Part, _ database: Database) throws -> String? {
    let first: String?
    switch part {
    case .file: first = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
    case .table(let name):
      // A newer version of this program may have removed the table meanwhile.
      guard
        try Int.fetchOne(
          database, sql: "SELECT 1 WHERE ? = 'sqlite_schema' OR EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)",
          arguments: [name, name]) != nil
      else { return nil }
      first = try String.fetchOne(database, sql: "PRAGMA quick_check(\(name.quotedDatabaseIdentifier))")
    }
    return first == "ok" ? nil : first ?? "no result"
  }

  /// Returns the parts of a check table by table. The last one is checked first.
  private func tables() async throws -> [Part] {
    try await onWaitingThread { [connection] in
      try connection.inDatabase { database in
        let names = try String.fetchAll(
          database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rootpage DESC")
        return names.map(Part.table) + [.table("sqlite_schema")]
      }
    }
  }

  private var reasonToEnd: Outcome? {
    if damage.isFound { return .damaged }
    return state.withLock { $0.isStopped ? .stopped : $0.hasLogGrown ? .logGrew : nil }
  }

  /// Interrupts the check if there is a reason to end it. SQLite forgets an interruption that comes before a statement
  /// begins, so this function is called repeatedly.
  private func look() {
    let size = settings.logBytes(file)
    state.withLock { state in
      if size > state.logAtStart + settings.mostLogGrowth { state.hasLogGrown = true }
    }
    if reasonToEnd != nil { connection.interrupt() }
  }
}

/// Lowers the priority of the current thread, if the system allows it, so that other threads run first.
private func lowerPriorityOfThread() {
  // Linux applies this to the thread and not to the process.
  _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
}
