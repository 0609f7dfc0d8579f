// SPDX-License-Identifier: Apache-2.0

public import HostAddresses

/// A limit on how often each address may be refused for lack of a valid key.
///
/// A pure value of bounded size; the caller passes the time. Requests with a valid key do not count.
public struct FailureLimits: Sendable {
  private let limit: RateLimit
  private let capacity: Int
  /// The buckets of addresses that failed recently. When this table is full, it replaces `older`.
  private var recent: [IPAddress: TokenBucket] = [:]
  /// The buckets of addresses that failed earlier. An address that leaves both tables is forgotten. Its bucket was
  /// nearly full by then.
  private var older: [IPAddress: TokenBucket] = [:]

  /// Creates the limits.
  ///
  /// - Parameters:
  ///   - limit: The rate of failures that an address may have.
  ///   - capacity: The size of each of the two tables. At most twice as many addresses are remembered.
  public init(_ limit: RateLimit, capacity: Int = 4_096) {
    // Not from outside: the service uses the default.
    precondition(capacity > 0, "The capacity must be at least 1.")
    self.limit = limit
    self.capacity = capacity
  }

  /// The number of addresses that are remembered.
  public var count: Int { recent.count + older.count }

  /// Returns the answer that another failure of an address would get, without counting one.
  public func look(_ address: IPAddress, at now: Duration) -> RateLimitDecision {
    let block = address.block
    return (recent[block] ?? older[block] ?? TokenBucket(limit)).look(at: now)
  }

  /// Counts a failure of an address. Addresses in the same ``IPAddress/block`` share one limit.
  public mutating func take(_ address: IPAddress, at now: Duration) -> RateLimitDecision {
    let block = address.block
    var bucket = recent[block] ?? older.removeValue(forKey: block) ?? TokenBucket(limit)
    let answer = bucket.take(at: now)
    if recent[block] == nil, recent.count >= capacity {
      older = recent
      recent = [:]
    }
    recent[block] = bucket
    return answer
  }
}
