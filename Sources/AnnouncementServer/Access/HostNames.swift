// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// A host with an optional port, as in the field `Host` (RFC 9110, section 7.2). The host contains only characters that
/// have no other meaning in a URL.
struct Authority: Sendable, Hashable {
  /// The host as it was sent; an IPv6 address includes its brackets.
  let host: String
  let port: Int?

  /// - Returns: nil if the text is empty, longer than 255 bytes or not a host, for example because it contains a user
  ///   or a path, or because its port is invalid.
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
    // The port after the colon may be empty (RFC 3986, section 3.2.3).
    guard digits.isEmpty || UInt16(digits) != nil else { return nil }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// Returns whether a host is an IP address, not a name. An IPv6 address may have brackets or not.
  static func isAddress(_ host: String) -> Bool {
    (try? SocketAddress(ipAddress: HostNames.plain(host), port: 0)) != nil
  }
}

/// The names and addresses that a client may use in `Host` to open the console or read the metrics.
///
/// With DNS rebinding, a page of another site makes its own name resolve to the service's address. The browser then
/// treats that page and the console as the same site. However, the page can only send its own name as `Host`.
struct HostNames: Sendable {
  private let names: Set<String>
  /// Whether every IP address is accepted as `Host`. A service that listens on all addresses of the machine does not
  /// know these addresses. Accepting them is safe, because DNS rebinding needs a name.
  private let takesAddresses: Bool

  /// - Parameters:
  ///   - host: The host on which the service listens.
  ///   - publicURL: The public URL of the service.
  ///   - others: Further names and addresses, without ports.
  init(host: String, publicURL: String?, others: [String]) {
    let known = [host, publicURL.flatMap { URL(string: $0)?.host() }, "localhost", "127.0.0.1", "::1"]
    names = Set((known.compactMap(\.self) + others).map(Self.plain))
    takesAddresses = ["0.0.0.0", "::"].contains(Self.plain(host))
  }

  /// Returns whether the service may be called by an authority.
  ///
  /// - Parameter authority: The authority as it was sent. Its port does not matter.
  func contain(_ authority: Authority) -> Bool {
    let host = Self.plain(authority.host)
    return names.contains(host) || (takesAddresses && Authority.isAddress(host))
  }

  /// Returns a host in lower case and without brackets.
  static func plain(_ host: String) -> String {
    let host = host.lowercased()
    return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }
}
