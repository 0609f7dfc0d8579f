// SPDX-License-Identifier: Apache-2.0

import Foundation
import HummingbirdCore
import ServiceAccess

/// The signed URLs of clips.
struct ClipURLs: Sendable {
  private let signer: SignedURL
  private let base: String?
  private let authority: String
  private let lifetime: TimeInterval
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - base: The public base URL of the service, such as `https://pay.example`; nil to use the host and port by which
  ///     each client calls the service.
  ///   - authority: The host and port on which the service listens.
  ///   - lifetime: The lifetime of a URL, in seconds.
  init(
    signer: SignedURL, base: String?, authority: String, lifetime: TimeInterval,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.signer = signer
    self.base = base.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.authority = authority
    self.lifetime = lifetime
    self.now = now
  }

  /// Returns a signed URL of a clip.
  ///
  /// - Parameter authority: The host and port by which the client calls the service.
  func url(ofClip name: String, authority: String?) throws(AccessError) -> String {
    let path = try signer.signed("/v1/clips/\(name)", until: now().addingTimeInterval(lifetime))
    return (base ?? "http://\(authority ?? self.authority)") + path
  }

  /// Whether a URL was signed, even if it has been changed on its way, for example by escaping.
  static func isSigned(_ uri: URI) -> Bool {
    // The name of a clip is a digest, which contains neither word.
    uri.string.contains("signature") || uri.string.contains("expires")
  }

  /// Checks that a signed URL is valid.
  ///
  /// - Throws: `AccessError` if the clip may not be fetched with this URL.
  func check(_ uri: URI) throws(AccessError) {
    func value(_ name: Substring) -> String? { uri.queryParameters[name].map(String.init) }
    // If the URL contains the name but has no parameter with exactly this name, the URL was escaped on its way.
    for name in ["expires", "signature"] where uri.string.contains(name) && value(Substring(name)) == nil {
      throw AccessError(.signatureMalformed)
    }
    try signer.check(path: uri.path, expires: value("expires"), signature: value("signature"), at: now())
  }
}
