// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A file that is open for reading at any offset, even after it is renamed or removed.
package final class ReadableFile: Sendable {
  private let descriptor: Int32

  /// Opens a file. A symbolic link is refused.
  ///
  /// - Throws: ``SystemError``.
  package init(path: String) throws(SystemError) {
    BlockingWatchdog.check()
    // Safe: the text lives as long as the call.
    descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
  }

  deinit { close(descriptor) }

  /// Reads up to `count` bytes at an offset. There are fewer bytes only at the end of the file.
  ///
  /// - Throws: ``SystemError``.
  package func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    var number: Int32 = 0
    // Safe: no more is written than the buffer holds, and only the bytes that were written are counted.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      let result = unsafe pread(descriptor, buffer.baseAddress, count, off_t(offset))
      if result < 0 { number = errno }
      initializedCount = max(0, result)
    }
    guard number == 0 else { throw SystemError(number: number) }
    return bytes
  }
}
