// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDownloads

/// The redirects and the head of an attachment's download: what to request, and what an answer means. It has no clock,
/// socket or file.
struct AttachmentTransfer: Sendable {
  /// What to do after the head of an answer.
  enum Next: Sendable {
    /// Send a request to ``AttachmentTransfer/url``.
    case request
    /// Read the body.
    case read(AttachmentIntake)
  }

  /// The header fields of every request. A compressed answer would not have the declared length.
  static let fields = [
    "Accept": "image/*, audio/*, video/*, application/octet-stream;q=0.9, */*;q=0.1", "Accept-Encoding": "identity",
  ]

  private let rules: DownloadRules
  private let limits: AttachmentLimits

  /// The URL to request now.
  private(set) var url: URL

  /// The URLs before ``url``.
  private var earlier: [URL] = []

  /// - Throws: ``AttachmentError`` if the rules do not allow the URL.
  init(
    _ url: URL, rules: DownloadRules, limits: AttachmentLimits = .attachment
  ) throws(AttachmentError) {
    self.url = url.withoutFragment
    self.rules = rules
    self.limits = limits
    try byRules { () throws(SoundDownloadError) in try rules.check(url) }
  }

  private var host: String? { url.shownHost }

  /// Decides by the head of an answer.
  ///
  /// - Parameter fields: The header fields by their names in lower case.
  /// - Throws: ``AttachmentError``.
  mutating func receiveHead(status: Int, fields: [String: String]) throws(AttachmentError) -> Next {
    switch status {
    case 200:
      let encoding = fields["content-encoding"]?.lowercased() ?? "identity"
      guard encoding == "identity" || encoding.isEmpty else { throw error(.compressedAnswer) }
      return .read(try AttachmentIntake(declared: try declaredLength(fields), host: host, limits: limits))
    case 301, 302, 303, 307, 308:
      let trail = earlier + [url]
      url = try byRules { () throws(SoundDownloadError) in
        try rules.redirect(to: fields["location"], after: trail)
      }
      earlier = trail
      return .request
    default:
      throw error(Self.code(of: status), status: status)
    }
  }

  private static func code(of status: Int) -> AttachmentError.Code {
    switch status {
    case 401, 402, 403, 407: .accessRefused
    case 404, 410: .notFound
    case 429, 503: .serverBusy
    case 500...599: .serverFailed
    default: .unexpectedStatus
    }
  }

  private func declaredLength(_ fields: [String: String]) throws(AttachmentError) -> Int? {
    guard let text = fields["content-length"] else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text) else {
      throw error(.lengthMismatch)
    }
    return length
  }

  /// Runs a check of the rules and translates its error.
  func byRules<Result>(_ check: () throws(SoundDownloadError) -> Result) throws(AttachmentError) -> Result {
    do throws(SoundDownloadError) {
      return try check()
    } catch {
      throw AttachmentError(AttachmentError.Code(error.code), host: error.host)
    }
  }

  func error(_ failure: any Error) -> AttachmentError {
    switch failure as? SoundFetchError ?? .connectionLost {
    case .hostNotFound: error(.hostNotFound)
    case .cannotConnect: error(.cannotConnect)
    case .notTrusted: error(.notTrusted)
    case .connectionLost: error(.connectionLost)
    }
  }

  private func error(_ code: AttachmentError.Code, status: Int? = nil) -> AttachmentError {
    AttachmentError(code, host: host, status: status)
  }
}

extension AttachmentError.Code {
  /// The code of an error of `DownloadRules`. The rules have no other codes than those that both types have.
  init(_ code: SoundDownloadError.Code) { self = Self(rawValue: code.rawValue) ?? .invalidURL }
}
