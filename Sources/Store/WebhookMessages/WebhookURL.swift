// SPDX-License-Identifier: Apache-2.0

public import Foundation
import HostAddresses

/// The checked URL of an endpoint. If its host is a name, the host's addresses are not checked. The path and the query
/// may be secret, so never log the URL.
public struct WebhookURL: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of the text, in bytes.
  public static let longest = 2_000

  public let text: String
  public let url: URL
  /// The host as a resolver takes it: a name, or an address without brackets.
  public let host: String

  /// Reads a URL. Any port from 1 to 65535 is allowed.
  ///
  /// - Parameter allowsPrivateAddresses: Whether private addresses and `http` are allowed.
  /// - Throws: ``WebhookError`` with `urlInvalid`, `addressPrivate`, `notEncrypted`, `credentialsInURL` or
  ///   `fragmentInURL`.
  public init(_ text: String, allowsPrivateAddresses: Bool = false) throws(WebhookError) {
    // Foundation repairs some malformed URLs, so the text must equal the parsed URL.
    guard (1...Self.longest).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let url = URL(string: text), url.absoluteString == text, let scheme = url.scheme?.lowercased(),
      scheme == "https" || scheme == "http", let host = url.host(percentEncoded: true),
      url.port.map({ (1...65_535).contains($0) }) ?? true
    else { throw WebhookError(.urlInvalid) }
    guard url.user == nil, url.password == nil, !Self.authority(of: text).contains("@") else {
      throw WebhookError(.credentialsInURL)
    }
    guard url.fragment == nil, !text.contains("#") else { throw WebhookError(.fragmentInURL) }
    let plain = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    guard Self.isHost(plain) else { throw WebhookError(.urlInvalid) }
    guard allowsPrivateAddresses || !Self.isPrivate(plain) else { throw WebhookError(.addressPrivate) }
    guard scheme == "https" || allowsPrivateAddresses else { throw WebhookError(.notEncrypted) }
    self.text = text
    self.url = url
    self.host = plain
  }

  public var description: String { "WebhookURL" }

  public var isEncrypted: Bool { url.scheme?.lowercased() == "https" }

  private static func authority(of text: String) -> Substring {
    guard let start = text.firstRange(of: "//")?.upperBound else { return "" }
    return text[start...].prefix { !"/?#".contains($0) }
  }

  /// Whether a host is a private address, or a name that always means this machine (RFC 6761, section 6.3).
  private static func isPrivate(_ host: String) -> Bool {
    let name = "." + (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    return name.hasSuffix(".localhost") || IPAddress(anyNotation: host)?.isPrivate == true
  }

  /// Whether the host contains only letters, digits and the punctuation of names and addresses. A percent-encoded host,
  /// or one with a zone, could be understood as another host by another program.
  private static func isHost(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: ":"):
          true
        default: false
        }
      }
  }
}
