// SPDX-License-Identifier: Apache-2.0

/// Lets one task wait until other tasks announce work, or until a time has passed.
///
/// If a signal arrives while no task waits, it is kept, and the next wait ends at once.
public final class WorkSignal: Sendable {
  private let sleep: @Sendable (Duration) async throws -> Void
  private let hasNews = Locked(true)
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  /// - Parameter sleep: Waits for a duration, or throws if its task is cancelled. Tests pass a function with their own
  ///   clock.
  public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
    self.sleep = sleep
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
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
  public func wake() { signal.yield() }

  /// Wakes the waiting task after a duration.
  ///
  /// - Returns: The task that waits for the duration. If it is cancelled, it does not wake the waiting task.
  @discardableResult
  public func wake(after duration: Duration) -> Task<Void, Never> {
    Task { [sleep, signal] in
      if (try? await sleep(duration)) != nil { signal.yield() }
    }
  }

  /// Waits until the task is woken or cancelled, or until a duration has passed.
  ///
  /// - Parameter longest: The longest duration; nil for no limit.
  public func wait(atMost longest: Duration? = nil) async {
    let alarm = longest.map { wake(after: $0) }
    for await _ in signals { break }
    alarm?.cancel()
  }
}
