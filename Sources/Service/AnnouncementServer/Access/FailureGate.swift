// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes
import ServiceAccess

/// The limit of failed authentications for each client address.
final class FailureGate: Sendable {
  private let limits: Locked<FailureLimits>?
  private let time: @Sendable () -> Duration

  /// - Parameter limit: The rate of 401 responses that an address may receive; nil for no limit.
  init(_ limit: RateLimit?, time: @escaping @Sendable () -> Duration) {
    limits = limit.map { Locked(FailureLimits($0)) }
    self.time = time
  }

  /// Returns whether the client address of a call has used up its allowed failures. If so, a request without a valid
  /// key is refused, whatever else is wrong with the request.
  func isUsedUp(by call: Call) -> Bool {
    guard let limits, let address = call.client else { return false }
    let now = time()
    return limits.withLock { !$0.look(address, at: now).isAllowed }
  }

  /// Counts a failure of the call's client address, and returns the problem that replaces the 401 response.
  ///
  /// - Returns: nil if the address is below its limit, or if the address is unknown.
  func refusal(of call: Call) -> Problem? {
    guard let limits, let address = call.client else { return nil }
    let now = time()
    let answer = limits.withLock { $0.take(address, at: now) }
    guard !answer.isAllowed else { return nil }
    return Problem(
      .tooManyRequests, "too_many_failures",
      "Too many requests without a valid key came from this address. Try again after the time in Retry-After.",
      retryAfter: max(1, Int(answer.retryAfter.components.seconds) + 1))
  }
}
