// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The reader of the header of an AIFF or AIFF-C file. It follows the chunks of the file and checks their lengths.
struct AIFFHeader {
  private(set) var header = SoundHeader(container: .aiff)
  private let bytes: HeaderBytes
  private(set) var repair: HeaderRepair

  /// The number of frames in the chunk “COMM”. For IMA4, it is the number of packets.
  private var common: (frames: Int, bits: Int)?
  private var data: (stated: Int?, present: Int)?

  /// The size of a packet of IMA4 for each channel: 34 bytes, which hold 64 frames.
  static let packet = (bytes: 34, frames: 64)

  /// Reads the header of a file that begins with “FORM”, a length and “AIFF” or “AIFC”.
  init(_ bytes: HeaderBytes) {
    self.bytes = bytes
    repair = HeaderRepair(bytes, isBigEndian: true, knownChunks: ["FVER", "COMM", "SSND"])
    readChunks()
    setFrames()
  }

  private mutating func readChunks() {
    let stated = bytes.big(4, at: 4) ?? 0
    let isCompressed = bytes.holds("AIFC", at: 8)
    var position = 12
    // Some programs do not write the byte that pads the last chunk, or do not count it.
    var padding = 0
    while position + 8 <= bytes.count {
      guard let name = bytes.name(at: position), let length = bytes.big(4, at: position + 4) else {
        return header.report("No chunk begins at byte \(position), where the chunk before it ends.")
      }
      let start = position + 8
      if name == "SSND" {
        guard data == nil else { return header.report("There are two “SSND” chunks.") }
        let skipped = 8 + (bytes.big(4, at: start) ?? 0)
        // sox writes this length if it cannot seek back to the header.
        let isOpen =
          length >= 0x7F00_0000 || (length == 0 && start < bytes.count)
          || (length == 8 && repair.isSound(at: start + 8))
        if isOpen {
          header.faults.append(.lengthMissing)
          repair.extendSound(from: start)
        }
        let left = bytes.count - start
        data = (isOpen ? nil : max(0, length - skipped), max(0, (isOpen ? left : min(length, left)) - skipped))
        if isOpen { return }
      }
      guard length <= bytes.count - start else {
        if name != "SSND" {
          header.report("The chunk “\(name)” states \(length) bytes, but only \(bytes.count - start) are left.")
        }
        return
      }
      if name == "COMM" { readCommon(at: start, length: length, isCompressed: isCompressed) }
      padding = length % 2
      if padding == 1, repair.findMissingPad(at: start + length) {
        header.reportMissingPad(name)
        padding = 0
      }
      position = start + length + padding
    }
    if position < bytes.count {
      header.report("\(bytes.count - position) bytes follow the last chunk.")
    } else if abs(bytes.count - (8 + stated)) > padding {
      header.report("The header states a file of \(8 + stated) bytes, but there are \(bytes.count).")
    }
  }

  private mutating func readCommon(at start: Int, length: Int, isCompressed: Bool) {
    guard length >= (isCompressed ? 22 : 18), let channels = bytes.big(2, at: start),
      let frames = bytes.big(4, at: start + 2), let bits = bytes.big(2, at: start + 6), let rate = rate(at: start + 8)
    else { return header.report("The “COMM” chunk is too short or states no sample rate.") }
    (header.channels, header.sampleRate) = (channels, rate)
    header.codec = isCompressed ? Self.codec(bytes.name(at: start + 18) ?? "", bits: bits) : .pcm(bits: bits)
    common = (frames, bits)
    if channels == 0 || rate == 0 { header.report("The header states \(channels) channels at \(rate) Hz.") }
  }

  /// Reads an 80-bit floating-point number (IEEE 754), and rounds it.
  private func rate(at offset: Int) -> Int? {
    guard let sign = bytes.big(2, at: offset), let mantissa = bytes.big(8, at: offset + 2) else { return nil }
    let power = sign - 16_383 - 63
    guard (-63...(-1)).contains(power) else { return nil }
    let value = (Double(UInt64(bitPattern: Int64(mantissa))) * pow(2, Double(power))).rounded()
    return value <= Double(Int32.max) ? Int(value) : nil
  }

  private mutating func setFrames() {
    guard let common, let data, let channels = header.channels, channels > 0 else {
      if header.faults.isEmpty { header.report("The file ends without a “COMM” and an “SSND” chunk.") }
      return
    }
    let frameLength: Int
    switch header.codec {
    case .pcm(let bits), .float(let bits): frameLength = (bits + 7) / 8
    case .ulaw, .alaw: frameLength = 1
    case .ima4: frameLength = Self.packet.bytes
    default: return
    }
    let framesPerBlock = header.codec == .ima4 ? Self.packet.frames : 1
    header.setFrames(
      stated: data.stated, present: data.present, bytesPerBlock: frameLength * channels,
      framesPerBlock: framesPerBlock)
    guard let stored = header.storedFrames, header.faults.isEmpty else { return }
    if common.frames * framesPerBlock == stored { return }
    if common.frames <= stored, common.frames > stored - framesPerBlock {
      header.frames = common.frames  // Some programs count the frames of IMA4 instead of the packets.
    } else {
      header.report("The header states \(common.frames * framesPerBlock) frames, but there are \(stored).")
    }
  }

  private static func codec(_ type: String, bits: Int) -> SoundCodec {
    switch type {
    case "NONE", "twos", "sowt": .pcm(bits: bits)
    case "raw ": .pcm(bits: 8)
    case "in24", "42n1", "ni24": .pcm(bits: 24)
    case "in32", "23ni", "ni32": .pcm(bits: 32)
    case "fl32", "FL32": .float(bits: 32)
    case "fl64", "FL64": .float(bits: 64)
    case "ulaw", "ULAW": .ulaw
    case "alaw", "ALAW": .alaw
    case "ima4": .ima4
    case "GSM ", "agsm": .gsm
    default: .other(type.trimmingCharacters(in: .whitespaces))
    }
  }
}
