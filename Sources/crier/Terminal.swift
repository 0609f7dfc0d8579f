// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The terminal the command runs in, or the pipe.
enum Terminal {
  /// Opens standard descriptors that are closed, so that no file or socket of ours takes their place and receives what
  /// is meant for a person. Output stays unwritable: a result that cannot be printed is an error.
  static func fillMissingDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Whether a drawing may be shown: standard output is a terminal that understands more than plain text.
  static var isDrawable: Bool {
    isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// The width of standard output, in columns: the terminal's, else `COLUMNS`, else 80.
  static var columns: Int {
    var size = winsize()
    if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    return ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init) ?? 80
  }

  /// The height of standard output, in rows; 24 where that is not known.
  static var rows: Int {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0 ? Int(size.ws_row) : 24
  }

  /// Writes a message for a person to standard error.
  static func note(_ message: String) {
    // A message that nobody can read is no reason to fail.
    try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
  }

  /// Text from outside without what could move a terminal's cursor or turn its writing around.
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
