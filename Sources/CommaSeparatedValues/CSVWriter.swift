// SPDX-License-Identifier: Apache-2.0

/// Writes comma-separated values by RFC 4180.
public enum CSVWriter {
  /// A record and its line break, CRLF. ``CSVReader`` reads from it the very fields.
  ///
  /// A field stands in quotation marks where it must: when it holds a comma, a quotation mark or a line break, when it
  /// is all of the record and empty, and when it begins with what a reader would take for a byte order mark.
  /// Spreadsheets take a field that begins with `=`, `+`, `-` or `@` for a formula; that is not guarded against.
  ///
  /// - Parameter fields: at least one.
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
