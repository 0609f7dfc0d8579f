// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Single keys from a terminal, without Enter and without being shown.
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

  /// Gives the terminal back as it was.
  func restore() {
    if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &former) }
  }

  /// - Returns: the key pressed within the time; nil for none.
  func next(milliseconds: Int32) -> Character? {
    var descriptor = pollfd(fd: isTerminal ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, milliseconds) > 0 else { return nil }
    var byte: UInt8 = 0
    switch read(STDIN_FILENO, &byte, 1) {
    case 1: return Character(Unicode.Scalar(byte))
    case 0: return "q"  // nobody is there any more
    default: return nil
    }
  }
}
