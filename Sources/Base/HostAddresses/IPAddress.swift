// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An IPv4 or IPv6 address. An IPv4 address in IPv6 notation (`::ffff:192.0.2.1`) counts as the IPv4 address.
public struct IPAddress: Sendable, Hashable {
  /// The address's bytes in network order: 4 for IPv4, 16 for IPv6.
  public let bytes: [UInt8]

  /// - Precondition: There are 4 or 16 bytes.
  public init(bytes: [UInt8]) {
    // Not from outside: the callers pass parts of an address, or a structure of the system with 4 or 16 bytes.
    precondition(bytes.count == 4 || bytes.count == 16, "An address has 4 or 16 bytes.")
    let isMapped = bytes.count == 16 && bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
  }

  /// Parses an address.
  ///
  /// - Parameter text: An address such as `192.0.2.1` or `2001:db8::1`, without a port, a zone or brackets.
  public init?(_ text: some StringProtocol) {
    let text = String(text)
    // The system function stops reading at a zero byte.
    guard !text.utf8.contains(0) else { return nil }
    var short = in_addr()
    var long = in6_addr()
    // Safe: the system writes only to a local structure of this family, which is then copied.
    if unsafe inet_pton(AF_INET, text, &short) == 1 {
      self.init(bytes: unsafe withUnsafeBytes(of: short) { unsafe Array($0) })
    } else if unsafe inet_pton(AF_INET6, text, &long) == 1 {
      self.init(bytes: unsafe withUnsafeBytes(of: long) { unsafe Array($0) })
    } else {
      return nil
    }
  }

  /// The addresses that belong to one caller: a single IPv4 address, or the /64 network that an IPv6 caller is
  /// assigned.
  public var block: IPAddress {
    bytes.count == 4 ? self : IPAddress(bytes: Array(bytes.prefix(8)) + Array(repeating: 0, count: 8))
  }

  /// Whether the address does not belong to the public internet: loopback, link-local, private, unique-local, shared
  /// (100.64.0.0/10), multicast, documentation, reserved and unspecified addresses.
  ///
  /// The rule follows IANA's registries of special-purpose addresses. In IPv6, only the global unicast addresses
  /// (2000::/3) are public. An IPv6 address that contains an IPv4 address is private if the IPv4 address is private.
  public var isPrivate: Bool {
    if bytes.count == 4 { return Self.privateIPv4.contains { $0.contains(self) } }
    if let inner = containedIPv4 { return inner.isPrivate }
    return !Self.globalIPv6.contains { $0.contains(self) } || Self.privateIPv6.contains { $0.contains(self) }
  }

  /// Whether the address is in 198.18.0.0/15. VPN apps such as Clash and Surge give every name an address in this
  /// network, and connect to the real host themselves. No host of the internet has such an address (RFC 2544).
  public var isStandIn: Bool { Self.standIn.contains { $0.contains(self) } }

  /// Whether the address is in 100.64.0.0/10, which providers share between customers (RFC 6598). Tailscale also gives
  /// each device an address in this network.
  public var isShared: Bool { Self.shared.contains { $0.contains(self) } }

  /// The IPv4 address that an IPv6 address contains; nil if it contains none. Such addresses belong to NAT64
  /// (`64:ff9b::/96`), which mobile networks use for every IPv4 host, or to 6to4 (`2002::/16`).
  private var containedIPv4: IPAddress? {
    if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
      return IPAddress(bytes: Array(bytes[12...]))
    }
    return bytes.starts(with: [0x20, 0x02]) ? IPAddress(bytes: Array(bytes[2..<6])) : nil
  }

  private static let standIn = networks("198.18.0.0/15")
  private static let shared = networks("100.64.0.0/10")
  private static let globalIPv6 = networks("2000::/3")

  private static let privateIPv4 = networks(
    "0.0.0.0/8",  // this network
    "10.0.0.0/8",
    "100.64.0.0/10",  // shared by the customers of a provider
    "127.0.0.0/8",  // loopback
    "169.254.0.0/16",  // link-local; clouds serve their machines' credentials here
    "172.16.0.0/12",
    "192.0.0.0/24",  // protocol assignments
    "192.0.2.0/24",  // documentation
    "192.88.99.0/24",  // former 6to4 relays
    "192.168.0.0/16",
    "198.18.0.0/15",  // measurements
    "198.51.100.0/24",  // documentation
    "203.0.113.0/24",  // documentation
    "224.0.0.0/3")  // multicast, reserved and broadcast

  private static let privateIPv6 = networks(
    "2001::/23",  // protocol assignments, Teredo among them
    "2001:db8::/32",  // documentation
    "3fff::/20")  // documentation

  /// Parses networks. An invalid text would be left out, so the tests check an address of each network.
  private static func networks(_ texts: String...) -> [IPNetwork] { texts.compactMap { try? IPNetwork($0) } }
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
