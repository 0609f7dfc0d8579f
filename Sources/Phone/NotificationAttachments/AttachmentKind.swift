// SPDX-License-Identifier: Apache-2.0

/// The format of an attachment, found in its first bytes.
///
/// A URL's extension and the `Content-Type` of an answer are not used, because servers often give wrong ones. The
/// formats are those of Apple's documentation of `UNNotificationAttachment`, and QuickTime.
public enum AttachmentKind: String, Sendable, Hashable, CaseIterable {
  case jpeg
  case png
  case gif
  case wav
  /// AIFF or AIFF-C.
  case aiff
  case mp3
  /// MPEG-4 audio.
  case m4a
  /// An MPEG-4 movie.
  case mpeg4
  /// A QuickTime movie. Apple's list does not name this format, so iOS may refuse the attachment and show the
  /// notification without it.
  case quickTime
  /// MPEG-1 or MPEG-2 video, as a program stream or as video only.
  case mpeg
  case avi

  /// The formats that share a size limit.
  public enum Family: String, Sendable, Hashable, CaseIterable {
    case image
    case audio
    case movie

    /// The maximum size of an attachment in bytes: 10 MB for an image, 5 MB for audio, 50 MB for a movie.
    ///
    /// The figures are from Apple's documentation of `UNNotificationAttachment`, which does not say how many bytes a
    /// megabyte has. Here, a megabyte is 1,000,000 bytes, because iOS then accepts every attachment within the limit.
    public var maximumBytes: Int {
      switch self {
      case .image: 10_000_000
      case .audio: 5_000_000
      case .movie: 50_000_000
      }
    }
  }

  /// The number of bytes that are enough to recognize every format.
  public static let recognizedBytes = 12

  public var family: Family { facts.family }

  /// The uniform type identifier, for `UNNotificationAttachmentOptionsTypeHintKey`.
  public var uniformTypeIdentifier: String { facts.type }

  /// The extension of a file of this format, without a dot. iOS uses the extension if it gets no uniform type
  /// identifier.
  public var fileExtension: String { facts.fileExtension }

  private var facts: (family: Family, type: String, fileExtension: String) {
    switch self {
    case .jpeg: (.image, "public.jpeg", "jpg")
    case .png: (.image, "public.png", "png")
    case .gif: (.image, "com.compuserve.gif", "gif")
    case .wav: (.audio, "com.microsoft.waveform-audio", "wav")
    case .aiff: (.audio, "public.aiff-audio", "aiff")
    case .mp3: (.audio, "public.mp3", "mp3")
    case .m4a: (.audio, "public.mpeg-4-audio", "m4a")
    case .mpeg4: (.movie, "public.mpeg-4", "mp4")
    case .quickTime: (.movie, "com.apple.quicktime-movie", "mov")
    case .mpeg: (.movie, "public.mpeg", "mpg")
    case .avi: (.movie, "public.avi", "avi")
    }
  }
}

// MARK: - Recognition

extension AttachmentKind {
  /// Recognizes a format by a file's first ``recognizedBytes`` bytes; nil if the format is unknown or there are too few
  /// bytes.
  public init?(firstBytes bytes: some Collection<UInt8>) {
    let head = Head(bytes: Array(bytes.prefix(Self.recognizedBytes)))
    guard head.bytes.count == Self.recognizedBytes,
      let kind = head.image ?? head.container ?? head.movieBox ?? head.stream
    else { return nil }
    self = kind
  }

  /// The first bytes of a file.
  private struct Head {
    let bytes: [UInt8]

    private func has(_ text: String, at offset: Int) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
    private func begins(_ start: [UInt8]) -> Bool { bytes.starts(with: start) }

    var image: AttachmentKind? {
      if begins([0xFF, 0xD8, 0xFF]) { return .jpeg }
      if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
      if has("GIF87a", at: 0) || has("GIF89a", at: 0) { return .gif }
      return nil
    }

    /// The format, if the file is in the Interchange File Format or in RIFF; otherwise nil.
    var container: AttachmentKind? {
      if has("RIFF", at: 0), has("WAVE", at: 8) { return .wav }
      if has("RIFF", at: 0), has("AVI ", at: 8) { return .avi }
      if has("FORM", at: 0), has("AIFF", at: 8) || has("AIFC", at: 8) { return .aiff }
      return nil
    }

    /// The format, if the file consists of boxes, each of which begins with its size and its type (ISO/IEC 14496-12);
    /// otherwise nil.
    var movieBox: AttachmentKind? {
      // No accepted attachment has a box of more than 64 MiB. Without this check, a text could be taken for a movie.
      guard bytes[0] <= 3 else { return nil }
      if has("ftyp", at: 4) { return brand }
      // Old QuickTime movies have no file type box.
      let isEmptyBox = begins([0, 0, 0, 8])
      if has("moov", at: 4) || has("mdat", at: 4) || (isEmptyBox && has("wide", at: 4)) { return .quickTime }
      return nil
    }

    /// The format of a file according to its major brand. Pictures (HEIC, AVIF) and 3GPP files have other brands.
    private var brand: AttachmentKind? {
      switch String(decoding: bytes[8..<12], as: UTF8.self) {
      case "M4A ": .m4a
      case "qt  ": .quickTime
      case "mp41", "mp42", "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "avc1", "M4V ", "M4VH", "M4VP": .mpeg4
      default: nil
      }
    }

    /// The format, if the file begins with a binary code instead of a four-letter name; otherwise nil.
    var stream: AttachmentKind? {
      // The file begins with a pack header or a sequence header (ISO/IEC 13818-1 and 13818-2).
      if begins([0, 0, 1, 0xBA]) || begins([0, 0, 1, 0xB3]) { return .mpeg }
      return isTaggedMP3 || isMP3Frame ? .mp3 : nil
    }

    /// Whether the bytes are the header of an ID3v2 tag. Its size has four bytes, each with seven bits.
    private var isTaggedMP3: Bool {
      has("ID3", at: 0) && (2...4).contains(bytes[3]) && bytes[6..<10].allSatisfy { $0 < 0x80 }
    }

    /// Whether the bytes are the header of an MPEG audio frame of layer III (ISO/IEC 11172-3). AAC frames and the byte
    /// order mark of UTF-16 begin in the same way, but have other bits for the layer.
    private var isMP3Frame: Bool {
      let (version, layer) = (bytes[1] >> 3 & 3, bytes[1] >> 1 & 3)
      let (bitRate, sampleRate) = (bytes[2] >> 4, bytes[2] >> 2 & 3)
      return bytes[0] == 0xFF && bytes[1] >= 0xE0 && version != 1 && layer == 1 && (1...14).contains(bitRate)
        && sampleRate != 3
    }
  }
}
