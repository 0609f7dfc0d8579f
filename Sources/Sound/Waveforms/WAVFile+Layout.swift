// SPDX-License-Identifier: Apache-2.0

extension WAVFile {
  /// The position of the samples in a WAV file, so that a memory-mapped file can be used without copying.
  public struct Layout: Sendable, Hashable {
    /// The sample rate in Hz, 1 to 2³¹ − 1.
    public let sampleRate: Int

    /// The range of the samples in bytes from the start of the file; each sample takes two bytes.
    public let data: Range<Int>

    /// The range of the text in the chunk `ICMT`, including the NUL at its end.
    let comment: Range<Int>?

    public var sampleCount: Int { data.count / 2 }

    /// Calls a function with the samples of a file that has this layout. On a machine with the byte order of WAV files,
    /// nothing is copied.
    ///
    /// - Precondition: `bytes` has at least as many bytes as the file of this layout.
    public func withSamples<Result>(in bytes: Span<UInt8>, _ body: (Span<Int16>) -> Result) -> Result {
      let bytes = bytes.extracting(data)
      #if _endian(little)
        let result: Result? = unsafe bytes.bytes.withUnsafeBytes { raw in
          // The length is even and every bit pattern is a valid sample, so only the alignment needs a check.
          guard Int(bitPattern: raw.baseAddress) % MemoryLayout<Int16>.alignment == 0 else { return nil }
          return unsafe body(raw.assumingMemoryBound(to: Int16.self).span)
        }
        if let result { return result }
      #endif
      // The result is a slice, because an array has a span only since iOS 26.
      let samples = (0..<sampleCount).map { Int16(truncatingIfNeeded: bytes.little16(at: $0 * 2)) }[...]
      return body(samples.span)
    }
  }

  /// Finds the samples of a mono 16-bit PCM file without copying them. Unknown chunks are skipped.
  ///
  /// The check is strict: every length must match exactly. Otherwise a clip that a power cut truncated could be
  /// accepted as complete. No input causes a trap. However long the file is, only the headers of its chunks are read.
  ///
  /// - Throws: `WAVFileError`.
  public static func layout(of bytes: [UInt8]) throws(WAVFileError) -> Layout {
    // A slice is used, because an array has a span only since iOS 26.
    let bytes = bytes[...]
    return try layout(of: bytes.span)
  }

  /// Finds the samples of a mono 16-bit PCM file in memory that somebody else owns, such as a mapped file; see
  /// ``layout(of:)``.
  ///
  /// - Throws: `WAVFileError`.
  public static func layout(of bytes: Span<UInt8>) throws(WAVFileError) -> Layout {
    guard bytes.count >= 12, bytes.holds("RIFF", at: 0), bytes.holds("WAVE", at: 8) else {
      throw WAVFileError(.notWAVE, at: 0, "it does not begin with “RIFF”, a length and “WAVE”.")
    }
    let end = 8 + bytes.little32(at: 4)
    guard end <= bytes.count else {
      throw WAVFileError(.truncated, at: bytes.count, "the header states \(end) bytes, but there are \(bytes.count).")
    }
    guard end == bytes.count else {
      throw WAVFileError(.trailingBytes, at: end, "its header says that the file ends here, but more bytes follow.")
    }

    var sampleRate: Int?
    var data: Range<Int>?
    var comment: Range<Int>?
    var position = 12
    while position < end {
      let chunk = try self.chunk(in: bytes, at: position, before: end)
      if bytes.holds("fmt ", at: position) {
        guard sampleRate == nil else {
          throw WAVFileError(.malformedChunk, at: position, "this is a second “fmt ” chunk, but only one is allowed.")
        }
        sampleRate = try self.sampleRate(in: bytes, format: chunk)
      } else if bytes.holds("data", at: position) {
        guard sampleRate != nil, data == nil else {
          throw WAVFileError(.malformedChunk, at: position, "there must be one “data” chunk after “fmt ”.")
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

  /// Returns the range of a chunk's content. `position` is the start of the chunk's header.
  private static func chunk(
    in bytes: Span<UInt8>, at position: Int, before end: Int
  ) throws(WAVFileError) -> Range<Int> {
    guard end - position >= 8 else {
      throw WAVFileError(.truncated, at: position, "a chunk header takes 8 bytes, but only \(end - position) are left.")
    }
    let start = position + 8
    let length = bytes.little32(at: position + 4)
    guard length + length % 2 <= end - start else {
      throw WAVFileError(
        .truncated, at: position, "the chunk takes \(length) bytes (padded to even), but only \(end - start) are left.")
    }
    return start..<start + length
  }

  private static func sampleRate(in bytes: Span<UInt8>, format: Range<Int>) throws(WAVFileError) -> Int {
    let start = format.lowerBound
    // Many programs write a header of 18 bytes. It is the header of 16 bytes with an empty extension.
    guard format.count == 16 || (format.count == 18 && bytes.little16(at: start + 16) == 0) else {
      throw WAVFileError(
        format.count < 16 ? .malformedChunk : .unsupportedEncoding, at: start,
        "the “fmt ” chunk of linear PCM must have 16 bytes, but has \(format.count).")
    }
    let (tag, channels) = (bytes.little16(at: start), bytes.little16(at: start + 2))
    let (bytesPerFrame, bits) = (bytes.little16(at: start + 12), bytes.little16(at: start + 14))
    guard tag == 1, bits == 16 else {
      throw WAVFileError(
        .unsupportedEncoding, at: start,
        "the format tag is \(tag) with \(bits) bits, but must be 1 (linear PCM) with 16 bits.")
    }
    guard channels == 1 else {
      throw WAVFileError(.notMono, at: start + 2, "the file has \(channels) channels instead of 1.")
    }
    let (rate, bytesPerSecond) = (bytes.little32(at: start + 4), bytes.little32(at: start + 8))
    guard rate > 0, rate <= Int(Int32.max), bytesPerFrame == 2, bytesPerSecond == rate * 2 else {
      throw WAVFileError(
        .malformedChunk, at: start + 4,
        "\(rate) Hz, \(bytesPerSecond) bytes per second and \(bytesPerFrame) per frame do not match mono 16-bit PCM.")
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

  /// Returns whether the four bytes at `offset` are this ASCII name.
  fileprivate func holds(_ name: StaticString, at offset: Int) -> Bool {
    name.withUTF8Buffer { name in (0..<4).allSatisfy { unsafe name[$0] == self[offset + $0] } }
  }
}
