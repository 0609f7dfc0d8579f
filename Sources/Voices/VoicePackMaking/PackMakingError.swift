// SPDX-License-Identifier: Apache-2.0

/// The reason why a voice pack was not made, or why a recording was not accepted. The error names files and rows of the
/// recording sheet, so that the person who made the recordings can find them. It never contains data of a payment.
public struct PackMakingError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A file is missing or damaged, is not a sound file that libsndfile can read, or exceeds the limits of
    /// ``Recording``.
    case recordingUnreadable = "recording_unreadable"
    /// A file's name shows a format that libsndfile cannot read. The remedy is a command that converts the file.
    case formatUnknown = "format_unknown"
    /// A recording contains no voice.
    case silent
    /// The voice in a recording lasts less than 50 ms.
    case tooShort = "too_short"
    /// The voice in a clip lasts more than 20 s, or a recording lasts more than 2 h.
    case tooLong = "too_long"
    /// A recording's peaks are too far above its average voice level to keep the true peak under -1 dBTP.
    case levelUnreachable = "level_unreachable"
    /// The number of utterances in a recording differs from the number of rows of the recording sheet.
    case utteranceCountMismatch = "utterance_count_mismatch"
    /// Several files belong to one row of the recording sheet, or one file belongs to several rows.
    case ambiguousRecording = "ambiguous_recording"
    /// No recording belongs to a row of the recording sheet.
    case noRecordings = "no_recordings"
    /// Some of the recordings cannot be used. `details` has one line for each of them.
    case unusableRecordings = "unusable_recordings"
    /// Recordings seem to be swapped. `details` has one line for each pair.
    case swappedRecordings = "swapped_recordings"
    /// A recording sheet is not comma-separated values in UTF-8.
    case notCSV = "not_csv"
    /// The header of a recording sheet lacks a required column.
    case columnMissing = "column_missing"
    /// A field of a recording sheet is empty or has an invalid value.
    case fieldInvalid = "field_invalid"
    /// One token occurs twice with the same position in a recording sheet.
    case tokenRepeated = "token_repeated"
    /// A recording sheet is for another locale than the pack.
    case wrongLocale = "wrong_locale"
    /// There is no table of Asterisk's sounds for the language.
    case languageUnknown = "language_unknown"
    /// The description of a pack is invalid.
    case packInvalid = "pack_invalid"
    /// The speech recogniser could not be run, or gave no answer.
    case recognizerFailed = "recognizer_failed"
    /// A pack with this id already exists.
    case packExists = "pack_exists"
    /// The file system refused to write or remove a part of the pack.
    case writingFailed = "writing_failed"
    /// The command of a speech program cannot be used.
    case commandInvalid = "command_invalid"
    /// The speech program failed, took too long or wrote no usable sound.
    case programFailed = "program_failed"
    /// A speech server failed, took too long or sent no usable sound.
    case serverFailed = "server_failed"
    /// The words of a row, when they are read back, do not have the expected meaning. In that case no request is sent
    /// to a server.
    case rowUnread = "row_unread"
    /// A pack was replaced after it was read and before it was written.
    case packChanged = "pack_changed"
    /// The file of a pack's marks cannot be read, or a mark is for a clip that the pack does not have.
    case marksUnreadable = "marks_unreadable"
    /// A C library refused a valid call, for example because there was not enough memory.
    case conversionFailed = "conversion_failed"
  }

  public var code: Code

  /// The name of the file, pack or option that the error is about.
  public var subject: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  /// One line for each item that the problem concerns, such as every unusable file. It is often empty.
  public var details: [String]

  public init(_ code: Code, _ subject: String, _ problem: String, remedy: String, details: [String] = []) {
    self.code = code
    self.subject = subject
    self.problem = problem
    self.remedy = remedy
    self.details = details
  }

  /// Creates the error for a recording sheet, which contains no token or text of the sheet.
  ///
  /// - Parameter line: the number of the line in the file, counted from 1.
  init(_ code: Code, sheetLine line: Int, _ problem: String, remedy: String) {
    self.init(code, "recording sheet, line \(line)", problem, remedy: remedy)
  }

  /// One sentence, followed by the details, one on each line.
  public var description: String {
    (["\(subject): \(problem); \(remedy)."] + details.map { "  \($0)" }).joined(separator: "\n")
  }
}
