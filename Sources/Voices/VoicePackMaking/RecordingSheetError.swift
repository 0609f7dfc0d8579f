// SPDX-License-Identifier: Apache-2.0

/// The reason why a recording sheet could not be read. The description contains no token or text of the recording
/// sheet.
public struct RecordingSheetError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The bytes are not comma-separated values in UTF-8.
    case notCSV = "not_csv"
    /// The header lacks a required column.
    case columnMissing = "column_missing"
    /// A field is empty or has an invalid value.
    case fieldInvalid = "field_invalid"
    /// One token occurs twice with the same position.
    case tokenRepeated = "token_repeated"
    /// The sheet is for another locale than the pack.
    case wrongLocale = "wrong_locale"
  }

  public var code: Code

  /// The number of the line in the file, counted from 1.
  public var line: Int
  public var problem: String

  /// What to do next.
  public var remedy: String

  public init(_ code: Code, line: Int, _ problem: String, remedy: String) {
    self.code = code
    self.line = line
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "recording sheet, line \(line): \(problem); \(remedy)." }
}
