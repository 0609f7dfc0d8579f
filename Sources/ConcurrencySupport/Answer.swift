// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// A question that some other thread answers, once.
///
/// As a continuation, but the value passes through a lock. A continuation's own way, when it is resumed before its task
/// waits, is inside Swift's runtime, where the thread sanitizer sees no order between the two threads (Swift 6.3 on
/// Linux): it would take every later use of the value for a race.
public final class Answer<Value: Sendable>: @unchecked Sendable {  // The value is used under the lock.
  private let lock = NSLock()
  private var value: Value?
  private let continuation: CheckedContinuation<Void, Never>

  fileprivate init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

  /// To be called once, from any thread.
  public func give(_ value: Value) {
    lock.withLock { self.value = value }
    continuation.resume()
  }

  fileprivate func take() -> Value? { lock.withLock { value } }
}

/// Suspends the task until the answer is given.
///
/// - Parameter ask: runs at once, and sees to it that the answer is given, once, at any time.
public func waitForAnswer<Value: Sendable>(_ ask: (Answer<Value>) -> Void) async -> Value {
  var asked: Answer<Value>?
  await withCheckedContinuation { continuation in
    let answer = Answer<Value>(continuation)
    asked = answer
    ask(answer)
  }
  guard let value = asked?.take() else { preconditionFailure("A continuation is resumed by its answer alone.") }
  return value
}
