// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import GRDB

/// Whether the ledger's file was found damaged while it was open, or one of its files replaced, removed or cut.
///
/// From then on, every call of the ledger fails with the same error without reading or writing the file. So that the
/// next opening cannot serve anything from the file either, an empty file beside it marks it as damaged; see
/// ``mark(of:)``.
final class Damage: Sendable {
  private struct State {
    var isFound = false
    /// The change of a file that was found; nil if SQLite found the damage.
    var change: LedgerError.FileChange?
    var connection: DatabaseQueue?
    var waiting: [ObjectIdentifier: FirstOutcome<Bool, Never>] = [:]
  }

  /// When the last connection to the file is closed, SQLite moves the log into the file, and removes the file that has
  /// the log's name by then. A damaged file must not be written, so a connection stays open until the process ends. No
  /// new connection is opened for this, because it could join a new file with an old log.
  private static let keptConnections = Locked<[DatabaseQueue]>([])

  let file: URL
  private let state = Locked(State())
  /// Whether the file may be marked.
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

  /// The file that marks a ledger as damaged. While it exists, the whole ledger is checked before anything is read from
  /// it.
  static func mark(of file: URL) -> URL { file.appendingPathExtension("damaged") }

  /// Records the damage if the error is SQLite's or ``LedgerFiles``'s report of it. Other errors concern only the call
  /// that failed. An example is a row that this version cannot read.
  func note(_ error: any Error) {
    switch error {
    case let error as LedgerError where error.code == .fileChanged: found(error.change)
    // SQLite reads less than a page only from a log that is shorter than its index says.
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
    // The damage counts even if the disk does not allow the mark.
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
  /// - Returns: False if the task was cancelled before.
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
