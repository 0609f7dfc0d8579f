// SPDX-License-Identifier: Apache-2.0

/// Where in an announcement a recording is heard; see `PackManifest.Alternates`.
public enum ClipPosition: String, Sendable, Hashable, Codable, CaseIterable {
  /// Anywhere.
  case plain
  /// Before a comma.
  case rising
  /// Before a full stop, and at the end.
  case final
}

/// One line of a recording sheet: something to say, and the name for the file.
public struct SheetRow: Sendable, Hashable {
  /// From 1, in the order of recording.
  public var number: Int

  /// The recording's file name; an ending such as `.wav` may be there or not.
  public var file: String

  /// The clip token's name; of a phrase, the names with a space between them.
  public var token: String

  /// What is said.
  public var text: String
  public var position: ClipPosition

  public init(number: Int, file: String, token: String, text: String, position: ClipPosition = .plain) {
    self.number = number
    self.file = file
    self.token = token
    self.text = text
    self.position = position
  }

  /// One token's name, or several for a phrase: a name has no white space in it.
  public var tokens: [String] { token.split(whereSeparator: \.isWhitespace).map(String.init) }
}

extension RecordingSheet.Row {
  /// The row as an import takes it.
  public var sheetRow: SheetRow { SheetRow(number: number, file: file, token: token, text: text, position: position) }
}
