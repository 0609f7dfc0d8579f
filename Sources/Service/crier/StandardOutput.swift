// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The writer of results to standard output. Messages go to standard error instead.
enum StandardOutput {
  /// Writes a line.
  ///
  /// - Throws: ``CommandError`` if the line cannot be written, for example because a disk is full or the output is
  ///   closed.
  static func write(_ line: String) throws(CommandError) { try write(text: line + "\n") }

  /// Writes text as it is, without adding a newline.
  static func write(text: String) throws(CommandError) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Self.write($0) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        let cause = String(cString: strerror(errno))
        throw CommandError(73, "standard output: cannot be written (\(cause)); the result was not printed.")
      }
      written += count
    }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    Glibc.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
  }
}
