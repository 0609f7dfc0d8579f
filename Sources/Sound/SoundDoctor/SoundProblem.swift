// SPDX-License-Identifier: Apache-2.0

/// A reason why iOS may not play a sound file, or may play it wrongly.
public struct SoundProblem: Sendable, Hashable, Encodable {
  public enum Severity: String, Sendable, Hashable, Encodable {
    /// iOS plays the default sound instead, or nothing is heard.
    case error
    /// iOS plays the sound, but somebody may hear a difference.
    case warning
  }

  /// The codes for programs. docs/sounds.md explains each of them.
  public enum Code: String, Sendable, Hashable, CaseIterable, Encodable {
    // The file
    case missing, folder, unreadable
    case notAFile = "not_a_file"
    case fileTooLarge = "file_too_large"
    case emptyFile = "empty_file"
    case onlyZeroBytes = "only_zero_bytes"
    case textNotSound = "text_not_sound"
    case htmlNotSound = "html_not_sound"
    case unknownContent = "unknown_content"

    // The format
    case mp3NotDocumented = "mp3_not_documented"
    case flacNotSupported = "flac_not_supported"
    case oggNotSupported = "ogg_not_supported"
    case m4aNotSupported = "m4a_not_supported"
    case aacNotSupported = "aac_not_supported"
    case msADPCMNotSupported = "ms_adpcm_not_supported"
    case gsmNotSupported = "gsm_not_supported"
    case containerNotSupported = "container_not_supported"
    case codecNotSupported = "codec_not_supported"
    case wrongExtension = "wrong_extension"
    case truncated
    case headerMismatch = "header_mismatch"
    case noFrames = "no_frames"
    case undecodable
    case lengthUnstated = "length_unstated"
    case floatSamples = "float_samples"
    case manyChannels = "many_channels"
    case unusualSampleRate = "unusual_sample_rate"

    // The sound
    case tooLong = "too_long"
    case paddingReachesLimit = "padding_reaches_limit"
    case silent
    case clipping
    case tooLoud = "too_loud"
    case tooQuiet = "too_quiet"

    // The name and the folder
    case invalidName = "invalid_name"
    case unpublishableName = "unpublishable_name"
    case decomposedName = "decomposed_name"
    case reservedName = "reserved_name"
    case wrongFolder = "wrong_folder"

    public var severity: Severity {
      switch self {
      case .lengthUnstated, .floatSamples, .manyChannels, .unusualSampleRate, .paddingReachesLimit, .clipping,
        .tooLoud, .tooQuiet, .unpublishableName, .decomposedName, .reservedName, .wrongFolder:
        .warning
      default: .error
      }
    }
  }

  public let code: Code
  /// The severity, which is the same for all problems with this code.
  public let severity: Severity
  /// What is wrong with the file, as a sentence.
  public var message: String
  /// The shell command that mends the file. If no command can mend it, a sentence that says what to do.
  public var remedy: String

  init(_ code: Code, _ message: String, remedy: String) {
    self.code = code
    severity = code.severity
    self.message = message
    self.remedy = remedy
  }
}
