// SPDX-License-Identifier: Apache-2.0

import SoundHeaders
import TestSupport
import Testing
import Waveforms

@Suite("Headers of sound files with any content")
struct HostileHeaderTests {
  private static func big(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
    big(content.count + 8, 4) + Array(name.utf8) + content
  }

  private static let zeros = [UInt8](repeating: 0, count: 64)

  private static let wav = WAVFile.encode(Waveform(samples: [1, 2, 3, 4], sampleRate: 8_000), comment: "a comment")

  private static let aiff: [UInt8] = {
    let common = big(1, 2) + big(4, 4) + big(16, 2) + [0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
    let chunks = Array("COMM".utf8) + big(common.count, 4) + common + Array("SSND".utf8) + big(16, 4) + zeros.prefix(16)
    return Array("FORM".utf8) + big(chunks.count + 4, 4) + Array("AIFF".utf8) + chunks
  }()

  private static let ima4CAF: [UInt8] = {
    // The sample rate is a Double: 8,000.
    let description =
      big(0x40BF_4000_0000_0000, 8) + Array("ima4".utf8) + big(0, 4) + big(34, 4) + big(64, 4) + big(1, 4) + big(0, 4)
    let packets = big(1, 8) + big(64, 8) + big(0, 4) + big(0, 4)
    return Array("caff".utf8) + big(1, 2) + big(0, 2) + Array("desc".utf8) + big(32, 8) + description
      + Array("pakt".utf8) + big(24, 8) + packets + Array("data".utf8) + big(38, 8) + zeros.prefix(38)
  }()

  private static let m4a: [UInt8] = {
    let header = zeros.prefix(12) + big(8_000, 4) + big(80_000, 4)
    let entry =
      big(0, 4) + big(1, 4) + box("mp4a", zeros.prefix(16) + big(1, 2) + zeros.prefix(6) + big(8_000, 2) + big(0, 2))
    let table = box(
      "stbl",
      box("stsd", entry) + box("esds", [0, 0, 0, 0, 3, 25, 0, 0, 0, 4, 17] + zeros.prefix(13) + [5, 2, 0x12, 8]))
    let edits = box("edts", box("elst", big(0, 4) + big(1, 4) + big(40_000, 4)))
    let track = box("trak", edits + box("mdia", box("mdhd", Array(header)) + box("minf", table)))
    return box("ftyp", Array("M4A ".utf8)) + box("moov", box("mvhd", Array(header)) + track)
  }()

  private static let aac: [UInt8] = (0..<3).flatMap { _ in
    [0xFF, 0xF1, 0x6C, 0x40, 0x01, 0x7F, 0xFC] + zeros.prefix(4)
  }

  /// Numbers at which sums and products overflow, or counts end.
  private static let numbers = [
    0, 1, -1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, .max, .min, .min + 1,
    0x7FF8_0000_0000_0000, 0x7FF0_0000_0000_0000,
  ]

  @Test(
    "reading a sound file's header with any content neither traps nor continues forever",
    arguments: [("wav", wav), ("aiff", aiff), ("caf", ima4CAF), ("m4a", m4a), ("aac", aac)])
  func anyHeader(_ name: String, _ sample: [UInt8]) throws {
    #expect(try #require(SoundHeader(of: sample)).sampleRate != nil, "\(name) is a sound before it is changed")
    var random = SplitMix64(seed: 1)
    for _ in 0..<5_000 {
      var bytes = sample
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[position] = .random(in: 0...255, using: &random)
        case 1:
          let length = [2, 4, 8][Int.random(in: 0..<3, using: &random)]
          let number = Self.numbers.randomElement(using: &random) ?? 0
          var written = Self.big(number, length)
          if Bool.random(using: &random) { written.reverse() }
          let end = min(bytes.count, position + length)
          bytes.replaceSubrange(position..<end, with: written.prefix(end - position))
        case 2: bytes.removeSubrange(position...)
        default: bytes.insert(contentsOf: bytes[position...].prefix(16), at: position)
        }
        if bytes.isEmpty { break }
      }
      _ = SoundHeader(of: bytes)?.durationMilliseconds
      _ = SoundHeader.readable(bytes)
    }
  }
}
