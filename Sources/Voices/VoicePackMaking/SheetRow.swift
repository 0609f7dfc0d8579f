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
  public var position: ClipPosition

  /// The locale (BCP 47) of the words; `nil` if the sheet does not state it.
  public var locale: String?

  public init(
    number: Int, file: String, token: String, text: String, position: ClipPosition = .plain, locale: String? = nil
  ) {
    self.number = number
    self.file = file
    self.token = token
    self.text = text
    self.position = position
    self.locale = locale
  }

  /// The name of the file to record, with an extension.
  public var recordingName: String { RecordingNames.isSoundFile(file) ? file : "\(file).wav" }

  /// The names of the tokens: one, or several for a phrase. A name contains no white space.
  public var tokens: [String] { token.split(whereSeparator: \.isWhitespace).map(String.init) }
}

extension RecordingSheet.Row {
  /// The row in the form that importing recordings uses.
  public var sheetRow: SheetRow {
    SheetRow(number: number, file: file, token: token, text: text, position: position, locale: locale)
  }
}
