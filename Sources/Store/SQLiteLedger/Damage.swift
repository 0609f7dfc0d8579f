// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import GRDB
import Ledger

/// Whether damage was found while the ledger was open: wrong content, or a file that was replaced, removed or cut.
///
/// After damage was found, every call of the ledger fails with the same error without reading or writing the file. An
/// empty file beside the ledger marks it as damaged, so that the next opening checks all of it first; see
/// ``mark(of:)``.
final class Damage: Sendable {
  private struct State {
    var isFound = false
    /// The change that was found in one of the files; nil if SQLite found the damage.
    var change: LedgerError.FileChange?
    var connection: DatabaseQueue?
    var waiting: [ObjectIdentifier: FirstOutcome<Bool, Never>] = [:]
  }

  /// The connections that stay open until the process ends. When the last connection closes, SQLite moves the log into
  /// the file, and removes whatever file has the log's name at that time. A damaged file must not be written, so one of
  /// its connections is never closed. A new connection cannot be used for this, because it could combine a new file
  /// with an old log.
  private static let keptConnections = Locked<[DatabaseQueue]>([])

  let file: URL
  private let state = Locked(State())
  /// Whether damage is also marked on the disk; see ``mark(of:)``.
  private let marks: Bool

  init(in file: URL, marks: Bool) {
    self.file = file
    self.marks = marks
  }

  /// Sets the connection that stays open if damage is found.
  func keep(_ connection: DatabaseQueue) { state.withLock { $0.connection = connection } }

  var isFound: Bool { state.withLock { $0.isFound } }

  /// Returns the error with which a call fails; nil if no damage was found.
  func error(while action: LedgerError.Action) -> LedgerError? {
    let (isFound, change) = state.withLock { ($0.isFound, $0.change) }
    guard isFound else { return nil }
    return LedgerError(change == nil ? .damaged : .fileChanged, while: action, in: file, change: change)
  }

  /// The file that marks a ledger as damaged. While this file exists, opening the ledger checks every page first.
  static func mark(of file: URL) -> URL { file.appendingPathExtension("damaged") }

  /// Records the damage if SQLite or ``LedgerFiles`` reports damage with this error. Any other error concerns only the
  /// call that failed, for example if this version cannot read a row.
  func note(_ error: any Error) {
    switch error {
    case let error as LedgerError where error.code == .fileChanged: found(error.change)
    // SQLite reports a short read only if the log is shorter than its index says.
    case let error as DatabaseError where error.extendedResultCode == .SQLITE_IOERR_SHORT_READ:
      found(LedgerError.FileChange(.log, .cut))
    case let error as DatabaseError
    where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.extendedResultCode.primaryResultCode):
      found()
    default: break
    }
  }

  /// Records that the file is damaged.
  ///
  /// - Parameter change: The change of the file while it was open; nil if only its content is wrong.
  func found(_ change: LedgerError.FileChange? = nil) {
    let (isFirst, connection) = state.withLock { state in
      defer { state.isFound = true }
      if !state.isFound { state.change = change }
      return (!state.isFound, state.connection)
    }
    guard isFirst else { return }
    // The damage is recorded in memory even if the mark cannot be written.
    if marks { try? DurableFile.createEmpty(Self.mark(of: file)) }
    if let connection { Self.keptConnections.withLock { $0.append(connection) } }
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for wait in waiting { wait.end(.success(true)) }
  }

  /// Waits until the file is found damaged.
  ///
  /// - Returns: False if the task was cancelled first.
  func waitUntilFound() async -> Bool {
    let found = FirstOutcome<Bool, Never>()
    let isKnown = state.withLock { state in
      if !state.isFound { state.waiting[ObjectIdentifier(found)] = found }
      return state.isFound
    }
    if isKnown { return true }
    return await found.wait(onCancel: { [state] in
      found.end(.success(false))
      state.withLock { $0.waiting[ObjectIdentifier(found)] = nil }
    }).get()
  }
}
