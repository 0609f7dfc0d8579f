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
  /// As strict as ``layout(of:)``, and no bytes whatever make it trap.
  /// - Returns: the waveform, without marks, and the text of `ICMT` (invalid UTF-8 repaired), if there is any.
  /// - Throws: `WAVFileError`.
  public static func decode(_ bytes: [UInt8]) throws(WAVFileError) -> (waveform: Waveform, comment: String?) {
    let layout = try layout(of: bytes.span)
    let samples = layout.withSamples(in: bytes.span) { samples in
      samples.withUnsafeBufferPointer { unsafe Array($0) }  // Copied before the span ends.
    }
    let comment = layout.comment.map { String(decoding: bytes[$0].prefix { $0 != 0 }, as: UTF8.self) }
    return (Waveform(samples: samples, sampleRate: layout.sampleRate), comment)
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
