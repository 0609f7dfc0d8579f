// SPDX-License-Identifier: Apache-2.0

import Foundation

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
