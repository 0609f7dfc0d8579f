// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// When progress is told, and in which bytes: one line that is drawn again on a terminal, a line now and then elsewhere.
/// A pure value: it says what is to be written, and its caller writes it.
struct ProgressDisplay {
  enum Style: Equatable {
    case bar, lines
  }

  let style: Style

  /// When it was last told, since the beginning; `nil` while no bar stands.
  private var last: Duration?

  /// The beginning of the line, and nothing behind it.
  private static let erased = "\r\u{1B}[K"

  init(style: Style) {
    self.style = style
    last = style == .bar ? nil : .zero
  }

  /// What to write after a row has ended; empty when it is too soon.
  mutating func update(_ progress: BatchProgress, at time: Duration, columns: () -> Int) -> String {
    if let last, time - last < (style == .bar ? .milliseconds(100) : .seconds(5)) { return "" }
    last = time
    return switch style {
    case .bar: Self.erased + progress.bar(at: time, columns: columns())
    case .lines: progress.figures(at: time) + "\n"
    }
  }

  /// What to write in order to say something for good: it stands above the bar, which is drawn again at the next row.
  mutating func message(_ message: String) -> String {
    guard style == .bar, last != nil else { return message + "\n" }
    last = nil
    return Self.erased + message + "\n"
  }
}

extension Terminal {
  /// Whether standard error is a terminal on which a line can be drawn again.
  static var canRedrawMessages: Bool {
    isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// The width of standard error, in columns.
  static var messageColumns: Int {
    var size = winsize()
    if ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    return 80
  }

  /// Writes to standard error as it stands.
  static func writeMessage(_ text: String) {
    guard !text.isEmpty else { return }
    // A message that nobody can read is no reason to fail.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
