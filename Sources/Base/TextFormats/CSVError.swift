// SPDX-License-Identifier: Apache-2.0

/// The reason why a record could not be read. The description states the position of the error, but contains no text of
/// the file.
public struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A quotation mark is inside a field that does not begin with one, or text follows the closing quotation mark of a
    /// field.
    case strayQuote = "stray_quote"
    /// A quoted field has no closing quotation mark.
    case unclosedQuote = "unclosed_quote"
    /// A record has more bytes than ``CSVReader/largestRecord``.
    case recordTooLong = "record_too_long"
    case invalidUTF8 = "invalid_utf8"
    /// The first line begins with `sep=`, but does not name a separator of ``CSVSeparator``. With such a line, a file
    /// tells Excel its separator.
    case otherSeparator = "other_separator"
  }

  public var code: Code

  /// The number of the line on which the record begins, counted from 1.
  public var line: Int

  /// The number of the field in the record, counted from 1.
  public var field: Int

  public init(_ code: Code, line: Int, field: Int) {
    self.code = code
    self.line = line
    self.field = field
  }

  public var problem: String {
    switch code {
    case .strayQuote: "contains a misplaced quotation mark"
    case .unclosedQuote: "begins with a quotation mark, but does not end with one"
    case .recordTooLong: "makes its record longer than \(CSVReader.largestRecord) bytes"
    case .invalidUTF8: "is not UTF-8"
    case .otherSeparator: "is Excel's line 'sep=' with another separator than a comma, a semicolon or a tab"
    }
  }

  public var remedy: String {
    switch code {
    case .strayQuote: "put the whole field in quotation marks, and double each mark inside it"
    case .unclosedQuote: "end it with a quotation mark, and double each mark inside it"
    case .recordTooLong: "make it shorter, or look for a quotation mark that is not closed"
    case .invalidUTF8: "save the file as UTF-8"
    case .otherSeparator:
      "separate the fields with one of these, and give that separator in this line or remove the line"
    }
  }

  public var description: String { "line \(line), field \(field): \(problem); \(remedy)." }
}
