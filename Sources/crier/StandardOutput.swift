// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Results, and nothing but results.
enum StandardOutput {
  struct Failure: Error, CustomStringConvertible {
    var cause: String
    var description: String { "standard output: cannot be written (\(cause)); the result was not printed." }
  }

  /// - Throws: ``Failure`` when the line did not reach whoever reads: a full disk, a closed output.
  static func write(_ line: String) throws(Failure) { try write(text: line + "\n") }

  /// Text of several lines, as it stands.
  static func write(text: String) throws(Failure) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Self.write($0) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw Failure(cause: String(cString: strerror(errno)))
      }
      written += count
    }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    #else
      Darwin.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    #endif
  }
}
