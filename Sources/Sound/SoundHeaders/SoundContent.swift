// SPDX-License-Identifier: Apache-2.0

/// The kind of file at a path, and the kind of content that its first bytes show.
public enum SoundContent: Sendable, Hashable {
  case missing, folder
  /// A pipe, a socket or a device.
  case special
  case unreadable
  /// A file that is too large to be read.
  case oversized
  /// A file of zero bytes.
  case empty
  /// A file in which every byte is zero.
  case zeros
  case text, html
  /// Bytes of an unknown kind.
  case unknown
  case sound(SoundContainer)

  /// Recognizes the content of a file by its bytes, and not by its name.
  package init(_ file: HeaderBytes) {
    if file.count == 0 {
      self = .empty
    } else if let container = Self.container(file) {
      self = .sound(container)
    } else if file.bytes.allSatisfy({ $0 == 0 }) {
      self = .zeros
    } else {
      self = Self.text(file) ?? .unknown
    }
  }

  private static let signatures: [(text: String, offset: Int, container: SoundContainer)] = [
    ("fLaC", 0, .flac), ("OggS", 0, .ogg), ("caff", 0, .caf), ("RIFX", 0, .rifx), ("RF64", 0, .rf64),
    ("BW64", 0, .rf64), ("ftyp", 4, .m4a), (".snd", 0, .au), ("MThd", 0, .midi), ("#!AMR", 0, .amr), ("riff.", 0, .w64),
  ]

  static func container(_ file: HeaderBytes) -> SoundContainer? {
    if file.holds("RIFF", at: 0), file.holds("WAVE", at: 8) { return .wav }
    if file.holds("FORM", at: 0), file.holds("AIFF", at: 8) || file.holds("AIFC", at: 8) { return .aiff }
    if let known = signatures.first(where: { file.holds($0.text, at: $0.offset) }) { return known.container }
    if file.big(4, at: 0) == 0x1A45_DFA3 { return .matroska }
    if file.big(4, at: 0) == 0x3026_B275 { return .wma }
    return mpeg(file)
  }

  /// Recognizes MP3 and AAC, which may begin with an ID3 tag. There must be two frames in succession, because the two
  /// bytes with which a frame begins also occur in other files.
  private static func mpeg(_ file: HeaderBytes) -> SoundContainer? {
    var start = 0
    if file.holds("ID3", at: 0), let size = file.slice(4, at: 6) {
      start = 10 + size.reduce(0) { $0 << 7 | Int($1 & 0x7F) }
      if file.holds("fLaC", at: start) { return .flac }
    }
    guard let head = file.big(4, at: start), head >> 20 & 0xFFE == 0xFFE else { return start > 0 ? .mp3 : nil }
    if head >> 17 & 3 == 0 {
      let length = (file.big(3, at: start + 3) ?? 0) >> 5 & 0x1FFF
      return length >= 7 && [nil, 0xFFF].contains(file.big(2, at: start + length).map { $0 >> 4 }) ? .aac : nil
    }
    guard let length = mp3FrameLength(head) else { return start > 0 ? .mp3 : nil }
    let next = file.big(2, at: start + length)
    return next == nil || next.map { $0 >> 5 } == 0x7FF ? .mp3 : nil
  }

  private static func mp3FrameLength(_ head: Int) -> Int? {
    let version = head >> 19 & 3
    let (layer, bitRate, rate) = (head >> 17 & 3, head >> 12 & 15, head >> 10 & 3)
    guard version != 1, layer == 1, (1...14).contains(bitRate), rate != 3 else { return nil }
    let isFirst = version == 3
    let bits =
      isFirst
      ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
      : [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
    let hertz = [44_100, 48_000, 32_000][rate] / (isFirst ? 1 : version == 2 ? 2 : 4)
    return (isFirst ? 144 : 72) * bits[bitRate - 1] * 1000 / hertz + (head >> 9 & 1)
  }

  private static func text(_ file: HeaderBytes) -> SoundContent? {
    let beginning = file.bytes.prefix(4096)
    let controls: Set<UInt8> = [9, 10, 12, 13, 27]
    guard beginning.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || controls.contains($0) }) else { return nil }
    let text = String(decoding: beginning, as: UTF8.self)
    // A character that is cut at the end is decoded as one replacement character.
    guard text.unicodeScalars.dropLast(3).allSatisfy({ $0 != "\u{FFFD}" }) else { return nil }
    let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.prefix(200).lowercased()
    return start.hasPrefix("<!doctype html") || start.contains("<html") || start.hasPrefix("<head") ? .html : .text
  }
}
