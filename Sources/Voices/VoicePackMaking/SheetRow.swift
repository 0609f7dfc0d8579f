// SPDX-License-Identifier: Apache-2.0

/// The position of a recorded word in an announcement; see `PackManifest.Alternates`.
public enum ClipPosition: String, Sendable, Hashable, Codable, CaseIterable {
  /// Any position.
  case plain
  /// A position before a comma.
  case rising
  /// A position before a full stop, or at the end.
  case final
}

/// The tokens of a clip and their position. A pack or a sheet contains each place at most once.
struct TokenPlace: Hashable {
  var tokens: [String]
  var position: ClipPosition
}

/// One line of a recording sheet: the words to say, and the name for the file.
public struct SheetRow: Sendable, Hashable {
  /// The row's number. Rows are numbered from 1 in recording order.
  public var number: Int

  /// The recording's file name, with or without an extension such as `.wav`.
  public var file: String

  /// The name of the clip token. For a phrase, the names of its tokens, separated by spaces.
  public var token: String

  /// The words to say.
  public var text: String
  public var position = ClipPosition.plain

  /// A whole announcement that contains the word; empty if a sheet was read from a file. If the word ends the
  /// announcement but is to be read with a level voice, an ellipsis follows.
  public var example = ""

  /// The locale (BCP 47) of the words; `nil` if the sheet does not state it.
  public var locale: String?

  /// One English sentence that says how to read the words aloud.
  public var how: String {
    switch position {
    case .plain: "As in the middle of a sentence, with a level voice."
    case .rising: "As before a comma, with a rising voice."
    case .final: "As the last word, with a falling voice."
    }
  }

  /// The name of the file to record, with an extension.
  public var recordingName: String { RecordingNames.isSoundFile(file) ? file : "\(file).wav" }

  /// The names of the tokens: one, or several for a phrase. A name contains no white space.
  public var tokens: [String] { token.split(whereSeparator: \.isWhitespace).map(String.init) }
}
