// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An IPv4 or IPv6 address. An IPv4 address that is written as an IPv6 one (`::ffff:192.0.2.1`) is the IPv4 address.
public struct IPAddress: Sendable, Hashable {
  /// 4 or 16 of them.
  let bytes: [UInt8]

  /// - Parameter text: `192.0.2.1` or `2001:db8::1`, without a port, a zone or brackets.
  public init?(_ text: some StringProtocol) {
    let text = String(text)
    // The system reads up to a zero.
    guard !text.utf8.contains(0) else { return nil }
    var short = in_addr()
    if inet_pton(AF_INET, text, &short) == 1 {
      self.init(bytes: withUnsafeBytes(of: short) { Array($0) })
      return
    }
    var long = in6_addr()
    guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
    self.init(bytes: withUnsafeBytes(of: long) { Array($0) })
  }

  init(bytes: [UInt8]) {
    let isMapped = bytes.count == 16 && bytes.prefix(12) == Self.mappedStart
    self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
  }

  static let mappedStart = ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] as [UInt8])[...]

  /// What one caller has: an address of IPv4, or the network of 64 bits that a caller of IPv6 is given.
  public var block: IPAddress {
    bytes.count == 4 ? self : IPAddress(bytes: Array(bytes.prefix(8)) + Array(repeating: 0, count: 8))
  }

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

extension IPAddress: CustomStringConvertible {
  public var description: String {
    if bytes.count == 4 { return bytes.map { String($0) }.joined(separator: ".") }
    let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    // The longest run of zeros, of two at least, is left out (RFC 5952, section 4.2).
    var longest = 0..<0
    var start = 0
    while start < 8 {
      let end = groups[start...].firstIndex { $0 != 0 } ?? 8
      if end - start > max(1, longest.count) { longest = start..<end }
      start = max(end, start) + 1
    }
    func text(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
    guard !longest.isEmpty else { return text(groups[...]) }
    return text(groups[..<longest.lowerBound]) + "::" + text(groups[longest.upperBound...])
  }
}

extension Substring {
  fileprivate func trimming(_ letters: String) -> Substring {
    let start = drop { letters.contains($0) }
    guard let last = start.lastIndex(where: { !letters.contains($0) }) else { return "" }
    return start[...last]
  }
}
