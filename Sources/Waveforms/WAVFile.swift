// SPDX-License-Identifier: Apache-2.0

/// Mono 16-bit PCM in a RIFF WAVE file, written and read in memory.
///
/// The layout is that of Microsoft and IBM's "Multimedia Programming Interface and Data Specifications 1.0" (1991):
/// `fmt `, `data` and, when there is a comment, `LIST INFO` with `ICMT` after the samples, so that the samples
/// always begin at byte 44.
public enum WAVFile {
  /// How many bytes stand before the first sample.
  static let headerLength = 44

  /// The bytes of a WAV file; the same waveform and comment always give the same bytes. Marks are not written.
  ///
  /// - Parameter comment: text for `ICMT`, stored as UTF-8 up to its first NUL, which ends a string there.
  /// - Precondition: the file stays under 4 GiB and the sample rate under 2³¹ Hz, RIFF's 32-bit lengths.
  public static func encode(_ waveform: Waveform, comment: String? = nil) -> [UInt8] {
    let dataLength = waveform.samples.count * 2
    let list = comment.map(informationList) ?? []
    precondition(
      waveform.sampleRate <= Int(Int32.max) && headerLength + dataLength + list.count <= Int(UInt32.max),
      "A WAV file holds less than 4 GiB at less than 2³¹ Hz.")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerLength + dataLength + list.count)
    bytes.append(contentsOf: "RIFF".utf8)
    bytes.append(little32: headerLength - 8 + dataLength + list.count)
    bytes.append(contentsOf: "WAVEfmt ".utf8)
    bytes.append(little32: 16)
    bytes.append(little16: 1)  // linear PCM
    bytes.append(little16: 1)  // channels
    bytes.append(little32: waveform.sampleRate)
    bytes.append(little32: waveform.sampleRate * 2)  // bytes a second
    bytes.append(little16: 2)  // bytes a frame
    bytes.append(little16: 16)  // bits a sample
    bytes.append(contentsOf: "data".utf8)
    bytes.append(little32: dataLength)
    #if _endian(little)
      // The samples in memory are the bytes of the file: one copy, where a loop over samples costs 30 times as much.
      unsafe waveform.samples.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    #else
      for sample in waveform.samples { bytes.append(little16: Int(UInt16(bitPattern: sample))) }
    #endif
    bytes.append(contentsOf: list)
    return bytes
  }

  /// Reads what `encode` writes, and any other WAV file of mono 16-bit PCM; chunks it does not know are passed over.
  ///
  /// Strict, because a clip torn by a power cut must not pass for a whole one: every length must fit exactly.
  /// No bytes whatever make it trap.
  /// - Returns: the waveform, without marks, and the text of `ICMT` (invalid UTF-8 repaired), if there is any.
  /// - Throws: `WAVFileError`.
  public static func decode(_ bytes: [UInt8]) throws(WAVFileError) -> (waveform: Waveform, comment: String?) {
    guard bytes.count >= 12, bytes.holds("RIFF", at: 0), bytes.holds("WAVE", at: 8) else {
      throw WAVFileError(.notWAVE, at: 0, "it does not begin with “RIFF”, a length and “WAVE”.")
    }
    let end = 8 + bytes.little32(at: 4)
    guard end <= bytes.count else {
      throw WAVFileError(.truncated, at: bytes.count, "the header names \(end) bytes and there are \(bytes.count).")
    }
    guard end == bytes.count else {
      throw WAVFileError(.trailingBytes, at: end, "the file ends here by its header, but more bytes follow.")
    }

    var sampleRate: Int?
    var data: Range<Int>?
    var comment: String?
    var position = 12
    while position < end {
      let chunk = try self.chunk(in: bytes, at: position, before: end)
      if bytes.holds("fmt ", at: position) {
        guard sampleRate == nil else {
          throw WAVFileError(.malformedChunk, at: position, "a second “fmt ” chunk; there may be one.")
        }
        sampleRate = try self.sampleRate(in: bytes, format: chunk)
      } else if bytes.holds("data", at: position) {
        guard sampleRate != nil, data == nil else {
          throw WAVFileError(.malformedChunk, at: position, "one “data” chunk must stand after “fmt ”.")
        }
        guard chunk.count % 2 == 0 else {
          throw WAVFileError(.malformedChunk, at: position, "16-bit samples take an even number of bytes.")
        }
        data = chunk
      } else if bytes.holds("LIST", at: position), chunk.count >= 4, bytes.holds("INFO", at: chunk.lowerBound) {
        let found = try self.comment(in: bytes, list: chunk.dropFirst(4))
        comment = comment ?? found
      }
      position = chunk.upperBound + chunk.count % 2
    }
    guard let sampleRate, let data else {
      throw WAVFileError(.malformedChunk, at: end, "the file ends without a “fmt ” and a “data” chunk.")
    }
    return (Waveform(samples: samples(in: bytes, data), sampleRate: sampleRate), comment)
  }
}

extension WAVFile {
  private static func informationList(_ comment: String) -> [UInt8] {
    let text = comment.utf8.prefix { $0 != 0 }
    let length = text.count + 1  // the NUL that ends it
    let padding = length % 2
    var list: [UInt8] = []
    list.append(contentsOf: "LIST".utf8)
    list.append(little32: 12 + length + padding)
    list.append(contentsOf: "INFOICMT".utf8)
    list.append(little32: length)
    list.append(contentsOf: text)
    list.append(contentsOf: repeatElement(0, count: 1 + padding))
    return list
  }

  /// Where the content of the chunk lies whose header stands at `position`.
  private static func chunk(
    in bytes: [UInt8], at position: Int, before end: Int
  ) throws(WAVFileError) -> Range<Int> {
    guard end - position >= 8 else {
      throw WAVFileError(.truncated, at: position, "a chunk header takes 8 bytes and \(end - position) are left.")
    }
    let start = position + 8
    let length = bytes.little32(at: position + 4)
    guard length + length % 2 <= end - start else {
      throw WAVFileError(
        .truncated, at: position, "a chunk of \(length) bytes (padded to even) and \(end - start) are left.")
    }
    return start..<start + length
  }

  private static func sampleRate(in bytes: [UInt8], format: Range<Int>) throws(WAVFileError) -> Int {
    let start = format.lowerBound
    // 18 bytes is the same header with an empty extension, as many programs write it.
    guard format.count == 16 || (format.count == 18 && bytes.little16(at: start + 16) == 0) else {
      throw WAVFileError(
        format.count < 16 ? .malformedChunk : .unsupportedEncoding, at: start,
        "the “fmt ” chunk of linear PCM has 16 bytes, this one has \(format.count).")
    }
    let (tag, channels) = (bytes.little16(at: start), bytes.little16(at: start + 2))
    let (bytesPerFrame, bits) = (bytes.little16(at: start + 12), bytes.little16(at: start + 14))
    guard tag == 1, bits == 16 else {
      throw WAVFileError(
        .unsupportedEncoding, at: start, "format tag \(tag) with \(bits) bits; right is 1 (linear PCM) with 16.")
    }
    guard channels == 1 else {
      throw WAVFileError(.notMono, at: start + 2, "\(channels) channels; right is 1.")
    }
    let (rate, bytesPerSecond) = (bytes.little32(at: start + 4), bytes.little32(at: start + 8))
    guard rate > 0, rate <= Int(Int32.max), bytesPerFrame == 2, bytesPerSecond == rate * 2 else {
      throw WAVFileError(
        .malformedChunk, at: start + 4,
        "\(rate) Hz, \(bytesPerSecond) bytes a second and \(bytesPerFrame) a frame do not fit mono 16-bit PCM.")
    }
    return rate
  }

  private static func comment(in bytes: [UInt8], list: Range<Int>) throws(WAVFileError) -> String? {
    var position = list.lowerBound
    while position < list.upperBound {
      let chunk = try self.chunk(in: bytes, at: position, before: list.upperBound)
      if bytes.holds("ICMT", at: position) {
        return String(decoding: bytes[chunk].prefix { $0 != 0 }, as: UTF8.self)
      }
      position = chunk.upperBound + chunk.count % 2
    }
    return nil
  }

  private static func samples(in bytes: [UInt8], _ data: Range<Int>) -> [Int16] {
    #if _endian(little)
      return unsafe bytes.withUnsafeBytes { source in
        unsafe [Int16](unsafeUninitializedCapacity: data.count / 2) { target, count in
          // Both ranges were checked by the caller: `data` lies in `bytes` and its length is even.
          unsafe UnsafeMutableRawBufferPointer(target).copyMemory(from: UnsafeRawBufferPointer(rebasing: source[data]))
          count = data.count / 2
        }
      }
    #else
      return stride(from: data.lowerBound, to: data.upperBound, by: 2).map {
        Int16(bitPattern: UInt16(bytes.little16(at: $0)))
      }
    #endif
  }
}

extension [UInt8] {
  fileprivate mutating func append(little16 value: Int) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value >> 8))
  }

  fileprivate mutating func append(little32 value: Int) {
    append(little16: value)
    append(little16: value >> 16)
  }

  fileprivate func little16(at offset: Int) -> Int {
    Int(self[offset]) | Int(self[offset + 1]) << 8
  }

  fileprivate func little32(at offset: Int) -> Int {
    little16(at: offset) | little16(at: offset + 2) << 16
  }

  /// Whether the four bytes at `offset` are this ASCII name.
  fileprivate func holds(_ name: StaticString, at offset: Int) -> Bool {
    name.withUTF8Buffer { unsafe $0.elementsEqual(self[offset..<offset + 4]) }
  }
}
