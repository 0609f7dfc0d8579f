// SPDX-License-Identifier: Apache-2.0

/// The place of a recording in an announcement; see `PackManifest.Alternates`.
public enum ClipPosition: String, Sendable, Hashable, Codable, CaseIterable {
  /// Any place.
  case plain
  /// A place before a comma.
  case rising
  /// A place before a full stop, or the end.
  case final
}

/// One line of a recording sheet: the words to say, and the name for the file.
public struct SheetRow: Sendable, Hashable {
  /// The row's number, from 1 in recording order.
  public var number: Int

  /// The recording's file name, with or without an extension such as `.wav`.
  public var file: String

  /// The name of the clip token; for a phrase, the names separated by spaces.
  public var token: String

  /// The words to say.
  public var text: String
  public var position: ClipPosition

  public init(number: Int, file: String, token: String, text: String, position: ClipPosition = .plain) {
    self.number = number
    self.file = file
    self.token = token
    self.text = text
    self.position = position
  }

  /// The name of one token, or of several for a phrase. A name contains no white space.
  public var tokens: [String] { token.split(whereSeparator: \.isWhitespace).map(String.init) }
}

extension RecordingSheet.Row {
  /// The row in the form that an import uses.
  public var sheetRow: SheetRow { SheetRow(number: number, file: file, token: token, text: text, position: position) }
}
