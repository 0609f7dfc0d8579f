// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Ledger

/// The answers that wait to be stored. Answers that arrive while others are being committed share the next transaction,
/// so no delay has to be configured: a single answer has a transaction of its own, and a hundred answers share one.
///
/// Without the queue, each answer would need several round trips to the server, and a synchronization of the server's
/// disk.
final class AcceptanceQueue: Sendable {
  struct Waiting: Sendable {
    let item: AnswerToStore
    let answer: AwaitedAnswer<Result<Ledger.AnswerAcceptance, LedgerError>>
  }

  /// The maximum number of answers in one transaction. It limits how long the first answer waits for the last.
  static let mostInBatch = 128
  /// The number of transactions at the same time: while one is being synchronized, the next one is sent.
  static let mostBatches = 2

  private struct State {
    var waiting: [Waiting] = []
    var batches = 0
  }

  private let state = Locked(State())

  /// Adds an answer.
  ///
  /// - Returns: Whether the caller must start work that stores batches.
  func add(_ waiting: Waiting) -> Bool {
    state.withLock { state in
      state.waiting.append(waiting)
      guard state.batches < Self.mostBatches else { return false }
      state.batches += 1
      return true
    }
  }

  /// Takes the answers that have waited longest; nil if none waits. The work that called this then ends.
  func next() -> [Waiting]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.batches -= 1
        return nil
      }
      defer { state.waiting.removeFirst(min(Self.mostInBatch, state.waiting.count)) }
      return Array(state.waiting.prefix(Self.mostInBatch))
    }
  }
}
