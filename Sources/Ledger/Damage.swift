// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import GRDB

/// Whether SQLite found the ledger's file damaged while it was open.
///
/// From then on, every call of the ledger fails with `damaged` without reading or writing the file. So that the next
/// opening cannot serve anything from the file either, an empty file beside it marks it as damaged; see ``mark(of:)``.
final class Damage: Sendable {
  private struct State {
    var isFound = false
    var lastWaiter = 0
    var waiting: [Int: AwaitedAnswer<Bool>] = [:]
  }

  /// SQLite moves the log into the file when the file's last connection is closed. A damaged file must not be written,
  /// so a connection that only reads stays open until the process ends.
  private static let keptConnections = Locked<[DatabaseQueue]>([])

  private let file: URL
  private let state = Locked(State())
  /// Opens a connection that only reads.
  private let open: @Sendable () throws -> DatabaseQueue
  /// Whether the file may be marked.
  private let marks: Bool

  init(in file: URL, marks: Bool, open: @escaping @Sendable () throws -> DatabaseQueue) {
    self.file = file
    self.marks = marks
    self.open = open
  }

  var isFound: Bool { state.withLock { $0.isFound } }

  /// The file that marks a ledger as damaged. While it exists, the whole ledger is checked before anything is read from
  /// it.
  static func mark(of file: URL) -> URL { file.appendingPathExtension("damaged") }

  /// Records the damage if the error is SQLite's report of it. Other errors, such as that of a row that this version
  /// cannot read, concern only the call that failed.
  func note(_ error: any Error) {
    guard let error = error as? DatabaseError,
      [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.extendedResultCode.primaryResultCode)
    else { return }
    found()
  }

  /// Records that the file is damaged.
  func found() {
    let isFirst = state.withLock { state in
      defer { state.isFound = true }
      return !state.isFound
    }
    guard isFirst else { return }
    // The damage counts even if the disk allows neither.
    if marks { try? DurableFile.createEmpty(Self.mark(of: file)) }
    if let connection = try? open() { Self.keptConnections.withLock { $0.append(connection) } }
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for answer in waiting { answer.give(true) }
  }

  /// Waits until the file is found damaged.
  ///
  /// - Returns: False if the task was cancelled before.
  func waitUntilFound() async -> Bool {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return await withTaskCancellationHandler {
      await waitForAnswer { answer in
        let known: Bool? = state.withLock { state in
          if state.isFound { return true }
          if Task.isCancelled { return false }
          state.waiting[number] = answer
          return nil
        }
        if let known { answer.give(known) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.give(false)
    }
  }
}
