// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@Suite("WAVFile: mono 16-bit PCM in a RIFF WAVE file")
struct WAVFileTests {
  private let waveform = Waveform(samples: [0, 1, -1, 256, .max, .min], sampleRate: 22_050)

  @Test("the bytes of an encoded waveform are a canonical WAV file: RIFF, fmt, data")
  func layout() {
    let expected: [UInt8] =
      Array("RIFF".utf8) + [48, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0]
      + [0x22, 0x56, 0, 0, 0x44, 0xAC, 0, 0, 2, 0, 16, 0] + Array("data".utf8) + [12, 0, 0, 0]
      + [0, 0, 1, 0, 0xFF, 0xFF, 0, 1, 0xFF, 0x7F, 0, 0x80]
    #expect(WAVFile.encode(waveform) == expected)
  }

  @Test("the comment of a WAV file follows the samples as LIST INFO ICMT, ends with a NUL, and has an even length")
  func commentLayout() {
    let bytes = WAVFile.encode(waveform, comment: "abc!")
    #expect(bytes.count == 56 + 26)
    #expect(
      Array(bytes[56...]) == Array("LIST".utf8) + [18, 0, 0, 0] + Array("INFOICMT".utf8) + [5, 0, 0, 0]
        + Array("abc!".utf8) + [0, 0])
    #expect(bytes[4] == 74)
  }

  @Test(
    "an encoded WAV file can be decoded",
    arguments: [nil, "", "a", "ab", "支付宝到账十二元五角", String(repeating: "x", count: 1001)])
  func roundTrip(comment: String?) throws {
    for samples in [[], [1], waveform.samples] as [[Int16]] {
      let waveform = Waveform(samples: samples, sampleRate: 8000)
      let decoded = try WAVFile.decode(WAVFile.encode(waveform, comment: comment))
      #expect(decoded.waveform == waveform)
      #expect(decoded.comment == comment)
    }
  }

  @Test("a comment ends at its first NUL, like any string in a WAV file")
  func commentWithNUL() throws {
    #expect(try WAVFile.decode(WAVFile.encode(waveform, comment: "a\0b")).comment == "a")
  }

  @Test("marks of a waveform are not part of its WAV file")
  func marks() throws {
    var marked = waveform
    marked.marks = [.init(text: "one", startMilliseconds: 0, endMilliseconds: 1)]
    #expect(WAVFile.encode(marked) == WAVFile.encode(waveform))
  }

  @Test("unknown chunks of a WAV file are skipped, and a fmt chunk of 18 bytes is read")
  func foreignChunks() throws {
    let plain = WAVFile.encode(waveform)
    let odd = Array("odd ".utf8) + [3, 0, 0, 0, 1, 2, 3, 0]
    let format = Array("fmt ".utf8) + [18, 0, 0, 0] + plain[20..<36] + [0, 0]
    let body = Array("WAVE".utf8) + odd + format + odd + plain[36...] + odd
    #expect(try WAVFile.decode(riff(body)).waveform == waveform)
  }

  @Test("a truncated WAV file is refused, at every length")
  func truncated() {
    let bytes = WAVFile.encode(waveform, comment: "a comment")
    for length in 0..<bytes.count {
      #expect(code(Array(bytes[..<length])) == (length < 12 ? .notWAVE : .truncated))
    }
  }

  @Test("a WAV file with truncated samples is refused, although its RIFF length matches")
  func tornData() {
    let bytes = WAVFile.encode(waveform)
    #expect(code(riff(Array(bytes[8..<50]))) == .truncated)
  }

  @Test("a WAV file with bytes after its end is refused")
  func trailing() {
    #expect(code(WAVFile.encode(waveform) + [0]) == .trailingBytes)
  }

  @Test("a WAV file with bytes inside the RIFF that are not a chunk is refused")
  func garbageInside() {
    #expect(code(riff(Array(WAVFile.encode(waveform)[8...]) + [1, 2, 3])) == .truncated)
  }

  @Test(
    "a WAV file that is not mono 16-bit PCM is refused, and the error states the position",
    arguments: [
      (0, UInt8(ascii: "X"), .notWAVE), (8, UInt8(ascii: "X"), .notWAVE),
      (20, 3, .unsupportedEncoding), (20, 7, .unsupportedEncoding), (34, 8, .unsupportedEncoding),
      (22, 0, .notMono), (22, 2, .notMono), (32, 4, .malformedChunk), (28, 0, .malformedChunk),
      (24, 0, .malformedChunk), (16, 14, .malformedChunk), (16, 17, .unsupportedEncoding), (16, 0, .malformedChunk),
      (40, 11, .malformedChunk), (43, 0xFF, .truncated), (19, 0xFF, .truncated), (7, 0xFF, .truncated),
      (12, UInt8(ascii: "X"), .malformedChunk), (36, UInt8(ascii: "X"), .malformedChunk),
    ] as [(Int, UInt8, WAVFileError.Code)])
  func badHeader(offset: Int, value: UInt8, expected: WAVFileError.Code) {
    var bytes = WAVFile.encode(waveform)
    bytes[offset] = value
    #expect(code(bytes) == expected)
  }

  @Test("a WAV file with a second fmt or data chunk, or with data before fmt, is refused")
  func chunkOrder() {
    let bytes = WAVFile.encode(waveform)
    let (format, data) = (bytes[12..<36], bytes[36...])
    let wave = Array("WAVE".utf8)
    #expect(code(riff(wave + format + format + data)) == .malformedChunk)
    #expect(code(riff(wave + format + data + data)) == .malformedChunk)
    #expect(code(riff(wave + data + format)) == .malformedChunk)
    #expect(code(riff(wave + format)) == .malformedChunk)
    #expect(code(riff(wave)) == .malformedChunk)
  }

  @Test("a WAV file whose comment list has a length beyond its end is refused")
  func badList() {
    let bytes = WAVFile.encode(waveform, comment: "abc")
    var broken = bytes
    broken[72] = 200
    #expect(code(broken) == .truncated)
  }

  @Test("the error for a WAV file states the position of the error and the correct value")
  func description() {
    var bytes = WAVFile.encode(waveform)
    bytes[22] = 2
    #expect(throws: WAVFileError.self) { try WAVFile.decode(bytes) }
    do { _ = try WAVFile.decode(bytes) } catch {
      #expect(error.description == "The WAV file cannot be read, at byte 22: the file has 2 channels instead of 1.")
    }
  }

  @Test("no WAV file causes a trap: each of 100,000 changed files gives an error or a waveform no longer than the file")
  func mutations() {
    let original = WAVFile.encode(Waveform(samples: [1, 2, 3], sampleRate: 22_050), comment: "a")
    var random = SystemIndependentGenerator(state: 1)
    var readable = 0
    for _ in 0..<100_000 {
      var bytes = original
      for _ in 0...Int(random.next() % 3) {
        let value = random.next()
        let position = Int(value >> 8) % bytes.count
        switch value % 8 {
        case 0: bytes.removeSubrange(position...)
        case 1: bytes.append(UInt8(truncatingIfNeeded: value >> 40))
        case 2: bytes[position] = 0xFF
        default: bytes[position] = UInt8(truncatingIfNeeded: value >> 40)
        }
        if bytes.isEmpty { break }
      }
      if let decoded = try? WAVFile.decode(bytes) {
        readable += 1
        if decoded.waveform.samples.count * 2 > bytes.count { Issue.record("more samples than bytes") }
      }
    }
    #expect(readable > 1000 && readable < 99_000)
  }

  private func riff(_ body: [UInt8]) -> [UInt8] {
    Array("RIFF".utf8) + [UInt8(body.count % 256), UInt8(body.count / 256), 0, 0] + body
  }

  private func code(_ bytes: [UInt8]) -> WAVFileError.Code? {
    do {
      _ = try WAVFile.decode(bytes)
      return nil
    } catch {
      return error.code
    }
  }
}

/// A generator with the same numbers in every run, on every machine (xorshift64).
private struct SystemIndependentGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
