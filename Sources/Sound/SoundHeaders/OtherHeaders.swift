// SPDX-License-Identifier: Apache-2.0

/// The reader of an MPEG-4 file's header. It finds the first audio track.
enum MP4Header {
  static func read(_ bytes: HeaderBytes) -> SoundHeader {
    var header = SoundHeader(container: .m4a)
    guard let movie = boxes(bytes, 0..<bytes.count).first(where: { $0.name == "moov" }) else { return header }
    for track in boxes(bytes, movie.content) where track.name == "trak" {
      guard let media = box(bytes, track.content, "mdia"),
        let table = box(bytes, media, "minf").flatMap({ box(bytes, $0, "stbl") }),
        let entry = box(bytes, table, "stsd").map({ $0.lowerBound + 8 }), let type = bytes.name(at: entry + 4),
        let codec = codec(type)
      else { continue }
      header.codec = codec
      // The AAC entry states two channels for every sound. The true number is in the decoder's configuration.
      let channels = bytes.big(2, at: entry + 24)
      header.channels = codec == .aac ? aacChannels(bytes, table) ?? channels : channels
      header.sampleRate = bytes.big(2, at: entry + 32)
      let edited = editedDuration(bytes, movie: movie.content, track: track.content)
      if let (units, timescale) = edited ?? duration(bytes, box(bytes, media, "mdhd")), let rate = header.sampleRate {
        header.frames = units * rate / timescale
      }
      return header
    }
    return header
  }

  /// Reads the duration from a box “mvhd” or “mdhd”. Both boxes begin with the same fields.
  private static func duration(_ bytes: HeaderBytes, _ box: Range<Int>?) -> (units: Int, timescale: Int)? {
    guard let start = box?.lowerBound, bytes.big(1, at: start) == 0, let timescale = bytes.big(4, at: start + 12),
      let units = bytes.big(4, at: start + 16), timescale > 0
    else { return nil }
    return (units, timescale)
  }

  /// Returns the duration from the first entry of the track's edit list. This duration does not include the silence
  /// that an encoder adds.
  private static func editedDuration(
    _ bytes: HeaderBytes, movie: Range<Int>, track: Range<Int>
  ) -> (units: Int, timescale: Int)? {
    guard let list = box(bytes, track, "edts").flatMap({ box(bytes, $0, "elst") })?.lowerBound,
      bytes.big(1, at: list) == 0, bytes.big(4, at: list + 4) == 1, let units = bytes.big(4, at: list + 8), units > 0,
      let timescale = duration(bytes, box(bytes, movie, "mvhd"))?.timescale
    else { return nil }
    return (units, timescale)
  }

  private static func codec(_ type: String) -> SoundCodec? {
    switch type {
    case "mp4a": .aac
    case "alac": .alac
    case "Opus": .opus
    case "fLaC": .flac
    case ".mp3": .mp3
    case "ac-3", "ec-3", "samr": .other(type)
    default: nil
    }
  }

  /// Returns the number of channels in the configuration of an AAC decoder. The configuration is in the innermost of
  /// three nested descriptors, which have the tags 3, 4 and 5.
  private static func aacChannels(_ bytes: HeaderBytes, _ table: Range<Int>) -> Int? {
    guard let start = table.first(where: { bytes.holds("esds", at: $0) }) else { return nil }
    var position = start + 8
    for (tag, skipped) in [(3, 3), (4, 13), (5, 0)] {
      guard bytes.big(1, at: position) == tag else { return nil }
      position += 1
      // The length takes one to four bytes. All bytes except the last have their highest bit set.
      while let byte = bytes.big(1, at: position), byte & 0x80 != 0 { position += 1 }
      position += 1 + skipped
    }
    let channels = bytes.big(2, at: position).map { $0 >> 3 & 0xF }
    return channels == 0 ? nil : channels
  }

  private static func box(_ bytes: HeaderBytes, _ range: Range<Int>, _ name: String) -> Range<Int>? {
    boxes(bytes, range).first { $0.name == name }?.content
  }

  private static func boxes(_ bytes: HeaderBytes, _ range: Range<Int>) -> [(name: String, content: Range<Int>)] {
    var found: [(name: String, content: Range<Int>)] = []
    var position = range.lowerBound
    while position + 8 <= range.upperBound, let stated = bytes.big(4, at: position) {
      let isLong = stated == 1
      let length = isLong ? bytes.big(8, at: position + 8) ?? 0 : stated == 0 ? range.upperBound - position : stated
      let start = position + (isLong ? 16 : 8)
      guard length >= start - position, length <= range.upperBound - position else { break }
      if let name = bytes.name(at: position + 4) { found.append((name, start..<position + length)) }
      position += length
    }
    return found
  }
}

/// The reader of a bare AAC stream (ADTS). It consists of frames, each with its own header.
enum ADTSHeader {
  private static let rates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
  ]

  static func read(_ bytes: HeaderBytes) -> SoundHeader {
    var header = SoundHeader(container: .aac, codec: .aac)
    var position = 0
    var frames = 0
    while let head = bytes.big(7, at: position), head >> 44 == 0xFFF {
      let length = head >> 13 & 0x1FFF
      guard length >= 7 else { break }
      let rate = head >> 34 & 0xF
      if frames == 0 {
        header.sampleRate = rate < rates.count ? rates[rate] : nil
        // The value 0 means that the number of channels is stated elsewhere in the stream.
        let channels = head >> 30 & 7
        header.channels = channels == 0 ? nil : channels
      }
      frames += 1024
      position += length
    }
    header.frames = frames
    return header
  }
}
