// SPDX-License-Identifier: Apache-2.0

/// The reader of a WAVE file's header. It follows the chunks of the file and checks their lengths.
struct WAVHeader {
  private(set) var header = SoundHeader(container: .wav)
  private let bytes: HeaderBytes
  private(set) var repair: HeaderRepair

  private var blockLength: Int?
  private var framesPerBlock = 1
  private var factFrames: Int?
  /// Two lengths of the samples in bytes: the length that the header states, if any, and the length in the file.
  private var data: (stated: Int?, present: Int)?

  /// Reads the header of a file that begins with “RIFF”, a length and “WAVE”.
  init(_ bytes: HeaderBytes) {
    self.bytes = bytes
    repair = HeaderRepair(bytes, isBigEndian: false, knownChunks: ["fmt ", "data", "fact", "LIST"])
    readChunks()
    setFrames()
  }

  private mutating func readChunks() {
    let stated = bytes.little(4, at: 4) ?? 0
    let isOpen = stated == 0 || stated == 0xFFFF_FFFF
    var position = 12
    // Some programs do not write the byte that pads the last chunk, or do not count it.
    var padding = 0
    while position + 8 <= bytes.count {
      guard let name = bytes.name(at: position), let length = bytes.little(4, at: position + 4) else {
        return header.report("No chunk begins at byte \(position), where the chunk before it ends.")
      }
      let start = position + 8
      let present = min(length, bytes.count - start)
      if name == "data" {
        guard data == nil else { return header.report("There are two “data” chunks.") }
        guard header.sampleRate != nil else { return header.report("The sound comes before its “fmt ” chunk.") }
        if length == 0xFFFF_FFFF || (length == 0 && (isOpen && start < bytes.count || repair.isSound(at: start))) {
          header.faults.append(.lengthMissing)
          data = (nil, bytes.count - start)
          repair.extendSound(from: start)
          return
        }
        data = (length, present)
      }
      guard length <= bytes.count - start else {
        if name != "data" {
          header.report("The chunk “\(name)” states \(length) bytes, but only \(present) are left.")
        }
        return
      }
      switch name {
      case "fmt ": readFormat(at: start, length: length)
      case "fact": factFrames = bytes.little(4, at: start)
      default: break
      }
      padding = length % 2
      if padding == 1, repair.findMissingPad(at: start + length) {
        header.reportMissingPad(name)
        padding = 0
      }
      position = start + length + padding
    }
    if isOpen {
      header.faults.append(.lengthMissing)
    } else if position < bytes.count {
      header.report("\(bytes.count - position) bytes follow the last chunk.")
    } else if abs(bytes.count - (8 + stated)) > padding {
      header.report("The header states a file of \(8 + stated) bytes, but it has \(bytes.count).")
    }
  }

  private mutating func readFormat(at start: Int, length: Int) {
    guard length >= 16, let format = bytes.little(2, at: start), let channels = bytes.little(2, at: start + 2),
      let rate = bytes.little(4, at: start + 4), let byteRate = bytes.little(4, at: start + 8),
      let block = bytes.little(2, at: start + 12), let bits = bytes.little(2, at: start + 14)
    else { return header.report("The “fmt ” chunk is too short.") }
    // In the extensible form, a UUID states the format. Its first two bytes are the format's number.
    let tag = format == 0xFFFE && length >= 40 ? bytes.little(2, at: start + 24) ?? 0 : format
    (header.sampleRate, header.channels) = (rate, channels)
    header.codec = Self.codec(tag, bits: bits)
    guard channels > 0, rate > 0 else {
      return header.report("The header states \(channels) channels at \(rate) Hz.")
    }
    blockLength = block
    switch header.codec {
    case .pcm, .float, .ulaw, .alaw:
      let expected = channels * ((bits + 7) / 8)
      if block != expected || byteRate != rate * block {
        header.report(
          "\(channels) channels of \(bits) bits at \(rate) Hz take \(expected) bytes a frame and \(rate * expected) "
            + "a second, but the header states \(block) and \(byteRate).")
      }
    case .ima4:
      framesPerBlock = bytes.little(2, at: start + 18) ?? 0
      if length < 20 || block % (4 * channels) != 0 || framesPerBlock != (block / channels - 4) * 2 + 1 {
        header.report("Blocks of \(block) bytes do not hold \(framesPerBlock) frames of IMA ADPCM.")
      }
    case .msADPCM: framesPerBlock = length < 20 ? 0 : bytes.little(2, at: start + 18) ?? 0
    case .gsm: framesPerBlock = 320
    default: blockLength = nil
    }
  }

  private mutating func setFrames() {
    guard let data else {
      if header.faults.isEmpty { header.report("The file ends without a “fmt ” and a “data” chunk.") }
      return
    }
    guard let blockLength else { return }
    header.setFrames(
      stated: data.stated, present: data.present, bytesPerBlock: blockLength, framesPerBlock: framesPerBlock)
    guard framesPerBlock > 1, let factFrames, factFrames > 0, let stored = header.storedFrames, header.faults.isEmpty
    else { return }
    header.frames = factFrames
    if header.codec == .ima4, factFrames > stored || factFrames <= stored - framesPerBlock {
      header.report("The chunk “fact” states \(factFrames) frames, but the blocks hold \(stored).")
    }
  }

  private static func codec(_ tag: Int, bits: Int) -> SoundCodec {
    switch tag {
    case 0x01: .pcm(bits: bits)
    case 0x03: .float(bits: bits)
    case 0x02: .msADPCM
    case 0x06: .alaw
    case 0x07: .ulaw
    case 0x11: .ima4
    case 0x31: .gsm
    case 0x55: .mp3
    case 0xFF, 0x1610: .aac
    default: .other("wav_format_\(tag)")
    }
  }
}
