// SPDX-License-Identifier: Apache-2.0

/// How often each address may be refused for want of a good key.
///
/// A pure value of bounded size, with the time passed in. Whoever has a good key takes nothing.
public struct FailureLimits: Sendable {
  private let limit: RateLimit
  private let capacity: Int
  /// Those that failed lately, and those of before: what failed in neither is forgotten, and its bucket was nearly full.
  private var recent: [IPAddress: TokenBucket] = [:]
  private var older: [IPAddress: TokenBucket] = [:]

  /// - Parameter capacity: twice as many addresses are remembered at most.
  public init(_ limit: RateLimit, capacity: Int = 4_096) {
    precondition(capacity > 0, "A table without room limits nobody.")
    self.limit = limit
    self.capacity = capacity
  }

  /// Addresses that are remembered.
  public var count: Int { recent.count + older.count }

  /// What another failure of an address would find, without taking anything.
  public func look(_ address: IPAddress, at now: Duration) -> TokenBucket.Answer {
    let block = address.block
    return (recent[block] ?? older[block] ?? TokenBucket(limit)).look(at: now)
  }

  /// Takes a failure from what an address may have. Addresses of one ``IPAddress/block`` share it.
  public mutating func take(_ address: IPAddress, at now: Duration) -> TokenBucket.Answer {
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
