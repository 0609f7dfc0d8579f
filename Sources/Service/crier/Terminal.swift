// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The terminal or pipe that the command runs in.
enum Terminal {
  /// Opens closed standard descriptors on /dev/null. Otherwise, a file or socket of this program could take their place
  /// and receive messages meant for a person. Standard output stays unwritable, because a result that cannot be printed
  /// is an error.
  static func fillMissingDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Whether standard output is a terminal.
  static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether standard output is a terminal that can show drawings.
  static var isDrawable: Bool {
    isOutput && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// The width of standard output, in columns: the terminal's, else `COLUMNS`, else 80.
  static var columns: Int {
    size(STDOUT_FILENO, \.ws_col) ?? ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init) ?? 80
  }

  /// The height of standard output, in rows, or 24 if it is unknown.
  static var rows: Int { size(STDOUT_FILENO, \.ws_row) ?? 24 }

  /// Returns the width or the height of a terminal; nil if it is unknown, or if the descriptor is not a terminal.
  static func size(_ descriptor: Int32, _ side: KeyPath<winsize, UInt16>) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size[keyPath: side] > 0 else { return nil }
    return Int(size[keyPath: side])
  }

  /// Writes a message and a newline to standard error.
  static func note(_ message: String) {
    // Failure to print a message does not affect the result.
    try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
  }

  /// Returns the text with control and formatting characters replaced, except its line breaks.
  static func printableLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }.joined(separator: "\n")
  }

  /// Returns the text with control and formatting characters replaced, because these could move the cursor or reverse
  /// the text direction.
  static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}
