// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An address of IPv4 or IPv6. One of IPv4 is the same in both of its writings, `192.0.2.1` and `::ffff:192.0.2.1`.
public struct IPAddress: Sendable, Hashable {
  private var high: UInt64
  private var low: UInt64

  /// - Parameter text: without a port, a zone or brackets; nil for what is no address.
  public init?(_ text: some StringProtocol) {
    let text = String(text)
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      (high, low) = (0, 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: four.s_addr)))
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: &six) { Array($0) }
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// What one caller has: an address of IPv4, or the network of 64 bits that a caller of IPv6 is given.
  public var block: IPAddress {
    var block = self
    if !isVersion4 { block.low = 0 }
    return block
  }

  private var isVersion4: Bool { high == 0 && low >> 32 == 0xFFFF }

  /// Whose request it is: the other side of the connection, or whom a proxy names that is known.
  ///
  /// - Parameters:
  ///   - peer: the other side of the connection; nil where it has no such address.
  ///   - forwardedFor: the values of `X-Forwarded-For`. Each proxy puts the address of its own caller behind the others, so
  ///     that the last one that is no proxy's is true, and what stands before it is what a caller made up.
  ///   - proxies: who is believed.
  /// - Returns: nil where that is not known, as behind a proxy that does not say it.
  public static func client(peer: IPAddress?, forwardedFor: [String], proxies: Set<IPAddress>) -> IPAddress? {
    guard let peer else { return nil }
    guard proxies.contains(peer) else { return peer }
    let hops = forwardedFor.flatMap { $0.split(separator: ",") }
    for hop in hops.reversed() {
      guard let address = IPAddress(hop: hop.trimming(" \t")) else { return nil }
      if !proxies.contains(address) { return address }
    }
    return nil
  }

  /// An address as proxies write it, which may have a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  private init?(hop: Substring) {
    if hop.hasPrefix("["), let end = hop.firstIndex(of: "]") {
      self.init(hop[hop.index(after: hop.startIndex)..<end])
    } else if hop.count(where: { $0 == ":" }) == 1 {
      self.init(hop.prefix { $0 != ":" })
    } else {
      self.init(hop)
    }
  }
}

extension Substring {
  fileprivate func trimming(_ letters: String) -> Substring {
    let start = drop { letters.contains($0) }
    guard let last = start.lastIndex(where: { !letters.contains($0) }) else { return "" }
    return start[...last]
  }
}

/// How often each address may be refused for want of a good key.
///
/// A pure value of bounded size, with the time passed in. Whoever has a good key is never asked here.
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
