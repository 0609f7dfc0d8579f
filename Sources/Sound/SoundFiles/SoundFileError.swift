// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound could not be written to bytes or read from them.
public struct SoundFileError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    /// The container format cannot hold samples in this encoding.
    case unsupportedCombination = "unsupported_combination"
    /// The encoding or the container of the bytes is not supported.
    case unsupportedEncoding = "unsupported_encoding"
    /// There is more than one channel.
    case notMono = "not_mono"
    /// The bytes are not a complete sound file.
    case malformed
    /// libsndfile could not write the sound.
    case writingFailed = "writing_failed"
  }

  public var code: Code

  /// What is wrong, and what would be correct.
  public var reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String {
    switch code {
    case .unsupportedCombination, .writingFailed: "The sound file cannot be written: \(reason)"
    case .unsupportedEncoding, .notMono, .malformed: "The sound file cannot be read: \(reason)"
    }
  }
}
