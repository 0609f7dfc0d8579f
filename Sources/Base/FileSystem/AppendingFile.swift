// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A file that only grows.
package final class AppendingFile: Sendable {
  private let descriptor: Int32

  /// Opens a file for appending. If it is missing, it is created with the mode 0600.
  ///
  /// - Throws: ``SystemError``. A pipe without a reader also causes an error, because opening it would otherwise block.
  package init(path: String) throws(SystemError) {
    BlockingWatchdog.check()
    descriptor = unsafe path.withCString {
      unsafe open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
    }
    guard descriptor >= 0 else { throw .last }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// Appends bytes with one call of `write(2)`. Bytes that another process appends at the same time come before or
  /// after these bytes, never between them.
  ///
  /// - Throws: ``SystemError``.
  package func append(_ bytes: [UInt8]) throws(SystemError) {
    BlockingWatchdog.check()
    while true {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count == bytes.count { return }
      if count >= 0 { throw SystemError(number: ENOSPC) }
      if errno != EINTR { throw .last }
    }
  }
}
