// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Writes that wait for the disk, done in the order of their coming, as many as there are in one transaction.
///
/// While one transaction is being synchronized the next one gathers, so that there is no wait to be set: a single
/// writer has a synchronization of its own, and a hundred share one.
final class WriteQueue: @unchecked Sendable {  // What changes is used under the lock.
  struct Write: Sendable {
    let action: LedgerError.Action
    /// Bytes it holds; nil for work that is never refused.
    let cost: Int?
    /// Does the work, and returns what to do once it is durable.
    let perform: @Sendable (Database) throws -> @Sendable () -> Void
    let fail: @Sendable (LedgerError) -> Void
  }

  /// At most so many in one transaction: it bounds how long the first of them waits for the last.
  static let transactionLimit = 256

  private let writer: DatabaseQueue
  private let file: URL
  private let limit: Int
  private let byteLimit: Int

  private let lock = NSLock()
  private var waiting: [Write] = []
  /// Of those that may be refused, from their coming until they are answered.
  private var held = (count: 0, bytes: 0)
  private var isScheduled = false

  init(writer: DatabaseQueue, file: URL, limit: Int, byteLimit: Int) {
    self.writer = writer
    self.file = file
    self.limit = limit
    self.byteLimit = byteLimit
  }

  /// - Returns: false when it was refused, since too much waits.
  func add(_ write: Write) -> Bool {
    let (isAdded, isFirst) = lock.withLock {
      if let cost = write.cost {
        guard held.count < limit, held.bytes + cost <= byteLimit else { return (false, false) }
        held.count += 1
        held.bytes += cost
      }
      waiting.append(write)
      defer { isScheduled = true }
      return (true, !isScheduled)
    }
    if isFirst { schedule() }
    return isAdded
  }

  private func schedule() {
    writer.asyncWriteWithoutTransaction { [self] database in
      let writes = lock.withLock {
        let writes = waiting
        waiting = []
        return writes
      }
      for start in stride(from: 0, to: writes.count, by: Self.transactionLimit) {
        commit(writes[start..<min(start + Self.transactionLimit, writes.count)], in: database)
      }
      // Whatever else waits for the connection has its turn before the next ones.
      let isDone = lock.withLock {
        isScheduled = !waiting.isEmpty
        return !isScheduled
      }
      if !isDone { schedule() }
    }
  }

  /// Answers each of the writes.
  private func commit(_ writes: ArraySlice<Write>, in database: Database) {
    var answers: [@Sendable () -> Void] = []
    do {
      try database.inTransaction(.immediate) {
        // One alone needs no savepoint: what it breaks is the whole.
        if writes.count == 1, let write = writes.first {
          answers.append(try write.perform(database))
          return .commit
        }
        for write in writes {
          do {
            try database.inSavepoint {
              answers.append(try write.perform(database))
              return .commit
            }
          } catch let error as LedgerError {
            answers.append { write.fail(error) }  // It broke a rule: the others go on.
          }
        }
        return .commit
      }
      release(writes)
      for answer in answers { answer() }
    } catch {
      guard let first = writes.first else { return }
      let failure = LedgerError(error, while: first.action, in: file)
      guard writes.count == 1 || failure.meetsEveryWrite else {
        // Nothing of the transaction is left. One of them may be too large for what room there is: each for itself.
        for index in writes.indices { commit(writes[index...index], in: database) }
        return
      }
      release(writes)
      for write in writes { write.fail(LedgerError(error, while: write.action, in: file)) }
    }
  }

  private func release(_ writes: ArraySlice<Write>) {
    let costs = writes.compactMap(\.cost)
    lock.withLock {
      held.count -= costs.count
      held.bytes -= costs.reduce(0, +)
    }
  }
}
