// SPDX-License-Identifier: Apache-2.0

/// A value that another thread provides once, and for which a task waits.
///
/// It is like a continuation, but the value passes through a lock. If a continuation is resumed before its task waits,
/// the value passes through Swift's runtime in a way that the thread sanitizer does not understand (Swift 6.3 on
/// Linux). The sanitizer would then report every later use of the value as a race.
public final class AwaitedAnswer<Value: Sendable>: Sendable {
  private let value = Locked<Value?>(nil)
  private let continuation: CheckedContinuation<Void, Never>

  fileprivate init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

  /// Provides the value and resumes the waiting task. Call this exactly once, from any thread.
  public func give(_ value: Value) {
    self.value.withLock { $0 = value }
    continuation.resume()
  }

  fileprivate func take() -> Value? { value.withLock { $0 } }
}

/// Suspends the task until the answer is given, and returns the answer.
///
/// - Parameter ask: A closure that runs at once. It must ensure that ``AwaitedAnswer/give(_:)`` is called exactly once,
///   at once or later.
public func waitForAnswer<Value: Sendable>(_ ask: (AwaitedAnswer<Value>) -> Void) async -> Value {
  var asked: AwaitedAnswer<Value>?
  await withCheckedContinuation { continuation in
    let answer = AwaitedAnswer<Value>(continuation)
    asked = answer
    ask(answer)
  }
  // Not from outside: only `give(_:)` resumes the continuation, and it stores the value first.
  guard let value = asked?.take() else { preconditionFailure("Only the answer may resume its continuation.") }
  return value
}
