// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes
import ServiceAccess

/// Refuses those who send bad keys again and again, by their address.
final class FailureGate: Sendable {
  private let limits: Locked<FailureLimits>?
  private let time: @Sendable () -> Duration

  /// - Parameter limit: 401 answers that an address may have; nil for as many as come.
  init(_ limit: RateLimit?, time: @escaping @Sendable () -> Duration) {
    limits = limit.map { Locked(FailureLimits($0)) }
    self.time = time
  }

  /// Whether the sender of a call has failed as often as its address may: without a good key it is refused, whatever is
  /// wrong with what it sent.
  func isUsedUp(by call: Call) -> Bool {
    guard let limits, let address = call.client else { return false }
    let now = time()
    return limits.withLock { !$0.look(address, at: now).isAllowed }
  }

  /// What the sender of a call without a good key is told in place of why it is none.
  ///
  /// - Returns: nil where it may be told, or it is not known who it is.
  func refusal(of call: Call) -> Problem? {
    guard let limits, let address = call.client else { return nil }
    let now = time()
    let answer = limits.withLock { $0.take(address, at: now) }
    guard !answer.isAllowed else { return nil }
    return Problem(
      .tooManyRequests, "too_many_failures",
      "Too many requests without a good key came from this address: wait as Retry-After says.",
      retryAfter: max(1, Int(answer.retryAfter.components.seconds) + 1))
  }
}
