// SPDX-License-Identifier: Apache-2.0

/// Why a record could not be read. The description says where, and holds nothing of what the file says.
public struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A quotation mark in a field that does not begin with one, or text behind the mark that ends one.
    case strayQuote = "stray_quote"
    /// A quoted field without an end.
    case unclosedQuote = "unclosed_quote"
    /// More bytes than a record may have.
    case recordTooLong = "record_too_long"
    case invalidUTF8 = "invalid_utf8"
  }

  public var code: Code

  /// The line on which the record begins, from 1.
  public var line: Int

  /// Which field of the record it is, from 1.
  public var field: Int

  public init(_ code: Code, line: Int, field: Int) {
    self.code = code
    self.line = line
    self.field = field
  }

  public var problem: String {
    switch code {
    case .strayQuote: "has a quotation mark where none may be"
    case .unclosedQuote: "begins with a quotation mark and does not end with one"
    case .recordTooLong: "ends more than \(CSVReader.largestRecord) bytes after its record's beginning"
    case .invalidUTF8: "is not UTF-8"
    }
  }

  public var remedy: String {
    switch code {
    case .strayQuote: "put the whole field in quotation marks, and write each one in it twice"
    case .unclosedQuote: "end it with one, and write each one in it twice"
    case .recordTooLong: "make it shorter, or look for a quotation mark that is not closed"
    case .invalidUTF8: "save the file as UTF-8"
    }
  }

  public var description: String { "line \(line), field \(field): \(problem); \(remedy)." }
}
