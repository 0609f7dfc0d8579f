// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address of a host, and the rule that says whether it is private.
public struct HostAddress: Sendable, Hashable {
  /// The address's bytes in network order: 4 for IPv4, 16 for IPv6.
  public let bytes: [UInt8]

  /// - Precondition: There are 4 or 16 bytes.
  public init(bytes: [UInt8]) {
    // Not from outside: the callers pass parts of an address, or a structure of the system with 4 or 16 bytes.
    precondition(bytes.count == 4 || bytes.count == 16, "An address has 4 or 16 bytes.")
    self.bytes = bytes
  }

  /// The address as text: `192.0.2.1`, or the eight groups of an IPv6 address without shortening.
  public var text: String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    return stride(from: 0, to: 16, by: 2).map { index in
      String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
    }.joined(separator: ":")
  }

  /// Whether the address is not one of the public internet: loopback, link-local, private, unique-local, shared
  /// (100.64.0.0/10), multicast, documentation, reserved and unspecified addresses.
  ///
  /// The rule follows IANA's registries of special-purpose addresses. Of IPv6, only the global unicast addresses
  /// (2000::/3) are public. An IPv6 address that contains an IPv4 address is as private as that one.
  public var isPrivate: Bool {
    if bytes.count == 4 { return Self.privateIPv4.contains { $0.contains(bytes) } }
    if let inner = containedIPv4 { return inner.isPrivate }
    return !Self.globalIPv6.contains(bytes) || Self.privateIPv6.contains { $0.contains(bytes) }
  }

  /// The IPv4 address that an IPv6 address contains: mapped (`::ffff:192.0.2.1`), through NAT64 (`64:ff9b::/96`), which
  /// mobile networks use for every IPv4 host, or through 6to4 (`2002::/16`).
  private var containedIPv4: HostAddress? {
    if Self.mapped.contains(bytes) || Self.translated.contains(bytes) { return HostAddress(bytes: Array(bytes[12...])) }
    if Self.sixToFour.contains(bytes) { return HostAddress(bytes: Array(bytes[2..<6])) }
    return nil
  }

  /// A network: the addresses that begin with the same bits.
  private struct Network {
    var start: [UInt8]
    var length: Int

    init(_ start: [UInt8], _ length: Int) {
      self.start = start
      self.length = length
    }

    func contains(_ bytes: [UInt8]) -> Bool {
      (0..<length).allSatisfy { bit in
        let mask: UInt8 = 0x80 >> UInt8(bit % 8)
        let expected = bit / 8 < start.count ? start[bit / 8] : 0
        return bytes[bit / 8] & mask == expected & mask
      }
    }
  }

  private static let mapped = Network([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96)
  private static let translated = Network([0x00, 0x64, 0xFF, 0x9B], 96)
  private static let sixToFour = Network([0x20, 0x02], 16)
  private static let globalIPv6 = Network([0x20], 3)

  private static let privateIPv4 = [
    Network([0], 8),  // this network
    Network([10], 8),
    Network([100, 64], 10),  // shared by the customers of a provider
    Network([127], 8),  // loopback
    Network([169, 254], 16),  // link-local; clouds serve their machines' credentials here
    Network([172, 16], 12),
    Network([192, 0, 0], 24),  // protocol assignments
    Network([192, 0, 2], 24),  // documentation
    Network([192, 88, 99], 24),  // former 6to4 relays
    Network([192, 168], 16),
    Network([198, 18], 15),  // measurements
    Network([198, 51, 100], 24),  // documentation
    Network([203, 0, 113], 24),  // documentation
    Network([224], 3),  // multicast, reserved and broadcast
  ]

  private static let privateIPv6 = [
    Network([0x20, 0x01, 0x00], 23),  // protocol assignments, Teredo among them
    Network([0x20, 0x01, 0x0D, 0xB8], 32),  // documentation
    Network([0x3F, 0xFF, 0x00], 20),  // documentation
  ]
}
