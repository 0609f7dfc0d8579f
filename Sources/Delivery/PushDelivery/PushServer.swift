// SPDX-License-Identifier: Apache-2.0

public import Foundation
import NIOSSL

/// A server that speaks the protocol of APNs.
public struct PushServer: Sendable, Hashable {
  /// The name or the address of the host.
  public var host: String
  public var port: Int
  /// The certificates that sign the server's certificate, in PEM; nil for the certificates that the system trusts.
  public var trustRoots: URL?

  public init(host: String, port: Int = 443, trustRoots: URL? = nil) {
    self.host = host
    self.port = port
    self.trustRoots = trustRoots
  }

  /// Reads a server from a URL: `https://HOST` or `https://HOST:PORT`.
  ///
  /// - Returns: nil if the text is not such a URL.
  public init?(url text: String, trustRoots: URL? = nil) {
    guard let url = URLComponents(string: text), url.scheme?.lowercased() == "https", let host = url.host,
      !host.isEmpty, url.user == nil, url.password == nil, url.query == nil, url.fragment == nil,
      url.path.isEmpty || url.path == "/", (1...65_535).contains(url.port ?? 443)
    else { return nil }
    // URLComponents keeps the brackets of an IPv6 address.
    let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    self.init(host: name, port: url.port ?? 443, trustRoots: trustRoots)
  }

  /// The host and the port, as in logs and errors.
  public var name: String { "\(host):\(port)" }

  /// The value of the pseudo-header field `:authority`. An IPv6 address is in brackets.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }

  func tlsContext() throws(PushTransportError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.applicationProtocols = ["h2"]
    configuration.minimumTLSVersion = .tlsv12
    do {
      if let trustRoots {
        configuration.trustRoots = .certificates(
          try NIOSSLCertificate.fromPEMFile(trustRoots.path(percentEncoded: false)))
      }
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw PushTransportError(.trustRootsUnusable, server: self)
    }
  }
}
