// SPDX-License-Identifier: Apache-2.0

/// The reason why bytes were refused as a mono PCM16 WAV file.
public struct WAVFileError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    /// The bytes do not begin with a RIFF header of form WAVE.
    case notWAVE = "not_wave"
    /// A length in a header reaches beyond the last byte.
    case truncated
    /// There are bytes after the end that the RIFF header states.
    case trailingBytes = "trailing_bytes"
    /// A chunk is missing, repeated or in the wrong place, or its size does not match its content.
    case malformedChunk = "malformed_chunk"
    /// The samples are not 16-bit linear PCM.
    case unsupportedEncoding = "unsupported_encoding"
    /// There is more than one channel, or none.
    case notMono = "not_mono"
  }

  public var code: Code

  /// The position at which the error was found, in bytes from the start.
  public var offset: Int

  /// What is wrong, and what would be correct.
  public var reason: String

  init(_ code: Code, at offset: Int, _ reason: String) {
    self.code = code
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "The WAV file cannot be read, at byte \(offset): \(reason)" }
}
