// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
package import Foundation

/// A file that is locked as long as this object exists. The kernel releases the lock when the process ends for any
/// reason. A program that the process starts does not inherit the lock.
package final class LockedFile: Sendable {
  let descriptor: Int32

  /// Opens a file, and waits at most `patience` seconds for its lock. If the file is missing, it is created with the
  /// mode 0600.
  ///
  /// - Returns: Nil if another process held the lock the whole time.
  /// - Throws: ``SystemError``.
  package init?(_ file: URL, patience: TimeInterval) throws(SystemError) {
    BlockingWatchdog.check()
    // Safe: the text lives as long as the call.
    let opened = unsafe open(file.path(percentEncoded: false), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw .last }
    var pauses = Int(patience / 0.005)
    while flock(opened, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      guard pauses > 0, number == EWOULDBLOCK || number == EINTR else {
        close(opened)
        if number == EWOULDBLOCK { return nil }
        throw SystemError(number: number)
      }
      pauses -= 1
      usleep(5000)  // flock(2) has no timeout, and no event announces that a lock was released
    }
    descriptor = opened
  }

  deinit {
    // Closing alone is not enough. A child process between fork and exec has a copy of the descriptor, and the lock
    // lasts as long as one of the copies is open (flock(2)).
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Writes bytes at the start of the file. They are not synchronized to the disk.
  ///
  /// - Throws: ``SystemError``.
  package func write(_ bytes: [UInt8]) throws(SystemError) {
    // Safe: no more is read than the buffer holds.
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count else { throw SystemError(number: count < 0 ? errno : ENOSPC) }
  }

  /// Returns whether a process holds the lock of a file, and the file's first `count` bytes; nil if the file does not
  /// exist.
  ///
  /// - Throws: ``SystemError``.
  package static func look(
    at file: URL, count: Int
  ) throws(SystemError) -> (isLocked: Bool, bytes: [UInt8])? {
    BlockingWatchdog.check()
    // Safe: the text lives as long as the call.
    let descriptor = unsafe open(file.path(percentEncoded: false), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw .last }
      return nil
    }
    // Closing also releases the lock. The lock is held here for less time than other processes wait for it.
    defer { close(descriptor) }
    let isLocked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    // All empty arrays share one storage, and the count in that storage must not be written.
    guard count > 0 else { return (isLocked, []) }
    // Safe: no more is written than the buffer holds, and only the bytes that were written are counted.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      initializedCount = unsafe max(0, pread(descriptor, buffer.baseAddress, count, 0))
    }
    return (isLocked, bytes)
  }
}
