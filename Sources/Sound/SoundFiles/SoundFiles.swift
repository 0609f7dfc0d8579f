// SPDX-License-Identifier: Apache-2.0

import SoundHeaders
public import Waveforms

/// Sound files in memory, in every container and encoding that a phone plays as a notification sound.
///
/// WAV with 16-bit PCM uses `WAVFile` and no C code. All other formats use libsndfile.
public enum SoundFiles {
  /// Returns the bytes of a sound file. Equal waveforms, formats and comments give equal bytes: a file contains neither
  /// a time nor the name or version of the machine that wrote it. Marks are not written.
  ///
  /// IMA ADPCM is stored in complete blocks, so up to 1,016 samples of silence are added at the end. (If a WAV file
  /// contains a comment of more than 2,000 bytes, libsndfile cannot read that comment back.)
  ///
  /// - Parameter comment: a text about the sound, stored as UTF-8 up to its first NUL. An empty text is left out.
  /// - Throws: `SoundFileError`: `unsupportedCombination`, `writingFailed`.
  public static func encode(
    _ waveform: Waveform, as format: SoundFormat, comment: String? = nil
  ) throws(SoundFileError) -> [UInt8] {
    let encodings = SoundFormat.encodings(of: format.container)
    guard encodings.contains(format.encoding) else {
      let choices = encodings.map(\.rawValue).joined(separator: ", ")
      throw SoundFileError(
        .unsupportedCombination,
        "\(format.container.rawValue) cannot contain \(format.encoding.rawValue); use \(choices).")
    }
    let comment = comment.map { String(decoding: $0.utf8.prefix { $0 != 0 }, as: UTF8.self) }
    if format == SoundFormat(container: .wav, encoding: .pcm16) {
      return WAVFile.encode(waveform, comment: comment?.isEmpty == true ? nil : comment)
    }
    var stream = try SoundStream(writing: format, sampleRate: waveform.sampleRate)
    if let comment, !comment.isEmpty { try stream.setComment(comment) }
    try stream.write(waveform.samples)
    return try stream.close()
  }

  /// Reads a mono sound file in one of the supported containers and encodings.
  ///
  /// - Returns: the sound without marks. A sound in IMA ADPCM includes the silence that fills its last block.
  /// - Throws: `SoundFileError`: `malformed`, `unsupportedEncoding`, `notMono`.
  public static func decode(_ bytes: [UInt8]) throws(SoundFileError) -> DecodedSound {
    do {
      let (waveform, comment) = try WAVFile.decode(bytes)
      return DecodedSound(
        waveform: waveform, format: SoundFormat(container: .wav, encoding: .pcm16), comment: comment)
    } catch {
      switch error.code {
      case .notWAVE, .unsupportedEncoding: break  // libsndfile handles these.
      case .notMono: throw SoundFileError(.notMono, error.reason)
      case .truncated, .trailingBytes, .malformedChunk: throw SoundFileError(.malformed, error.description)
      }
    }
    var stream = try SoundStream(reading: bytes)
    guard let format = stream.soundFormat else {
      throw SoundFileError(
        .unsupportedEncoding, "use WAV, AIFF or CAF with 16-bit PCM, µ-law, A-law or IMA ADPCM.")
    }
    guard stream.channels == 1 else {
      throw SoundFileError(.notMono, "it has \(stream.channels) channels; use 1.")
    }
    guard stream.sampleRate > 0 else { throw SoundFileError(.malformed, "its sample rate must be above 0 Hz.") }
    let samples = try stream.readAll()
    guard samples.count == stream.frames else {
      throw SoundFileError(.malformed, "its header states \(stream.frames) frames, but there are \(samples.count).")
    }
    return DecodedSound(
      waveform: Waveform(samples: samples, sampleRate: stream.sampleRate), format: format, comment: stream.comment)
  }

  /// Reads a sound to be played, such as a tone or a recording, from any file that libsndfile reads (WAV, AIFF, CAF,
  /// FLAC, Ogg, MP3 and others). It also reads a CAF, WAV or AIFF that libsndfile refuses only because of its header,
  /// such as a CAF with IMA ADPCM. All channels are mixed with equal weight. Floating-point samples beyond full scale
  /// are clipped.
  ///
  /// - Parameter longestSeconds: the length in seconds of the longest permitted sound. Without this limit, a file's
  ///   header could make the function use any amount of memory.
  /// - Returns: the sound at the file's own rate, without marks.
  /// - Throws: `SoundFileError`, `malformed`.
  public static func mix(_ bytes: [UInt8], longestSeconds: Int = 600) throws(SoundFileError) -> Waveform {
    var stream = try mixable(bytes)
    guard stream.sampleRate > 0, (1...64).contains(stream.channels) else {
      throw SoundFileError(.malformed, "it has \(stream.channels) channels at \(stream.sampleRate) Hz.")
    }
    let samples = try stream.readMean(limit: longestSeconds * stream.sampleRate)
    return Waveform(samples: samples, sampleRate: stream.sampleRate)
  }

  private static func mixable(_ bytes: [UInt8]) throws(SoundFileError) -> SoundStream {
    do throws(SoundFileError) {
      return try SoundStream(reading: bytes)
    } catch {
      guard let readable = SoundHeader.readable(bytes) else { throw error }
      return try SoundStream(reading: readable)
    }
  }
}

/// The contents of a sound file.
public struct DecodedSound: Sendable, Hashable {
  public var waveform: Waveform
  public var format: SoundFormat
  public var comment: String?
}
