// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// A host with or without a port, as `Host` has it (RFC 9110, section 7.2): of letters that have no other meaning in a URL.
struct Authority: Sendable, Hashable {
  /// As it was sent; an IPv6 address in its brackets.
  let host: String
  let port: Int?

  /// - Returns: nil for an empty text, and for one that is no host: with a user, a path, or a port that is none.
  init?(_ text: String) {
    guard (1...255).contains(text.utf8.count) else { return nil }
    let isBracketed = text.utf8.first == UInt8(ascii: "[")
    let end = isBracketed ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":") ?? text.endIndex
    guard let end else { return nil }
    host = String(text[..<end])
    if isBracketed {
      guard Self.isAddress(host) else { return nil }
    } else {
      guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfName) else { return nil }
    }
    guard end < text.endIndex else {
      port = nil
      return
    }
    let digits = text[text.index(after: end)...]
    guard text[end] == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    port = Int(digits)
    // A port may be left out behind its colon (RFC 3986, section 3.2.3).
    guard digits.isEmpty || UInt16(digits) != nil else { return nil }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// Whether a host is an address and no name; an IPv6 address is in brackets or not.
  static func isAddress(_ host: String) -> Bool {
    (try? SocketAddress(ipAddress: HostNames.plain(host), port: 0)) != nil
  }
}

/// What the service may be called by whoever opens its console or reads its metrics.
///
/// A page of another site can have its own name resolve to the service's address (DNS rebinding): to the browser that page
/// and the console are then one site. What it cannot do is send another `Host` than its own name.
struct HostNames: Sendable {
  private let names: Set<String>
  /// A service that listens on all addresses of the machine does not know them; an address is no name that could be made
  /// to resolve to another.
  private let takesAddresses: Bool

  /// - Parameters:
  ///   - host: on which the service listens.
  ///   - publicURL: what the world calls the service.
  ///   - others: further names and addresses, without ports.
  init(host: String, publicURL: String?, others: [String]) {
    let known = [host, publicURL.flatMap { URL(string: $0)?.host() }, "localhost", "127.0.0.1", "::1"]
    names = Set((known.compactMap(\.self) + others).map(Self.plain))
    takesAddresses = ["0.0.0.0", "::"].contains(Self.plain(host))
  }

  /// - Parameter authority: as it was sent; its port does not matter.
  func contain(_ authority: Authority) -> Bool {
    let host = Self.plain(authority.host)
    return names.contains(host) || (takesAddresses && Authority.isAddress(host))
  }

  /// In lower case and without brackets.
  static func plain(_ host: String) -> String {
    let host = host.lowercased()
    return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }
}
