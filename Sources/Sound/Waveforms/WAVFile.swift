// SPDX-License-Identifier: Apache-2.0

/// Mono 16-bit PCM in a RIFF WAVE file, written and read in memory.
///
/// The layout follows Microsoft and IBM's "Multimedia Programming Interface and Data Specifications 1.0" (1991). It
/// consists of `fmt `, `data` and, if there is a comment, `LIST INFO` with `ICMT` after the samples. The samples
/// therefore always begin at byte 44.
public enum WAVFile {
  /// The number of bytes before the first sample.
  static let headerLength = 44

  /// Returns the bytes of a WAV file. Equal waveforms with equal comments give equal bytes. Marks are not written.
  ///
  /// - Parameter comment: the text for the chunk `ICMT`. It is stored as UTF-8 up to its first NUL, because a NUL ends
  ///   the text in that chunk.
  /// - Precondition: the file is smaller than 4 GiB and the sample rate is below 2³¹ Hz, because RIFF has 32-bit
  ///   fields.
  public static func encode(_ waveform: Waveform, comment: String? = nil) -> [UInt8] {
    let dataLength = waveform.samples.count * 2
    let list = comment.map(informationList) ?? []
    // Not from outside: the readers of sounds refuse such rates, and limit the length of a sound.
    precondition(
      waveform.sampleRate <= Int(Int32.max) && headerLength + dataLength + list.count <= Int(UInt32.max),
      "A WAV file must be smaller than 4 GiB, with a rate below 2³¹ Hz.")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerLength + dataLength + list.count)
    bytes.append(contentsOf: "RIFF".utf8)
    bytes.append(little32: headerLength - 8 + dataLength + list.count)
    bytes.append(contentsOf: "WAVEfmt ".utf8)
    bytes.append(little32: 16)
    bytes.append(little16: 1)  // Linear PCM.
    bytes.append(little16: 1)  // Channels.
    bytes.append(little32: waveform.sampleRate)
    bytes.append(little32: waveform.sampleRate * 2)  // Bytes per second.
    bytes.append(little16: 2)  // Bytes per frame.
    bytes.append(little16: 16)  // Bits per sample.
    bytes.append(contentsOf: "data".utf8)
    bytes.append(little32: dataLength)
    #if _endian(little)
      // In memory the samples already have the bytes of the file, so one copy suffices. A loop over the samples takes
      // 30 times as long.
      unsafe waveform.samples.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    #else
      for sample in waveform.samples { bytes.append(little16: Int(UInt16(bitPattern: sample))) }
    #endif
    bytes.append(contentsOf: list)
    return bytes
  }

  /// Reads the output of `encode`, or any other WAV file that contains mono 16-bit PCM. Unknown chunks are skipped.
  ///
  /// The check is as strict as ``layout(of:)``, and no input causes a trap.
  ///
  /// - Returns: the waveform without marks, and the text of `ICMT` if there is one. Invalid UTF-8 in the text is
  ///   repaired.
  /// - Throws: `WAVFileError`.
  public static func decode(_ bytes: [UInt8]) throws(WAVFileError) -> (waveform: Waveform, comment: String?) {
    let layout = try layout(of: bytes)
    // A slice is used, because an array has a span only since iOS 26.
    let all = bytes[...]
    let samples = layout.withSamples(in: all.span) { samples in
      samples.withUnsafeBufferPointer { unsafe Array($0) }  // Copied before the span ends.
    }
    let comment = layout.comment.map { String(decoding: bytes[$0].prefix { $0 != 0 }, as: UTF8.self) }
    return (Waveform(samples: samples, sampleRate: layout.sampleRate), comment)
  }
}

extension WAVFile {
  private static func informationList(_ comment: String) -> [UInt8] {
    let text = comment.utf8.prefix { $0 != 0 }
    let length = text.count + 1  // One more for the NUL at the end.
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
}
