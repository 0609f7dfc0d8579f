// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDownloads

/// Handles the redirects and the head of an attachment's download: it decides what to request, and interprets the
/// answer. It uses no clock, socket or file.
struct AttachmentTransfer: Sendable {
  /// The header fields of every request. They accept no compression, because a compressed answer would not have the
  /// declared length.
  static let fields = [
    "Accept": "image/*, audio/*, video/*, application/octet-stream;q=0.9, */*;q=0.1", "Accept-Encoding": "identity",
  ]

  private let rules: DownloadRules
  private let limits: AttachmentLimits

  /// The URL to request now.
  private(set) var url: URL

  /// The URLs before ``url``.
  private var earlier: [URL] = []

  /// - Throws: ``DownloadError`` if the rules do not allow the URL.
  init(
    _ url: URL, rules: DownloadRules, limits: AttachmentLimits = .attachment
  ) throws(DownloadError) {
    self.url = url.withoutFragment
    self.rules = rules
    self.limits = limits
    try byRules { () throws(DownloadError) in try rules.check(url) }
  }

  private var host: String? { url.shownHost }

  /// Decides what to do after the head of an answer.
  ///
  /// - Parameter fields: The header fields by their names in lower case.
  /// - Returns: The intake of the body; nil after a redirect, so that ``url`` must be requested.
  /// - Throws: ``DownloadError``.
  mutating func receiveHead(status: Int, fields: [String: String]) throws(DownloadError) -> AttachmentIntake? {
    switch status {
    case 200:
      let encoding = fields["content-encoding"]?.lowercased() ?? "identity"
      guard encoding == "identity" || encoding.isEmpty else { throw error(.compressedAnswer) }
      return try AttachmentIntake(declared: try declaredLength(fields), host: host, limits: limits)
    case 301, 302, 303, 307, 308:
      let trail = earlier + [url]
      url = try byRules { () throws(DownloadError) in
        try rules.redirect(to: fields["location"], after: trail)
      }
      earlier = trail
      return nil
    default:
      throw error(DownloadError.Code(status: status), status: status)
    }
  }

  private func declaredLength(_ fields: [String: String]) throws(DownloadError) -> Int? {
    guard let text = fields["content-length"] else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text) else {
      throw error(.lengthMismatch)
    }
    return length
  }

  /// Runs a check of the rules. The errors of the rules are about sounds, so they are converted.
  func byRules<Result>(_ check: () throws(DownloadError) -> Result) throws(DownloadError) -> Result {
    do throws(DownloadError) { return try check() } catch { throw error.about(.attachment) }
  }

  func error(_ failure: SoundFetchError) -> DownloadError { error(DownloadError.Code(failure)) }

  private func error(_ code: DownloadError.Code, status: Int? = nil) -> DownloadError {
    DownloadError(code, of: .attachment, host: host, status: status)
  }
}
