// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import HostAddresses
import SoundLibrary

/// The limits of a download.
public struct DownloadRules: Sendable, Hashable {
  /// Whether `http:` URLs are allowed; false by default. A redirect from `https` to `http` is never followed.
  public var allowsUnencrypted: Bool

  /// Whether a host may have a private address, such as 127.0.0.1 or 192.168.1.2; false by default. See
  /// ``IPAddress/isPrivate``.
  public var allowsPrivateAddresses: Bool

  /// The name of the shop's own service; nil by default. With `https`, its address may also be in 100.64.0.0/10, the
  /// range that Tailscale networks use.
  public var serviceHost: String?

  /// The longest time for a download with all of its redirects and attempts; 20 s by default. iOS gives a notification
  /// service extension about 30 s for all its work.
  public var longest: Duration

  /// The maximum size of a sound in bytes, from 1 to `SoundLibrary.maximumClipBytes`. The default is 6 MiB, which is
  /// enough for 30 s of 16-bit stereo at 48 kHz. A download holds this many bytes in memory; a notification service
  /// extension has about 24 MB in total.
  public private(set) var mostBytes: Int

  /// The maximum number of redirects of one attempt; 5 by default.
  public var mostRedirects: Int

  /// The maximum number of attempts if connections break; 3 by default.
  public var mostAttempts: Int

  /// - Parameter mostBytes: The value of ``mostBytes``. A value outside its range is replaced by the nearest limit.
  public init(
    allowsUnencrypted: Bool = false, allowsPrivateAddresses: Bool = false, serviceHost: String? = nil,
    longest: Duration = .seconds(20), mostBytes: Int = 6 << 20, mostRedirects: Int = 5, mostAttempts: Int = 3
  ) {
    self.allowsUnencrypted = allowsUnencrypted
    self.allowsPrivateAddresses = allowsPrivateAddresses
    self.serviceHost = serviceHost
    self.longest = longest
    self.mostBytes = min(max(mostBytes, 1), SoundLibrary.maximumClipBytes)
    self.mostRedirects = mostRedirects
    self.mostAttempts = mostAttempts
  }

  /// Returns the rules with a size limit of at most this number of bytes; unchanged if the number is nil.
  func limited(to bytes: Int?) -> DownloadRules {
    var rules = self
    if let bytes, bytes < mostBytes { rules.mostBytes = max(bytes, 1) }
    return rules
  }

  /// Checks a URL: its scheme, host and port, and that it contains no password. The host's addresses are not checked.
  ///
  /// - Throws: ``DownloadError``.
  public func check(_ url: URL) throws(DownloadError) {
    let host = url.shownHost
    guard let host, let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http",
      url.hasUsableHost, url.hasUsablePort
    else { throw DownloadError(.invalidURL, host: host) }
    guard url.user == nil, url.password == nil else { throw DownloadError(.credentialsInURL, host: host) }
    guard scheme == "https" || allowsUnencrypted else { throw DownloadError(.notEncrypted, host: host) }
  }

  /// Checks all addresses of a URL's host.
  ///
  /// One private address is enough to refuse the host, because the system may connect to any of the addresses. VPN apps
  /// replace the addresses of names by addresses of their own (``IPAddress/isStandIn``). With `https`, these addresses
  /// are allowed. A phone with such an app sees no other addresses, and the certificate proves the host.
  ///
  /// - Throws: ``DownloadError``.
  public func check(_ addresses: [IPAddress], of url: URL) throws(DownloadError) {
    guard !addresses.isEmpty else { throw DownloadError(.hostNotFound, host: url.shownHost) }
    guard allowsPrivateAddresses || !addresses.contains(where: { isRefused($0, of: url) }) else {
      throw DownloadError(.privateAddress, host: url.shownHost)
    }
  }

  private func isRefused(_ address: IPAddress, of url: URL) -> Bool {
    guard address.isPrivate else { return false }
    guard url.scheme?.lowercased() == "https", let host = url.host(percentEncoded: false)?.lowercased(),
      IPAddress(anyNotation: host) == nil
    else { return true }
    return !(address.isStandIn || address.isShared && host == serviceHost?.lowercased())
  }

  /// Returns the URL to which a redirect leads. The addresses of its host are not checked.
  ///
  /// - Parameters:
  ///   - location: The value of the answer's `Location`; nil if the answer has none.
  ///   - trail: The URLs that were requested so far. The last one is the URL that redirects.
  /// - Throws: ``DownloadError``.
  package func redirect(to location: String?, after trail: [URL]) throws(DownloadError) -> URL {
    // Not from outside: both callers begin the trail with the URL of the request.
    guard let from = trail.last else { preconditionFailure("A redirect is the answer to a request.") }
    let host = from.shownHost
    guard let location, let target = URL(string: location, relativeTo: from)?.absoluteURL.withoutFragment,
      target.shownHost != nil
    else { throw DownloadError(.invalidRedirect, host: host) }
    guard !trail.contains(target) else { throw DownloadError(.redirectCircle, host: host) }
    guard trail.count <= mostRedirects else { throw DownloadError(.tooManyRedirects, host: host) }
    if from.scheme?.lowercased() == "https", target.scheme?.lowercased() == "http" {
      throw DownloadError(.insecureRedirect, host: host)
    }
    try check(target)
    return target
  }
}

extension URL {
  /// The host for error texts; nil if the URL has none.
  package var shownHost: String? {
    guard let host = host(percentEncoded: true), !host.isEmpty else { return nil }
    return host
  }

  /// Whether the host has the form of a name or an address.
  ///
  /// A URL can contain any character in percent-encoded form. The resolver would read a host only up to a zero byte,
  /// and a client could interpret a delimiter differently. The checked host would then not be the requested one.
  fileprivate var hasUsableHost: Bool {
    guard let host = host(percentEncoded: false) else { return false }
    return host.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
      default: !"/?#@\\[]".unicodeScalars.contains(scalar)
      }
    }
  }

  /// Whether the URL has no port, or one from 1 to 65,535.
  ///
  /// `port` is also nil for a number with too many digits, so the text of the URL must be examined.
  fileprivate var hasUsablePort: Bool {
    if let port { return (1...65_535).contains(port) }
    return URLComponents(url: self, resolvingAgainstBaseURL: true)?.rangeOfPort?.isEmpty ?? true
  }

  /// The URL without its fragment, which is never sent to a server.
  package var withoutFragment: URL {
    guard fragment != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
    parts.fragment = nil
    return parts.url ?? self
  }
}
