// SPDX-License-Identifier: Apache-2.0

import SoundDownloads

/// Decides which of the arriving bytes of an attachment are stored. The decision depends on the attachment's format,
/// size limit and length. The type uses no file, and holds fewer than ``AttachmentKind/recognizedBytes`` bytes between
/// two pieces.
struct AttachmentIntake: Sendable {
  /// The host for errors; nil for a local file.
  let host: String?
  /// The number of bytes that the answer declares; nil if it declares none.
  let declared: Int?
  let limits: AttachmentLimits

  /// The format; nil until enough bytes have arrived.
  private(set) var kind: AttachmentKind?
  /// The number of bytes that have arrived.
  private(set) var byteCount = 0
  /// The bytes that are held until the format is known.
  private(set) var head: [UInt8] = []

  /// - Throws: ``DownloadError`` if more bytes are declared than any accepted format may have.
  init(
    declared: Int?, host: String?, limits: AttachmentLimits = .attachment
  ) throws(DownloadError) {
    self.declared = declared
    self.host = host
    self.limits = limits
    if let declared, let largest = limits.largest, declared > largest.value { throw tooLarge(largest.key) }
  }

  /// Takes a piece.
  ///
  /// - Returns: The bytes to store now; empty as long as ``kind`` is nil.
  /// - Throws: ``DownloadError`` if the format is unknown or refused, or if there are more bytes than declared or
  ///   allowed.
  mutating func receive(_ piece: [UInt8]) throws(DownloadError) -> [UInt8] {
    if let declared, piece.count > declared - byteCount { throw error(.lengthMismatch) }
    byteCount += piece.count
    if let kind {
      try checkSize(of: kind)
      return piece
    }
    let bytes = head.isEmpty ? piece : head + piece
    guard bytes.count >= AttachmentKind.recognizedBytes else {
      head = bytes
      return []
    }
    guard let kind = AttachmentKind(firstBytes: bytes) else { throw error(.unknownContent) }
    self.kind = kind
    head = []
    try checkSize(of: kind)
    return bytes
  }

  /// Ends the attachment.
  ///
  /// - Parameter isBroken: Whether the connection broke.
  /// - Throws: ``DownloadError`` if bytes are missing.
  func end(isBroken: Bool) throws(DownloadError) {
    if let declared {
      guard byteCount == declared else { throw error(isBroken ? .connectionLost : .truncated) }
    } else if isBroken {
      throw error(.connectionLost)
    }
    guard byteCount > 0 else { throw error(.emptyAnswer) }
    guard kind != nil else { throw error(.unknownContent) }
  }

  /// Checks the size as far as it is known: the declared number of bytes, or else the number that has arrived.
  private func checkSize(of kind: AttachmentKind) throws(DownloadError) {
    guard let maximum = limits.maximumBytes[kind.family] else { throw error(.kindRefused) }
    guard declared ?? byteCount <= maximum else { throw tooLarge(kind.family) }
  }

  private func tooLarge(_ family: AttachmentKind.Family) -> DownloadError {
    let maximum = limits.maximumBytes[family, default: 0] / 1_000_000
    return DownloadError(
      .tooLarge, of: .attachment, host: host, reason: "the limit of \(family.withArticle) is \(maximum) MB")
  }

  func error(_ code: DownloadError.Code) -> DownloadError { DownloadError(code, of: .attachment, host: host) }
}

extension AttachmentKind.Family {
  fileprivate var withArticle: String {
    switch self {
    case .image: "an image"
    case .audio: "audio"
    case .movie: "a movie"
    }
  }
}
