// SPDX-License-Identifier: Apache-2.0

extension WAVFile {
  /// Where the samples of a WAV file lie in it, so that a file that is mapped into memory is used where it is.
  public struct Layout: Sendable, Hashable {
    /// In Hz, 1 to 2³¹ − 1.
    public let sampleRate: Int

    /// The bytes of the samples, counted from the file's first; two a sample.
    public let data: Range<Int>

    /// The bytes of `ICMT`'s text, with the NUL that ends it.
    let comment: Range<Int>?

    public var sampleCount: Int { data.count / 2 }

    /// Lends the samples of the file whose layout this is, without a copy where memory has a WAV file's byte order.
    ///
    /// - Precondition: `bytes` are at least as many as those that were laid out.
    public func withSamples<Result>(in bytes: Span<UInt8>, _ body: (Span<Int16>) -> Result) -> Result {
      let bytes = bytes.extracting(data)
      #if _endian(little)
        let result: Result? = unsafe bytes.bytes.withUnsafeBytes { raw in
          // The length is even, and every bit pattern is a sample; what is left to see is whether the place is.
          guard Int(bitPattern: raw.baseAddress) % MemoryLayout<Int16>.alignment == 0 else { return nil }
          return unsafe body(raw.assumingMemoryBound(to: Int16.self).span)
        }
        if let result { return result }
      #endif
      let samples = (0..<sampleCount).map { Int16(truncatingIfNeeded: bytes.little16(at: $0 * 2)) }
      return body(samples.span)
    }
  }

  /// Finds the samples of a mono 16-bit PCM file without copying them; chunks it does not know are passed over.
  ///
  /// Strict, because a clip torn by a power cut must not pass for a whole one: every length must fit exactly.
  /// No bytes whatever make it trap. It reads the headers of chunks only, whatever the length of the file.
  /// - Throws: `WAVFileError`.
  public static func layout(of bytes: Span<UInt8>) throws(WAVFileError) -> Layout {
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
    var comment: Range<Int>?
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
    return Layout(sampleRate: sampleRate, data: data, comment: comment)
  }

  /// Where the content of the chunk lies whose header stands at `position`.
  private static func chunk(
    in bytes: Span<UInt8>, at position: Int, before end: Int
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

  private static func sampleRate(in bytes: Span<UInt8>, format: Range<Int>) throws(WAVFileError) -> Int {
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

  private static func comment(in bytes: Span<UInt8>, list: Range<Int>) throws(WAVFileError) -> Range<Int>? {
    var position = list.lowerBound
    while position < list.upperBound {
      let chunk = try self.chunk(in: bytes, at: position, before: list.upperBound)
      if bytes.holds("ICMT", at: position) { return chunk }
      position = chunk.upperBound + chunk.count % 2
    }
    return nil
  }
}

extension Span<UInt8> {
  fileprivate func little16(at offset: Int) -> Int {
    Int(self[offset]) | Int(self[offset + 1]) << 8
  }

  fileprivate func little32(at offset: Int) -> Int {
    little16(at: offset) | little16(at: offset + 2) << 16
  }

  /// Whether the four bytes at `offset` are this ASCII name.
  fileprivate func holds(_ name: StaticString, at offset: Int) -> Bool {
    name.withUTF8Buffer { name in (0..<4).allSatisfy { unsafe name[$0] == self[offset + $0] } }
  }
}
