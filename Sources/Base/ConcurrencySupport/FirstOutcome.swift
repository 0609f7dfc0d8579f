// SPDX-License-Identifier: Apache-2.0

/// A wait that can end in several ways: by its work, by its time limit, by another task, or by the cancellation of the
/// waiting task. The first end counts. The waiting task does not wait for the other ends.
package final class FirstOutcome<Value: Sendable, Failure: Error>: Sendable {
  package typealias Outcome = Result<Value, Failure>

  private struct State {
    var outcome: Outcome?
    var waiting: AwaitedAnswer<Outcome>?
    var tasks: [Task<Void, Never>] = []
  }

  private let state = Locked(State())

  package init() {}

  /// Starts the work and waits for the first outcome.
  ///
  /// - Parameters:
  ///   - start: Starts the work as tasks, which are cancelled after the first outcome. It is not called if there
  ///     already is an outcome, and must not call ``end(_:)`` itself. By default, no work is started, and other code
  ///     ends the wait.
  ///   - onCancel: Called when the waiting task is cancelled, even if that happens before the wait. It may call
  ///     ``end(_:)``.
  package func wait(
    start: () -> [Task<Void, Never>] = { [] }, onCancel: @escaping @Sendable () -> Void
  ) async -> Outcome {
    await withTaskCancellationHandler {
      await waitForAnswer { answer in
        let early: Outcome? = state.withLock { state in
          if let outcome = state.outcome { return outcome }
          state.waiting = answer
          // The tasks begin on other threads, so they cannot end before the lock is released.
          state.tasks = start()
          return nil
        }
        if let early { answer.give(early) }
      }
    } onCancel: {
      onCancel()
    }
  }

  /// Ends the wait. If it has already ended, nothing happens.
  ///
  /// - Returns: Whether this is the first end.
  @discardableResult
  package func end(_ outcome: Outcome) -> Bool {
    let ended: State? = state.withLock { state in
      guard state.outcome == nil else { return nil }
      defer { state = State(outcome: outcome) }
      return state
    }
    guard let ended else { return false }
    // The waiting task continues first, because the cancellation of a request can block.
    ended.waiting?.give(outcome)
    for task in ended.tasks { task.cancel() }
    return true
  }
}
