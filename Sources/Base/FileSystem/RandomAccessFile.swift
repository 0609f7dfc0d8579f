// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A new file that can be written at any offset. Offsets that were never written form a hole and take no space.
package final class RandomAccessFile: Sendable {
  private let descriptor: Int32

  /// Creates a file (0600); an existing file is emptied.
  ///
  /// - Throws: ``SystemError``.
  package init(path: String) throws(SystemError) {
    BlockingWatchdog.check()
    descriptor = unsafe path.withCString { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else { throw .last }
  }

  deinit { close(descriptor) }

  /// Writes all of the bytes at an offset, in bytes from the start of the file.
  ///
  /// - Throws: ``SystemError``.
  package func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { source in
        // Safe: `done` is less than the array's count.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: source[done...])
        return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
      if count < 0, errno != EINTR { throw .last }
      done += max(0, count)
    }
  }
}
