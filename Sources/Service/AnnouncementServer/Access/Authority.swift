// SPDX-License-Identifier: Apache-2.0

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
