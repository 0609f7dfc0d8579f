// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import GRDB
import Ledger

/// The queue of writes that wait for the disk. Writes are done in the order of arrival. All waiting writes share a
/// transaction, up to ``transactionLimit``.
///
/// The next transaction collects writes while the current one is being synchronized, so no delay has to be configured:
/// a single writer has a synchronization of its own, and a hundred writers share one.
final class WriteQueue: Sendable {
  struct Write: Sendable {
    let action: LedgerError.Action
    /// The number of bytes that the write holds in memory; nil for a write that is never refused.
    let cost: Int?
    /// Performs the write and returns a closure to run once the write is durable.
    let perform: @Sendable (Database) throws -> @Sendable () -> Void
    let fail: @Sendable (LedgerError) -> Void
  }

  /// The maximum number of writes in one transaction. It limits how long the first write of a transaction waits for the
  /// last.
  static let transactionLimit = 256

  private struct State {
    var waiting: [Write] = []
    /// The number and the bytes of the writes that can be refused, counted from their arrival until they are answered.
    var held = (count: 0, bytes: 0)
    var isScheduled = false
  }

  private let writer: DatabaseQueue
  private let damage: Damage
  private let files: LedgerFiles?
  private let limit: Int
  private let byteLimit: Int
  private let state = Locked(State())

  init(writer: DatabaseQueue, damage: Damage, files: LedgerFiles?, limit: Int, byteLimit: Int) {
    self.writer = writer
    self.damage = damage
    self.files = files
    self.limit = limit
    self.byteLimit = byteLimit
  }

  /// Adds a write to the queue.
  ///
  /// - Returns: False when the write was refused because too much is waiting.
  func add(_ write: Write) -> Bool {
    let (isAdded, isFirst) = state.withLock { state in
      if let cost = write.cost {
        guard state.held.count < limit, state.held.bytes + cost <= byteLimit else { return (false, false) }
        state.held.count += 1
        state.held.bytes += cost
      }
      state.waiting.append(write)
      defer { state.isScheduled = true }
      return (true, !state.isScheduled)
    }
    if isFirst { schedule() }
    return isAdded
  }

  private func schedule() {
    writer.asyncWriteWithoutTransaction { [self] database in
      let writes = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      for start in stride(from: 0, to: writes.count, by: Self.transactionLimit) {
        commit(writes[start..<min(start + Self.transactionLimit, writes.count)], in: database)
      }
      // Other work that waits for the connection runs before the next writes.
      let isDone = state.withLock { state in
        state.isScheduled = !state.waiting.isEmpty
        return !state.isScheduled
      }
      if !isDone { schedule() }
    }
  }

  /// Commits the writes in one transaction and answers each of them.
  ///
  /// The files are checked before the transaction writes to them, and after its commit. A write is therefore never
  /// confirmed if it went into a file that has lost its name.
  private func commit(_ writes: ArraySlice<Write>, in database: Database) {
    guard let first = writes.first else { return }
    if damage.isFound { return fail(writes) }
    var answers: [@Sendable () -> Void] = []
    do {
      try database.inTransaction(.immediate) {
        try files?.check(database, while: first.action, beforeWriting: true)
        // A single write needs no savepoint: if it fails, the whole transaction fails.
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
            answers.append { write.fail(error) }  // The write broke a rule; the others continue.
          }
        }
        return .commit
      }
    } catch {
      note(error, in: database)
      if damage.isFound { return fail(writes) }
      let failure = LedgerError(error, while: first.action, in: damage.file)
      guard writes.count == 1 || failure.meetsEveryWrite else {
        // The whole transaction was rolled back. One write may be too large for the free space, so each is retried in a
        // transaction of its own.
        for index in writes.indices { commit(writes[index...index], in: database) }
        return
      }
      release(writes)
      for write in writes { write.fail(LedgerError(error, while: write.action, in: damage.file)) }
      return
    }
    guard isKept(first.action, database) else { return fail(writes) }
    release(writes)
    for answer in answers { answer() }
  }

  /// Checks the files after a commit.
  ///
  /// - Returns: Whether the commit is in the ledger's files, as far as this check can tell.
  private func isKept(_ action: LedgerError.Action, _ database: Database) -> Bool {
    do {
      try files?.check(database, while: action)
    } catch {
      note(error, in: database)
    }
    return !damage.isFound
  }

  private func note(_ error: any Error, in database: Database) {
    damage.note(error)
    files?.rescueLog(database, after: error)
  }

  /// Answers writes with the error about the damage that was found.
  private func fail(_ writes: ArraySlice<Write>) {
    release(writes)
    for write in writes { if let error = damage.error(while: write.action) { write.fail(error) } }
  }

  private func release(_ writes: ArraySlice<Write>) {
    let costs = writes.compactMap(\.cost)
    state.withLock { state in
      state.held.count -= costs.count
      state.held.bytes -= costs.reduce(0, +)
    }
  }
}
