// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The progress of one download: what was requested, what has arrived, and what to request next. It uses no clock,
/// socket or file.
struct Transfer: Sendable {
  /// What to do after the head of an answer.
  enum Next: Sendable, Hashable {
    /// Read the body.
    case readBody
    /// Send ``Transfer/fields`` to ``Transfer/url``.
    case request
    /// The stored sound is current. There is no body to read.
    case keepStored
  }

  private let rules: DownloadRules
  private let original: URL

  /// The entity tag of the stored sound; nil if there is no sound to keep.
  private var storedTag: String?

  /// The URLs of this attempt, from the original one through all redirects.
  private var trail: [URL]
  private var attempts = 1

  /// The part of the sound that has arrived.
  private(set) var bytes: [UInt8] = []
  /// The entity tag (ETag) of the sound to which ``bytes`` belongs.
  private(set) var entityTag: String?
  /// The declared size of the whole sound in bytes; nil if the server does not declare it.
  private var total: Int?

  init(_ url: URL, storedTag: String?, rules: DownloadRules) {
    original = url
    trail = [url]
    self.storedTag = storedTag
    self.rules = rules
  }

  /// The URL to request now.
  var url: URL { trail.last ?? original }

  private var host: String? { url.shownHost }

  /// The header fields of the request.
  var fields: [String: String] {
    // A compressed answer would have neither the declared length nor usable ranges.
    var fields = ["Accept": "audio/*, application/octet-stream;q=0.9, */*;q=0.1", "Accept-Encoding": "identity"]
    if let tag = resumptionTag {
      fields["Range"] = "bytes=\(bytes.count)-"
      fields["If-Range"] = tag
    } else if let storedTag {
      fields["If-None-Match"] = storedTag
    }
    return fields
  }

  /// The entity tag with which the missing bytes can be requested; nil to request all bytes. Only a strong tag
  /// guarantees that the bytes are the same (RFC 9110, section 13.1.5).
  private var resumptionTag: String? {
    guard !bytes.isEmpty, let entityTag, Self.isStrong(entityTag) else { return nil }
    return entityTag
  }

  static func isStrong(_ tag: String) -> Bool { tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") }

  /// Forgets the stored sound, because it was removed in the meantime.
  mutating func forgetStored() {
    storedTag = nil
    startAgain()
  }

  // MARK: - The head

  /// Decides what to do after the head of an answer.
  ///
  /// - Throws: ``DownloadError``.
  mutating func receiveHead(status: Int, fields: [String: String]) throws(DownloadError) -> Next {
    switch status {
    case 200:
      bytes = []
      entityTag = fields["etag"]
      total = try declaredLength(fields)
      try checkContent(fields)
      // Reserve the memory once, because an array that grows piece by piece would need about twice the memory.
      bytes.reserveCapacity(total ?? 0)
      return .readBody
    case 206:
      try checkRange(fields)
      try checkContent(fields)
      return .readBody
    case 304 where storedTag != nil && resumptionTag == nil:
      return .keepStored
    case 301, 302, 303, 307, 308:
      trail.append(try rules.redirect(to: fields["location"], after: trail))
      return .request
    case 416 where resumptionTag != nil:
      // The file on the server has changed and is now shorter.
      bytes = []
      return try requestAgain(.truncated)
    default:
      throw error(DownloadError.Code(status: status), status: status)
    }
  }

  private func declaredLength(_ fields: [String: String]) throws(DownloadError) -> Int? {
    guard let text = fields["content-length"] else { return nil }
    guard let length = Self.number(text) else { throw error(.lengthMismatch) }
    guard length <= rules.mostBytes else { throw error(.tooLarge) }
    return length
  }

  private func checkContent(_ fields: [String: String]) throws(DownloadError) {
    let encoding = fields["content-encoding"]?.lowercased() ?? "identity"
    guard encoding == "identity" || encoding.isEmpty else { throw error(.compressedAnswer) }
    guard SoundKind.isPossible(contentType: fields["content-type"]) else { throw error(.notASound) }
  }

  /// Checks that a partial answer has exactly the missing bytes of the same sound.
  private mutating func checkRange(_ fields: [String: String]) throws(DownloadError) {
    guard let tag = resumptionTag, fields["etag"] == tag, let text = fields["content-range"],
      let range = Self.range(text), range.first == bytes.count, total == nil || range.total == total
    else { throw error(.wrongRange) }
    guard range.total <= rules.mostBytes else { throw error(.tooLarge) }
    total = range.total
  }

  /// Reads a `Content-Range` that reaches to the end of the file, such as `bytes 100-199/200`; nil for other ranges.
  static func range(_ text: String) -> (first: Int, total: Int)? {
    guard let match = text.wholeMatch(of: /bytes +(\d+)-(\d+)\/(\d+)/), let first = number(match.1),
      let last = number(match.2), let total = number(match.3), first <= last, last == total - 1
    else { return nil }
    return (first, total)
  }

  private static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  // MARK: - The body

  /// Adds a piece of the body.
  ///
  /// - Throws: ``DownloadError`` if there are more bytes than allowed or declared.
  mutating func receive(_ piece: [UInt8]) throws(DownloadError) {
    guard piece.count <= rules.mostBytes - bytes.count else { throw error(.tooLarge) }
    if let total, piece.count > total - bytes.count { throw error(.lengthMismatch) }
    bytes += piece
  }

  /// Ends the body, whether it is complete or its connection broke.
  ///
  /// - Parameter failure: Why the connection broke; nil if it did not.
  /// - Returns: Whether the sound is complete. If not, the next request is ready.
  /// - Throws: ``DownloadError`` if there were too many attempts.
  mutating func endBody(_ failure: SoundFetchError?) throws(DownloadError) -> Bool {
    if let total {
      guard bytes.count < total else { return try checkWhole() }
      _ = try requestAgain(.truncated)
      return false
    }
    guard let failure else { return try checkWhole() }
    try fail(failure)
    return false
  }

  private func checkWhole() throws(DownloadError) -> Bool {
    guard !bytes.isEmpty else { throw error(.emptyAnswer) }
    return true
  }

  /// Prepares the next request after a request without a complete answer.
  ///
  /// - Throws: ``DownloadError`` if another attempt is useless, or if there were too many attempts.
  mutating func fail(_ failure: SoundFetchError) throws(DownloadError) {
    guard failure == .connectionLost else { throw error(DownloadError.Code(failure)) }
    _ = try requestAgain(.connectionLost)
  }

  private mutating func requestAgain(_ code: DownloadError.Code) throws(DownloadError) -> Next {
    guard attempts < rules.mostAttempts else { throw error(code) }
    attempts += 1
    startAgain()
    return .request
  }

  /// Returns to the original URL, because the target of a redirect may be valid only once.
  private mutating func startAgain() {
    trail = [original]
    // If the download cannot be resumed, all bytes are transferred again.
    if resumptionTag == nil { bytes = [] }
  }

  func error(
    _ code: DownloadError.Code, status: Int? = nil, reason: String? = nil
  ) -> DownloadError {
    DownloadError(code, host: host, status: status, reason: reason)
  }
}
