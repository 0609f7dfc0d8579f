// SPDX-License-Identifier: Apache-2.0

/// Lets one task wait until other tasks announce work, or until a time has passed.
///
/// If a signal arrives while no task waits, it is kept, and the next wait ends at once.
///
/// The waiting task may be cancelled, and another task may wait after it. A stream would end with the cancelled task, and
/// each later wait would end at once.
public final class WorkSignal: Sendable {
  private enum State {
    case quiet
    /// A signal is kept for the next wait.
    case signalled
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let sleep: @Sendable (Duration) async throws -> Void
  private let hasNews = Locked(true)
  private let state = Locked(State.quiet)

  /// - Parameter sleep: Waits for a duration, or throws if its task is cancelled. Tests pass a function with their own
  ///   clock.
  public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
    self.sleep = sleep
  }

  /// Announces that there may be new work, and wakes the waiting task.
  ///
  /// - Parameter pause: The time after which the task is woken, unless something else wakes it earlier; nil to wake it
  ///   at once.
  public func announceNews(after pause: Duration? = nil) {
    hasNews.withLock { $0 = true }
    if let pause { wake(after: pause) } else { wake() }
  }

  /// Returns whether there may be new work since the last call. The first call returns true.
  public func takeNews() -> Bool {
    hasNews.withLock { hasNews in
      defer { hasNews = false }
      return hasNews
    }
  }

  /// Wakes the waiting task.
  public func wake() { wake(keepingSignal: true) }

  private func wake(keepingSignal: Bool) {
    let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
      if case .waiting(let continuation) = state {
        state = .quiet
        return continuation
      }
      if keepingSignal { state = .signalled }
      return nil
    }
    waiting?.resume()
  }

  /// Wakes the waiting task after a duration.
  ///
  /// - Returns: The task that waits for the duration. If it is cancelled, it does not wake the waiting task.
  @discardableResult
  public func wake(after duration: Duration) -> Task<Void, Never> {
    Task { [self] in
      if (try? await sleep(duration)) != nil { wake() }
    }
  }

  /// Waits until the task is woken or cancelled, or until a duration has passed. Only one task may wait at a time.
  ///
  /// - Parameter longest: The longest duration; nil for no limit.
  public func wait(atMost longest: Duration? = nil) async {
    let alarm = longest.map { wake(after: $0) }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled { return true }
          if case .signalled = state {
            state = .quiet
            return true
          }
          state = .waiting(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      wake(keepingSignal: false)
    }
    alarm?.cancel()
  }
}
