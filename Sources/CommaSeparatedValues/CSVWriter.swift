// SPDX-License-Identifier: Apache-2.0

/// Writes comma-separated values by RFC 4180.
public enum CSVWriter {
  /// Returns a record and its line break, CRLF. ``CSVReader`` reads the same fields from it.
  ///
  /// A field is quoted only if necessary: if it contains a comma, a quotation mark or a line break, if it is empty and
  /// the only field, or if it begins with characters that a reader would take for a byte order mark. Spreadsheets
  /// interpret a field that begins with `=`, `+`, `-` or `@` as a formula; the writer does not prevent that.
  ///
  /// - Parameter fields: one or more fields.
  public static func record(_ fields: [String]) -> String {
    fields.map { field in
      let isMarked = field.utf8.contains { "\",\r\n".utf8.contains($0) } || field.unicodeScalars.first == "\u{FEFF}"
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
