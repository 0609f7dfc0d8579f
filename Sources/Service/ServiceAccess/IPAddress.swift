// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An IPv4 or IPv6 address. An IPv4 address in IPv6 notation (`::ffff:192.0.2.1`) is treated as the IPv4 address.
public struct IPAddress: Sendable, Hashable {
  /// The address's bytes: 4 for IPv4, 16 for IPv6.
  public let bytes: [UInt8]

  /// Parses an address.
  ///
  /// - Parameter text: An address such as `192.0.2.1` or `2001:db8::1`, without a port, a zone or brackets.
  public init?(_ text: some StringProtocol) {
    let text = String(text)
    // The system function stops reading at a zero byte.
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

  /// The addresses that belong to one caller: a single IPv4 address, or the 64-bit network that an IPv6 caller is
  /// assigned.
  public var block: IPAddress {
    bytes.count == 4 ? self : IPAddress(bytes: Array(bytes.prefix(8)) + Array(repeating: 0, count: 8))
  }

  /// Returns the address of the client that sent a request: the peer of the connection, or the client that a trusted
  /// proxy names.
  ///
  /// - Parameters:
  ///   - peer: The address of the connection's peer; nil when it has no IP address.
  ///   - forwardedFor: The values of `X-Forwarded-For`. Each proxy appends the address of its own caller. Therefore,
  ///     the last address that is not a proxy's is true. A client may have made up the addresses before it.
  ///   - proxies: The addresses of the trusted proxies.
  /// - Returns: Nil when the client is unknown, for example behind a proxy that does not name it.
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

  /// Parses an address as proxies write it, which may have a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
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
    // The longest run of at least two zero groups is left out (RFC 5952, section 4.2).
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
