// SPDX-License-Identifier: Apache-2.0

/// Why a voice pack was not made, or a recording not taken. Names files and sheet rows, which the person who recorded
/// them must find again; never what is inside a payment.
public struct PackMakingError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A file is missing, no sound file that libsndfile reads, damaged, or outside the ceilings of ``Recording``.
    case recordingUnreadable = "recording_unreadable"
    /// Nobody speaks in a recording.
    case silent
    /// The voice in a recording lasts less than 50 ms.
    case tooShort = "too_short"
    /// The voice in a clip lasts more than 20 s, or a recording more than 2 h.
    case tooLong = "too_long"
    /// A recording's peaks stand too high above its voice to be brought under -1 dBTP.
    case levelUnreachable = "level_unreachable"
    /// A recording does not fall into as many utterances as there are rows.
    case utteranceCountMismatch = "utterance_count_mismatch"
    /// Several files are for one row, or one file is for several rows.
    case ambiguousRecording = "ambiguous_recording"
    /// Not one recording belongs to a row.
    case noRecordings = "no_recordings"
    /// Some of the recordings cannot be used; `details` has one line for each.
    case unusableRecordings = "unusable_recordings"
    /// There is no table of Asterisk's sounds for the language.
    case languageUnknown = "language_unknown"
    /// What a pack was to say about itself is wrong.
    case packInvalid = "pack_invalid"
    /// The speech recogniser could not be run, or gave no answer.
    case recognizerFailed = "recognizer_failed"
    /// There is a pack of this id already.
    case packExists = "pack_exists"
    /// The file system refused a part of the pack.
    case writingFailed = "writing_failed"
    /// A C library refused a call that it should take, as for want of memory.
    case conversionFailed = "conversion_failed"
  }

  public var code: Code

  /// What was being made or read: a file's name, a pack's id, an option.
  public var subject: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  /// One line for each thing that the problem speaks of, such as every unusable file; often empty.
  public var details: [String]

  public init(_ code: Code, _ subject: String, _ problem: String, remedy: String, details: [String] = []) {
    self.code = code
    self.subject = subject
    self.problem = problem
    self.remedy = remedy
    self.details = details
  }

  /// One sentence, and below it the details, a line each.
  public var description: String {
    (["\(subject): \(problem); \(remedy)."] + details.map { "  \($0)" }).joined(separator: "\n")
  }
}
