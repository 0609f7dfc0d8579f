// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Decides when progress is shown, and produces the bytes to show. A terminal shows one line that is redrawn; other
/// outputs get a new line every few seconds. It is a pure value: the caller writes the bytes.
struct ProgressDisplay {
  enum Style: Equatable {
    case bar, lines
  }

  let style: Style

  /// The time from the start of the command to the last update; `nil` while no bar is drawn.
  private var last: Duration?

  /// The control sequence that returns to the start of the line and erases it.
  private static let erased = "\r\u{1B}[K"

  init(style: Style) {
    self.style = style
    last = style == .bar ? nil : .zero
  }

  /// Returns the bytes to write after a row has finished, or an empty string if the last update was too recent.
  mutating func update(_ progress: BatchProgress, at time: Duration, columns: () -> Int) -> String {
    update(at: time, bar: progress.bar(at: time, columns: columns()), line: progress.figures(at: time))
  }

  /// Returns the bytes to write after a step of any work, or an empty string if the last update was too recent.
  ///
  /// - Parameter time: The time since the work began.
  mutating func update(at time: Duration, bar: @autoclosure () -> String, line: @autoclosure () -> String) -> String {
    if let last, time - last < (style == .bar ? .milliseconds(100) : .seconds(5)) { return "" }
    last = time
    return style == .bar ? Self.erased + bar() : line() + "\n"
  }

  /// Returns the bytes that remove the bar.
  mutating func end() -> String {
    guard style == .bar, last != nil else { return "" }
    last = nil
    return Self.erased
  }

  /// Returns the bytes that print a permanent message. It appears above the bar, which is redrawn at the next row.
  mutating func message(_ message: String) -> String { end() + message + "\n" }
}

extension Terminal {
  /// Whether standard error is a terminal on which a line can be redrawn.
  static var canRedrawMessages: Bool {
    isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// The width of standard error, in columns.
  static var messageColumns: Int { size(STDERR_FILENO, \.ws_col) ?? 80 }

  /// Writes text to standard error as it is, without adding a newline.
  static func writeMessage(_ text: String) {
    guard !text.isEmpty else { return }
    // Failure to print a message does not affect the result.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
