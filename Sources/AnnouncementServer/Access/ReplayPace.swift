// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import ServiceAccess

/// How many replays each key may ask for: a shop hears some again, and a key that asks for more is held back before the
/// shop hears payments that nobody made.
final class ReplayPace: Sendable {
  /// Six a minute, and as many at once.
  static let perMinute = 6

  private let limit: RateLimit
  private let time: @Sendable () -> Duration
  private let buckets = Locked<[String: TokenBucket]>([:])

  /// - Parameter time: since a moment of its own; never runs backwards.
  /// - Throws: `AccessError`; not for this limit.
  init(time: @escaping @Sendable () -> Duration) throws(AccessError) {
    limit = try RateLimit(rate: Double(Self.perMinute) / 60, burst: Self.perMinute)
    self.time = time
  }

  /// Takes one replay from what a key may ask for.
  ///
  /// - Throws: ``Problem``, 429 `too_many_replays`, with the time until the next one.
  func admit(keyID: String) throws(Problem) {
    let now = time()
    let answer = buckets.withLock { buckets in
      buckets = buckets.filter { !$0.value.isFull(at: now) }
      var bucket = buckets[keyID] ?? TokenBucket(limit)
      defer { buckets[keyID] = bucket }
      return bucket.take(at: now)
    }
    guard answer.isAllowed else {
      throw Problem.tooManyReplays(retryAfter: max(1, Int(answer.retryAfter.components.seconds) + 1))
    }
  }
}
