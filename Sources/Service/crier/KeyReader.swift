// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A reader of single key presses from a terminal, without Enter and without echo.
final class KeyReader {
  private let isTerminal = isatty(STDIN_FILENO) == 1
  private var former = termios()

  init() {
    guard isTerminal else { return }
    tcgetattr(STDIN_FILENO, &former)
    var single = former
    single.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &single)
  }

  /// Restores the terminal's former settings.
  func restore() {
    if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &former) }
  }

  /// - Returns: The key that was pressed, or nil if none was pressed within the given time.
  func next(milliseconds: Int32) -> Character? {
    var descriptor = pollfd(fd: isTerminal ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, milliseconds) > 0 else { return nil }
    var byte: UInt8 = 0
    switch read(STDIN_FILENO, &byte, 1) {
    case 1: return Character(Unicode.Scalar(byte))
    case 0: return "q"  // Standard input was closed.
    default: return nil
    }
  }
}
