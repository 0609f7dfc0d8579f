// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import ServiceAccess

/// The limit of replays for each key. A shop needs few replays. A key that requests more is limited, so that the shop
/// does not hear announcements of payments that nobody made.
final class ReplayPace: Sendable {
  /// The number of replays that a key may request in a minute. They may all be requested at once.
  static let perMinute = 6

  private let limit: RateLimit
  private let time: @Sendable () -> Duration
  private let buckets = Locked<[String: TokenBucket]>([:])

  /// - Parameter time: The time since an arbitrary origin; it never runs backwards.
  /// - Throws: `AccessError` for an invalid limit. The limit here is always valid.
  init(time: @escaping @Sendable () -> Duration) throws(AccessError) {
    limit = try RateLimit(rate: Double(Self.perMinute) / 60, burst: Self.perMinute)
    self.time = time
  }

  /// Counts one replay towards the key's limit.
  ///
  /// - Throws: ``Problem`` with 429 `too_many_replays` and the time until the next replay is allowed.
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
