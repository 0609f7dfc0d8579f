// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The waits between the attempts to send a push: exponential back-off with jitter.
///
/// Apple's page suggests a wait of 15 minutes after a server error. A payment is too old by then, so Crier begins with
/// a wait of 1 s, and the waits become longer.
public struct PushRetry: Sendable, Hashable {
  /// The upper limit of the first wait. The limit doubles with each attempt.
  public var first: Duration
  /// The upper limit of all waits that APNs did not ask for.
  public var longest: Duration

  public init(first: Duration = .seconds(1), longest: Duration = .seconds(300)) {
    self.first = first
    self.longest = longest
  }

  /// Returns the wait before the next attempt.
  ///
  /// The back-off is a random time between half of its limit and its limit. A wait that APNs asked for is never
  /// shortened. It is lengthened by up to half of the limit, so that the pushes are not all sent again at the same
  /// moment.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts so far, 1 or more.
  ///   - requested: The wait of ``PushConsequence/retry(after:scope:)``. Zero permits another attempt at once, but only
  ///     after the first attempt: a server that never processes anything is not asked in a tight loop.
  ///   - random: A random number, from the whole range.
  public func wait(afterAttempts attempts: Int, requested: Duration?, random: UInt64) -> Duration {
    if requested == .zero, attempts <= 1 { return .zero }
    var limit = Swift.min(first, longest)
    for _ in 1..<Swift.min(Swift.max(attempts, 1), 64) where limit < longest { limit = Swift.min(limit * 2, longest) }
    let half = limit / 2
    // 2^20 steps are fine enough: at the longest wait, a step is less than 0.2 ms.
    let jitter = half * Int(random >> 44) / (1 << 20)
    return Swift.max(half, requested ?? .zero) + jitter
  }

  /// Returns the time of the next attempt; nil if the push expires before then, and ends as expired.
  ///
  /// - Parameters:
  ///   - now: The time of the failure.
  ///   - expiresAt: The time when the push expires; nil if it never does.
  public func nextAttempt(
    at now: Date, afterAttempts attempts: Int, requested: Duration?, random: UInt64, expiresAt: Date?
  ) -> Date? {
    let wait = wait(afterAttempts: attempts, requested: requested, random: random)
    let next = now.addingTimeInterval(wait / .seconds(1))
    if let expiresAt, next >= expiresAt { return nil }
    return next
  }
}
