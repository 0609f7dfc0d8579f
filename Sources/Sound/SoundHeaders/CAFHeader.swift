// SPDX-License-Identifier: Apache-2.0

/// The reader of the header of a file in Apple's Core Audio Format. It follows the chunks and checks their lengths.
struct CAFHeader {
  private(set) var header = SoundHeader(container: .caf)
  private let bytes: HeaderBytes

  private var description: (bytesPerPacket: Int, framesPerPacket: Int, bits: Int)?
  private var packets: (count: Int, frames: Int, unused: Int)?
  /// The position of the samples, and two lengths in bytes: the length that the header states, if any, and the length
  /// of the samples in the file.
  private(set) var data: (start: Int, stated: Int?, present: Int)?

  /// Reads the header of a file that begins with “caff”.
  init(_ bytes: HeaderBytes) {
    self.bytes = bytes
    readChunks()
    setFrames()
  }

  private mutating func readChunks() {
    var position = 8
    while position + 12 <= bytes.count {
      guard let name = bytes.name(at: position), let length = bytes.big(8, at: position + 4) else {
        return header.report("No chunk begins at byte \(position), where the chunk before it ends.")
      }
      let start = position + 12
      let left = bytes.count - start
      if name == "data" {
        guard data == nil else { return header.report("There are two “data” chunks.") }
        guard description != nil else { return header.report("The sound comes before its “desc” chunk.") }
        // A length of -1 means that the length is open. The first four bytes are the number of edits.
        if length == -1 {
          header.isOpenEnded = true
          data = (start + 4, nil, max(0, left - 4))
          return
        }
        guard length >= 0 else { return header.report("The chunk “data” states \(length) bytes.") }
        data = (start + 4, max(0, length - 4), max(0, min(length, left) - 4))
      }
      guard length >= 0, length <= left else {
        if name != "data" || length < 0 {
          header.report("The chunk “\(name)” states \(length) bytes, but \(left) are left.")
        }
        return
      }
      switch name {
      case "desc": readDescription(at: start, length: length)
      case "pakt":
        if let count = bytes.big(8, at: start), let frames = bytes.big(8, at: start + 8),
          let priming = bytes.big(4, at: start + 16), let rest = bytes.big(4, at: start + 20), length >= 24
        {
          // Numbers that are larger than any file must not overflow.
          let most = 1 << 48
          packets = (min(max(0, count), most), min(max(0, frames), most), priming + rest)
        }
      default: break
      }
      position = start + length
    }
    if position < bytes.count { header.report("\(bytes.count - position) bytes follow the last chunk.") }
  }

  private mutating func readDescription(at start: Int, length: Int) {
    guard length >= 32, let rateBits = bytes.big(8, at: start), let format = bytes.name(at: start + 8),
      let flags = bytes.big(4, at: start + 12), let packetBytes = bytes.big(4, at: start + 16),
      let packetFrames = bytes.big(4, at: start + 20), let channels = bytes.big(4, at: start + 24),
      let bits = bytes.big(4, at: start + 28)
    else { return header.report("The “desc” chunk is too short or names no format.") }
    let rate = Double(bitPattern: UInt64(bitPattern: Int64(rateBits))).rounded()
    header.sampleRate = rate >= 1 && rate <= Double(Int32.max) ? Int(rate) : nil
    header.channels = channels
    header.codec = Self.codec(format, bits: bits, isFloat: flags & 1 == 1)
    description = (packetBytes, packetFrames, bits)
    if channels == 0 || header.sampleRate == nil {
      header.report("The header states \(channels) channels at \(rate) Hz.")
    }
  }

  private mutating func setFrames() {
    guard let description, let data, let channels = header.channels else {
      if header.faults.isEmpty { header.report("The file ends without a “desc” and a “data” chunk.") }
      return
    }
    let expected: (bytes: Int, frames: Int)
    switch header.codec {
    case .pcm(let bits), .float(let bits): expected = (channels * ((bits + 7) / 8), 1)
    case .ulaw, .alaw: expected = (channels, 1)
    case .ima4: expected = (AIFFHeader.packet.bytes * channels, AIFFHeader.packet.frames)
    default:
      header.frames = packets?.frames
      return
    }
    guard description.bytesPerPacket == expected.bytes, description.framesPerPacket == expected.frames else {
      return header.report(
        "The header states packets of \(description.bytesPerPacket) bytes with \(description.framesPerPacket) frames, "
          + "but this encoding has \(expected.bytes) bytes with \(expected.frames).")
    }
    header.setFrames(
      stated: data.stated, present: data.present, bytesPerBlock: expected.bytes, framesPerBlock: expected.frames)
    guard let packets, let stored = header.storedFrames, header.faults.isEmpty else { return }
    if packets.count * expected.frames == stored, packets.frames + packets.unused == stored {
      header.frames = packets.frames
    } else {
      header.report("The chunk “pakt” states \(packets.frames) frames, but the packets hold \(stored).")
    }
  }

  private static func codec(_ format: String, bits: Int, isFloat: Bool) -> SoundCodec {
    switch format {
    case "lpcm": isFloat ? .float(bits: bits) : .pcm(bits: bits)
    case "ulaw": .ulaw
    case "alaw": .alaw
    case "ima4": .ima4
    case "aac ": .aac
    case "alac": .alac
    case ".mp3": .mp3
    case "flac": .flac
    case "opus": .opus
    default: .other(String(format.filter { $0 != " " }))
    }
  }
}

extension CAFHeader {
  /// Returns a copy of a file, with the same samples, that libsndfile can read; `nil` if libsndfile reads the file as
  /// it is.
  ///
  /// libsndfile 1.2 can read neither a CAF whose length is open or wrong, nor IMA4 in a CAF. The packets of IMA4 are
  /// the same in AIFF-C, so the copy has the same packets with another header.
  static func readable(_ bytes: HeaderBytes) -> [UInt8]? {
    let caf = CAFHeader(bytes)
    guard let data = caf.data, let rate = caf.header.sampleRate, let channels = caf.header.channels else { return nil }
    if caf.header.codec == .ima4 {
      guard let samples = bytes.slice(data.present, at: data.start), (1...64).contains(channels) else { return nil }
      let packets = samples.count / (AIFFHeader.packet.bytes * channels)
      return aiff(ima4: samples.prefix(packets * AIFFHeader.packet.bytes * channels), packets, channels, rate)
    }
    guard data.stated != data.present else { return nil }
    var mended = Array(bytes.bytes.prefix(data.start + data.present))
    mended.replaceSubrange(data.start - 12..<data.start - 4, with: Self.big(data.present + 4, 8))
    return mended
  }

  private static func aiff(ima4 samples: ArraySlice<UInt8>, _ packets: Int, _ channels: Int, _ rate: Int) -> [UInt8] {
    // The sample rate is a number of 80 bits: an exponent, and a mantissa whose highest bit is set.
    let shift = UInt64(rate).leadingZeroBitCount
    let rateBytes = big(16_383 + 63 - shift, 2) + big(Int(bitPattern: UInt(UInt64(rate) << UInt64(shift))), 8)
    let common =
      big(channels, 2) + big(packets, 4) + big(4, 2) + rateBytes + Array("ima4".utf8) + [0, 0]
    var form = Array("AIFCFVER".utf8) + big(4, 4) + big(0xA280_5140, 4)
    form += Array("COMM".utf8) + big(common.count, 4) + common
    form += Array("SSND".utf8) + big(samples.count + 8, 4) + big(0, 8) + samples
    if samples.count % 2 == 1 { form.append(0) }
    return Array("FORM".utf8) + big(form.count, 4) + form
  }

  private static func big(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
