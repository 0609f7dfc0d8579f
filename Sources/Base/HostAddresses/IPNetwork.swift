// SPDX-License-Identifier: Apache-2.0

/// A network of addresses with a common prefix: `192.0.2.0/24`, `2001:db8::/32`, or a single address.
public struct IPNetwork: Sendable, Hashable {
  public let address: IPAddress
  /// The number of bits in the prefix.
  public let prefixLength: Int

  /// The reason why a text is not a network.
  public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable, CaseIterable {
      case notAnAddress = "not_an_address"
      case prefixOutOfRange = "prefix_out_of_range"
      /// The address has bits set after the prefix.
      case addressInsideNetwork = "address_inside_network"
    }

    public let code: Code
    /// The error's text: what is wrong with the argument, and what to give instead. The text has no subject, because it
    /// follows the argument's name in a message.
    public let description: String
  }

  /// Parses a network.
  ///
  /// - Parameter text: An address, followed by `/` and the number of bits in the prefix. For a single address, the
  ///   slash and the number may be left out.
  /// - Parameter masksAddress: Whether bits after the prefix are ignored, as in systemd. If false, they are an error.
  /// - Throws: ``Fault``. The error does not contain the text.
  public init(_ text: String, masksAddress: Bool = false) throws(Fault) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let address = IPAddress(parts[0]) else {
      throw Fault(
        code: .notAnAddress,
        description: "is not an address or network: give one such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32")
    }
    let bits = address.bytes.count * 8
    // In IPv6 notation, the prefix of an IPv4 address includes the 96 bits before the address.
    let isMapped = bits == 32 && parts[0].contains(":")
    let largest = isMapped ? 128 : bits
    let written = parts.count == 2 ? Self.number(parts[1]) : largest
    guard let written, (isMapped ? 96 : 0)...largest ~= written else {
      throw Fault(
        code: .prefixOutOfRange,
        description: "has an invalid prefix: give /\(isMapped ? 96 : 0) to /\(largest), or none")
    }
    prefixLength = written - (largest - bits)
    self.address = IPAddress(bytes: Self.masked(address.bytes, prefixLength))
    guard masksAddress || self.address == address else {
      throw Fault(
        code: .addressInsideNetwork,
        description: "has bits set after the prefix: give \(self), or the address without /\(written)")
    }
  }

  public func contains(_ other: IPAddress) -> Bool {
    other.bytes.count == address.bytes.count && Self.masked(other.bytes, prefixLength) == address.bytes
  }

  /// Returns whether this network contains all addresses of another network.
  public func contains(_ other: IPNetwork) -> Bool { other.prefixLength >= prefixLength && contains(other.address) }

  private static func number(_ text: String) -> Int? {
    guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let kept = min(max(length - index * 8, 0), 8)
      return byte & ~(0xFF >> UInt8(kept))
    }
  }
}

extension IPNetwork: CustomStringConvertible {
  /// The network as text; a single address has no prefix.
  public var description: String {
    prefixLength == address.bytes.count * 8 ? "\(address)" : "\(address)/\(prefixLength)"
  }
}
