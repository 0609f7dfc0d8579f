// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The times at which a message is sent again.
///
/// The pauses are 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h and 20 h, each lengthened by up to a tenth at random. The
/// last attempt is made three days after the first.
public struct WebhookRetry: Sendable, Hashable {
  /// The pauses after the first attempts, in seconds. The last one is repeated.
  public var pauses: [TimeInterval] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
  /// The time from the first attempt to the last, in seconds.
  public var lifetime: TimeInterval = 3 * 86_400

  /// The longest pause that a receiver may ask for, in seconds.
  public static let longestRequest: TimeInterval = 86_400

  public init() {}

  /// Returns the time of the next attempt; nil if the last one has been made.
  ///
  /// - Parameters:
  ///   - now: The time of the failure.
  ///   - attempts: The number of attempts so far, 1 or more.
  ///   - first: The time of the first attempt.
  ///   - requested: The pause that the receiver asked for, in seconds; at most ``longestRequest``. The last attempt is
  ///     made on time, even if this pause has not ended.
  ///   - random: A random number, from the whole range.
  public func nextAttempt(
    at now: Date, afterAttempts attempts: Int, first: Date, requested: TimeInterval? = nil, random: UInt64
  ) -> Date? {
    let end = first.addingTimeInterval(lifetime)
    guard now < end, let longest = pauses.last else { return nil }
    let index = max(attempts, 1) - 1
    let own = index < pauses.count ? pauses[index] : longest
    let pause = max(own, min(requested ?? 0, Self.longestRequest))
    // 2^20 steps are fine enough: fewer than 10 ms each at the longest pause.
    let jitter = pause / 10 * Double(random >> 44) / Double(1 << 20)
    return min(now.addingTimeInterval(pause + jitter), end)
  }
}
