// SPDX-License-Identifier: Apache-2.0

/// The decision of a ``TokenBucket`` on a request.
public struct RateLimitDecision: Sendable, Hashable {
  /// Whether the request is allowed.
  public let isAllowed: Bool
  /// The size of the bucket; see ``RateLimit/burst``.
  public let limit: Int
  /// The number of further requests that may come at this moment.
  public let remaining: Int
  /// The time until the bucket is full again.
  public let reset: Duration
  /// The time until one more request may come; zero when it may come now.
  public let retryAfter: Duration

  /// The header fields for the response: `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`
  /// (draft-ietf-httpapi-ratelimit-headers-06), and `Retry-After` (RFC 9110, section 10.2.3) when the request is
  /// refused. Times are in whole seconds, rounded up, so that a client that waits that long is not refused again.
  public var headerFields: [(name: String, value: String)] {
    let fields = [
      (name: "RateLimit-Limit", value: String(limit)), (name: "RateLimit-Remaining", value: String(remaining)),
      (name: "RateLimit-Reset", value: String(reset.secondsRoundedUp)),
    ]
    return isAllowed ? fields : fields + [(name: "Retry-After", value: String(max(1, retryAfter.secondsRoundedUp)))]
  }
}
