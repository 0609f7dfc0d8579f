// SPDX-License-Identifier: Apache-2.0

/// Writes comma-separated values (RFC 4180).
public enum CSVWriter {
  /// Returns a record as text that ends with the line break CRLF. ``CSVReader`` reads the same fields from it.
  ///
  /// A field is quoted only if necessary: if it contains a separator (``CSVSeparator``), a quotation mark or a line
  /// break, if it is empty and the only field, or if its first characters would be read as a byte order mark. The
  /// writer does not protect against formulas: spreadsheets interpret a field that begins with `=`, `+`, `-` or `@` as
  /// a formula.
  ///
  /// - Parameter fields: one or more fields.
  public static func record(_ fields: [String]) -> String {
    fields.map { field in
      let isMarked = field.utf8.contains { "\",;\t\r\n".utf8.contains($0) } || field.unicodeScalars.first == "\u{FEFF}"
      guard isMarked || fields == [""] else { return field }
      var quoted = "\""
      for scalar in field.unicodeScalars {
        if scalar == "\"" { quoted.unicodeScalars.append(scalar) }
        quoted.unicodeScalars.append(scalar)
      }
      return quoted + "\""
    }.joined(separator: ",") + "\r\n"
  }
}
