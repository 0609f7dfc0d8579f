// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostAddresses

/// The address of a speech server, and the protocol of the server. It comes only from the settings, never from a
/// request.
public enum SpeechServerAddress: Sendable, Hashable {
  /// The Wyoming protocol over TCP.
  case wyoming(host: String, port: Int)
  /// The Wyoming protocol over a Unix socket.
  case wyomingSocket(path: String)
  /// OpenAI's protocol over HTTP. The path is the path of the base URL, such as `/v1`, without a slash at its end.
  case openAI(host: String, port: Int, path: String, isEncrypted: Bool)

  /// The longest path of a Unix socket, in bytes (Linux, `unix(7)`: 108 with the NUL at the end).
  private static let longestSocketPath = 107

  /// Reads the setting `wyoming`: `tcp://HOST:PORT` or `unix:///PATH`.
  ///
  /// - Throws: `addressInvalid`.
  public init(wyoming text: String) throws(SpeechServerError) {
    let url = Self.parts(of: text)
    switch url?.scheme {
    case "tcp":
      guard let host = url?.host, !host.isEmpty, let port = url?.port, (1...65_535).contains(port), url?.path == ""
      else { throw Self.fault("wyoming", "tcp://HOST:PORT, such as tcp://127.0.0.1:10200") }
      self = .wyoming(host: Self.withoutBrackets(host), port: port)
    case "unix":
      guard url?.host?.isEmpty != false, let path = url?.path, path.hasPrefix("/"),
        path.utf8.count <= Self.longestSocketPath
      else { throw Self.fault("wyoming", "unix:///PATH, with a path of at most \(Self.longestSocketPath) bytes") }
      self = .wyomingSocket(path: path)
    default: throw Self.fault("wyoming", "tcp://HOST:PORT or unix:///PATH")
    }
  }

  /// Reads the setting `openai`: the base URL, such as `http://127.0.0.1:8880/v1`.
  ///
  /// - Throws: `addressInvalid`.
  public init(openAI text: String) throws(SpeechServerError) {
    guard let url = Self.parts(of: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
      let host = url.host, !host.isEmpty, url.port.map({ (1...65_535).contains($0) }) ?? true
    else { throw Self.fault("openai", "a base URL, such as http://127.0.0.1:8880/v1") }
    var path = url.percentEncodedPath
    while path.hasSuffix("/") { path.removeLast() }
    self = .openAI(
      host: Self.withoutBrackets(host), port: url.port ?? (scheme == "https" ? 443 : 80), path: path,
      isEncrypted: scheme == "https")
  }

  /// Returns the parts of an address; nil if it has a user, a query or a fragment, or if parsing changes it.
  private static func parts(of text: String) -> URLComponents? {
    guard let url = URLComponents(string: text), url.string == text, url.user == nil, url.password == nil,
      url.query == nil, url.fragment == nil
    else { return nil }
    return url
  }

  /// Returns a host without the brackets around an IPv6 address, which Foundation keeps.
  private static func withoutBrackets(_ host: String) -> String {
    host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }

  private static func fault(_ setting: String, _ rule: String) -> SpeechServerError {
    SpeechServerError(.addressInvalid, "has an address that cannot be used", remedy: "\(setting): give \(rule)")
  }

  /// Whether the server is on this machine: a Unix socket, `localhost`, or a loopback address. Data that is sent to
  /// such a server does not leave the machine.
  public var isLoopback: Bool {
    switch self {
    case .wyomingSocket: true
    case .wyoming(let host, _), .openAI(let host, _, _, _):
      Self.isLocalName(host) || (IPAddress(host)?.isLoopback ?? false)
    }
  }

  /// Whether a host is `localhost`, a name that always means this machine (RFC 6761, section 6.3).
  static func isLocalName(_ host: String) -> Bool { host.lowercased() == "localhost" }

  /// The address as it is written in the settings.
  public var text: String {
    switch self {
    case .wyoming(let host, let port): "tcp://\(Self.written(host)):\(port)"
    case .wyomingSocket(let path): "unix://\(path)"
    case .openAI(let host, let port, let path, let isEncrypted):
      "\(isEncrypted ? "https" : "http")://\(Self.written(host)):\(port)\(path)"
    }
  }

  /// Returns a host as it is written in a URL.
  static func written(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}

extension IPAddress {
  /// Whether the address is one of this machine (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3).
  var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
  }
}
