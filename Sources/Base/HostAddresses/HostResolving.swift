// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A source of a host's addresses.
public protocol HostResolving: Sendable {
  /// Returns all addresses of a host; an empty array if no address is known.
  ///
  /// - Parameter host: A name, or an address as in a URL, without brackets.
  func addresses(of host: String) async -> [IPAddress]
}

/// The system's own way to find a host's addresses: `getaddrinfo(3)`.
///
/// It accepts all forms of an IPv4 address that a connection would accept, such as `127.1` and `2130706433`.
public struct SystemHostResolver: HostResolving {
  public init() {}

  public func addresses(of host: String) async -> [IPAddress] {
    await onWaitingThread(of: .nameServers) { Self.lookUp(host) }
  }

  private static func lookUp(_ host: String) -> [IPAddress] {
    BlockingWatchdog.check()
    return IPAddress.all(of: host)
  }
}

extension IPAddress {
  /// Reads an address in any form that a connection would accept, such as `127.1`. The result is nil if the text is a
  /// name; names are not looked up.
  public init?(anyNotation text: String) {
    guard let address = Self.all(of: text, isLiteral: true).first else { return nil }
    self = address
  }

  /// Returns the addresses that the system finds for a host.
  ///
  /// - Parameter isLiteral: Whether the host must be an address. If so, no name is looked up.
  fileprivate static func all(of host: String, isLiteral: Bool = false) -> [IPAddress] {
    // The system would look up the part before the zero byte, which is another host.
    guard !host.utf8.contains(0) else { return [] }
    var literal = unsafe addrinfo()
    unsafe literal.ai_flags = AI_NUMERICHOST
    var list: UnsafeMutablePointer<addrinfo>?
    // Safe: the system allocates the list, which is freed after its addresses are copied.
    let status = unsafe isLiteral ? getaddrinfo(host, nil, &literal, &list) : getaddrinfo(host, nil, nil, &list)
    guard status == 0 else { return [] }
    defer { unsafe freeaddrinfo(list) }
    var found: [IPAddress] = []
    var next = unsafe list
    while let entry = unsafe next?.pointee {
      if let address = unsafe IPAddress(entry), !found.contains(address) { found.append(address) }
      unsafe next = entry.ai_next
    }
    return found
  }

  /// Copies the address of an entry; nil if it belongs to another address family.
  fileprivate init?(_ entry: addrinfo) {
    guard let address = unsafe entry.ai_addr else { return nil }
    // Safe: the family says which structure is behind the pointer.
    switch unsafe entry.ai_family {
    case AF_INET:
      let bytes = unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { unsafe $0.pointee.sin_addr }
      self.init(bytes: unsafe withUnsafeBytes(of: bytes) { unsafe Array($0) })
    case AF_INET6:
      let bytes = unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { unsafe $0.pointee.sin6_addr }
      self.init(bytes: unsafe withUnsafeBytes(of: bytes) { unsafe Array($0) })
    default: return nil
    }
  }
}
