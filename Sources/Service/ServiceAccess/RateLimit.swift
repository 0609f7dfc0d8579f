// SPDX-License-Identifier: Apache-2.0

/// The rate at which a key may send requests.
public struct RateLimit: Sendable, Hashable, Encodable {
  /// The number of requests per second in the long run; 0.1 means one request in ten seconds.
  public let rate: Double
  /// The number of requests that may come at once after a pause.
  public let burst: Int

  public static let rates = 0.001...1_000_000.0
  public static let bursts = 1...1_000_000

  /// Creates a rate limit.
  ///
  /// - Parameters:
  ///   - rate: The number of requests per second.
  ///   - burst: The number of requests at once; nil for the rate rounded up, which is at least 1.
  /// - Throws: ``AccessError`` with `rateLimitInvalid` for a rate outside ``rates`` or a burst outside ``bursts``.
  public init(rate: Double, burst: Int? = nil) throws(AccessError) {
    guard Self.rates.contains(rate) else { throw AccessError(.rateLimitInvalid) }
    let burst = burst ?? max(1, Int(rate.rounded(.up)))
    guard Self.bursts.contains(burst) else { throw AccessError(.rateLimitInvalid) }
    self.rate = rate
    self.burst = burst
  }

  /// The average time between two requests, in whole nanoseconds; at least 1,000 ns.
  var interval: Duration { .nanoseconds(Int64((1_000_000_000 / rate).rounded())) }
}

/// A token bucket. It holds ``RateLimit/burst`` tokens, each request takes one, and taken tokens come back at
/// ``RateLimit/rate``.
///
/// A pure value. The caller passes the time of any clock that does not run backwards, such as `ContinuousClock` since
/// the service's start. If the clock does run backwards, the bucket counts as empty at worst.
public struct TokenBucket: Sendable, Hashable {
  public let limit: RateLimit
  /// The time at which the bucket is full again; nil when it was never used.
  private var fullAt: Duration?

  /// Creates a full bucket.
  public init(_ limit: RateLimit) { self.limit = limit }

  /// Takes a token for a request, or refuses the request. A refused request takes no token.
  public mutating func take(at now: Duration) -> RateLimitDecision {
    let lacking = lacking(at: now)
    let isAllowed = lacking + limit.interval <= capacity
    if isAllowed { fullAt = now + lacking + limit.interval }
    return decision(isAllowed: isAllowed, lacking: isAllowed ? lacking + limit.interval : lacking)
  }

  /// Puts back the token of a request that did not come from the key's holder, such as a replayed request.
  public mutating func giveBack(at now: Duration) {
    fullAt = now + max(.zero, lacking(at: now) - limit.interval)
  }

  /// Returns the decision that a request would get, without taking a token.
  public func look(at now: Duration) -> RateLimitDecision {
    let lacking = lacking(at: now)
    return decision(isAllowed: lacking + limit.interval <= capacity, lacking: lacking)
  }

  /// Returns whether the bucket equals a new one, so that it can be discarded.
  public func isFull(at now: Duration) -> Bool { lacking(at: now) == .zero }

  private var capacity: Duration { limit.interval * limit.burst }

  /// Returns the time until the bucket is full, at most the time to fill an empty one.
  private func lacking(at now: Duration) -> Duration {
    guard let fullAt else { return .zero }
    return min(max(fullAt - now, .zero), capacity)
  }

  private func decision(isAllowed: Bool, lacking: Duration) -> RateLimitDecision {
    RateLimitDecision(
      isAllowed: isAllowed, limit: limit.burst,
      remaining: Int((capacity - lacking).attoseconds / limit.interval.attoseconds), reset: lacking,
      retryAfter: max(.zero, lacking + limit.interval - capacity))
  }
}

extension Duration {
  var secondsRoundedUp: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
