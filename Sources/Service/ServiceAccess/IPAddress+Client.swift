// SPDX-License-Identifier: Apache-2.0

public import HostAddresses

extension IPAddress {
  /// Returns the address of the client that sent a request: the peer of the connection, or the client that a trusted
  /// proxy names.
  ///
  /// - Parameters:
  ///   - peer: The address of the connection's peer; nil when it has no IP address.
  ///   - forwardedFor: The values of `X-Forwarded-For`. Each proxy appends the address of its own caller. Therefore,
  ///     the last address that is not a proxy's is genuine. The client may have invented the addresses before it.
  ///   - proxies: The addresses of the trusted proxies.
  /// - Returns: Nil when the client is unknown, for example behind a proxy that does not name it.
  public static func client(peer: IPAddress?, forwardedFor: [String], proxies: Set<IPAddress>) -> IPAddress? {
    guard let peer else { return nil }
    guard proxies.contains(peer) else { return peer }
    let hops = forwardedFor.flatMap { $0.split(separator: ",") }
    for hop in hops.reversed() {
      guard let address = IPAddress(hop: hop.trimming(" \t")) else { return nil }
      if !proxies.contains(address) { return address }
    }
    return nil
  }

  /// Parses an address as proxies write it, which may have a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  private init?(hop: Substring) {
    if hop.hasPrefix("["), let end = hop.firstIndex(of: "]") {
      self.init(hop[hop.index(after: hop.startIndex)..<end])
    } else if hop.count(where: { $0 == ":" }) == 1 {
      self.init(hop.prefix { $0 != ":" })
    } else {
      self.init(hop)
    }
  }
}

extension Substring {
  fileprivate func trimming(_ letters: String) -> Substring {
    let start = drop { letters.contains($0) }
    guard let last = start.lastIndex(where: { !letters.contains($0) }) else { return "" }
    return start[...last]
  }
}
