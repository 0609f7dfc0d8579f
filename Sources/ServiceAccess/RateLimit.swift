// SPDX-License-Identifier: Apache-2.0

/// How many requests a key may send.
public struct RateLimit: Sendable, Hashable {
  /// Requests a second in the long run; 0.1 is one in ten seconds.
  public let rate: Double
  /// As many may come at once after a pause.
  public let burst: Int

  public static let rates = 0.001...1_000_000.0
  public static let bursts = 1...1_000_000

  /// - Parameter burst: nil for what comes within a second, and at least 1.
  /// - Throws: ``AccessError`` with `rateLimitInvalid` for a rate outside ``rates`` or a burst outside ``bursts``.
  public init(rate: Double, burst: Int? = nil) throws(AccessError) {
    guard Self.rates.contains(rate) else { throw AccessError(.rateLimitInvalid) }
    let burst = burst ?? max(1, Int(rate.rounded(.up)))
    guard Self.bursts.contains(burst) else { throw AccessError(.rateLimitInvalid) }
    self.rate = rate
    self.burst = burst
  }

  /// From one request to the next in the long run, in whole nanoseconds: at least 1,000 of them.
  var interval: Duration { .nanoseconds(Int64((1_000_000_000 / rate).rounded())) }
}

/// A token bucket: it holds ``RateLimit/burst`` tokens, each request takes one, and they come back at
/// ``RateLimit/rate``.
///
/// A pure value. Its time is of any clock that does not run backwards, as `ContinuousClock` since the service's start;
/// one that does is taken for a bucket that is empty at most.
public struct TokenBucket: Sendable, Hashable {
  /// What a request is told.
  public struct Answer: Sendable, Hashable {
    /// Whether the request may be done.
    public let isAllowed: Bool
    /// ``RateLimit/burst``.
    public let limit: Int
    /// As many more may come at this moment.
    public let remaining: Int
    /// Until the bucket is full again.
    public let reset: Duration
    /// Until one more may come; zero when it may at once.
    public let retryAfter: Duration

    /// The header fields for it: `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`
    /// (draft-ietf-httpapi-ratelimit-headers-06), and `Retry-After` (RFC 9110, section 10.2.3) when the request is
    /// refused. Times are whole seconds, rounded up: who waits so long is not refused for it.
    public var headerFields: [(name: String, value: String)] {
      let fields = [
        (name: "RateLimit-Limit", value: String(limit)), (name: "RateLimit-Remaining", value: String(remaining)),
        (name: "RateLimit-Reset", value: String(reset.secondsRoundedUp)),
      ]
      return isAllowed ? fields : fields + [(name: "Retry-After", value: String(max(1, retryAfter.secondsRoundedUp)))]
    }
  }

  public let limit: RateLimit
  /// When it is full again; nil when it never was used.
  private var fullAt: Duration?

  /// A full one.
  public init(_ limit: RateLimit) { self.limit = limit }

  /// Takes a token for a request, or refuses it; a refused one takes nothing.
  public mutating func take(at now: Duration) -> Answer {
    let lacking = lacking(at: now)
    let isAllowed = lacking + limit.interval <= capacity
    if isAllowed { fullAt = now + lacking + limit.interval }
    return answer(isAllowed: isAllowed, lacking: isAllowed ? lacking + limit.interval : lacking)
  }

  /// Puts back the token of a request that turned out to be nobody's.
  public mutating func giveBack(at now: Duration) {
    fullAt = now + max(.zero, lacking(at: now) - limit.interval)
  }

  /// What a request would find, without taking anything.
  public func look(at now: Duration) -> Answer {
    let lacking = lacking(at: now)
    return answer(isAllowed: lacking + limit.interval <= capacity, lacking: lacking)
  }

  /// Whether it is as good as a new one, so that it may be forgotten.
  public func isFull(at now: Duration) -> Bool { lacking(at: now) == .zero }

  private var capacity: Duration { limit.interval * limit.burst }

  /// The time until it is full, never longer than it takes to fill an empty one.
  private func lacking(at now: Duration) -> Duration {
    guard let fullAt else { return .zero }
    return min(max(fullAt - now, .zero), capacity)
  }

  private func answer(isAllowed: Bool, lacking: Duration) -> Answer {
    Answer(
      isAllowed: isAllowed, limit: limit.burst,
      remaining: Int((capacity - lacking).attoseconds / limit.interval.attoseconds), reset: lacking,
      retryAfter: max(.zero, lacking + limit.interval - capacity))
  }
}

extension Duration {
  var secondsRoundedUp: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
