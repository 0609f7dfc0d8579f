// SPDX-License-Identifier: Apache-2.0

import Foundation

// Every call of the system is in this file.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Darwin
#endif

enum FileCalls {
  /// Makes the folder and those above it that are missing, for this user alone, so that they outlast a power failure.
  static func makeFolder(_ folder: URL) throws {
    var missing: [URL] = []
    var folder = folder.absoluteURL.standardizedFileURL
    var status = stat()
    // Safe: the text lives as long as the call, and the system fills in a value of our own.
    while unsafe stat(folder.path(percentEncoded: false), &status) != 0 {
      guard errno == ENOENT, folder.path(percentEncoded: false) != "/" else { throw SystemError(number: errno) }
      missing.append(folder)
      folder = folder.deletingLastPathComponent()
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(number: ENOTDIR) }
    for folder in missing.reversed() {
      // Safe: the text lives as long as the call.
      guard unsafe mkdir(folder.path(percentEncoded: false), 0o700) == 0 || errno == EEXIST else {
        throw SystemError(number: errno)
      }
      try synchronizeFolder(folder.deletingLastPathComponent())
    }
  }

  /// Makes an empty file for this user alone; does nothing to one that exists.
  ///
  /// A file that exists is not even opened: closing it would drop the locks that SQLite has on it in this process.
  static func createFile(_ file: URL) throws {
    // Safe: the text lives as long as the call.
    let descriptor = unsafe open(
      file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      guard errno == EEXIST else { throw SystemError(number: errno) }
      return
    }
    close(descriptor)
    try synchronizeFolder(file.deletingLastPathComponent())
  }

  /// The size in bytes of what is at a path, nil when nothing is.
  static func size(_ path: String) throws -> Int64? {
    var status = stat()
    // Safe: the text lives as long as the call, and the system fills in a value of our own.
    guard unsafe stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw SystemError(number: errno) }
      return nil
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(number: EISDIR) }
    return Int64(status.st_size)
  }

  private static func synchronizeFolder(_ folder: URL) throws {
    // Safe: the text lives as long as the call.
    let descriptor = unsafe open(folder.path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be used but not listed cannot be synchronized; SQLite does without as well.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw SystemError(number: errno) }
  }
}

/// A file that is locked as long as this lives. The kernel takes the lock back when the process ends, however it ends,
/// and a program that this one starts does not inherit it.
final class LockedFile: Sendable {
  private let descriptor: Int32

  /// Waits at most `patience` seconds for the lock.
  ///
  /// - Returns: nil when somebody else had it all the time.
  init?(_ file: URL, patience: TimeInterval) throws {
    // Safe: the text lives as long as the call.
    let opened = unsafe open(file.path(percentEncoded: false), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw SystemError(number: errno) }
    var pauses = Int(patience / 0.005)
    while flock(opened, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      guard pauses > 0, number == EWOULDBLOCK || number == EINTR else {
        close(opened)
        if number == EWOULDBLOCK { return nil }
        throw SystemError(number: number)
      }
      pauses -= 1
      usleep(5000)  // flock(2) has no time limit, and another process gives no sign when it lets go
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// Puts bytes at the file's start. They are not forced to disk.
  func write(_ bytes: [UInt8]) throws {
    // Safe: no more is read than the buffer holds.
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count else { throw SystemError(number: count < 0 ? errno : ENOSPC) }
  }

  /// Whether somebody has the lock of a file, and the first `count` bytes of it; nil when there is no file.
  static func look(at file: URL, count: Int) throws -> (isLocked: Bool, bytes: [UInt8])? {
    // Safe: the text lives as long as the call.
    let descriptor = unsafe open(file.path(percentEncoded: false), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw SystemError(number: errno) }
      return nil
    }
    defer { close(descriptor) }  // And with it the lock, which is had for a moment only: whoever wants it is patient.
    let isLocked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    // Safe: no more is written than the buffer holds, and what was not written is not counted.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      initializedCount = unsafe max(0, pread(descriptor, buffer.baseAddress, count, 0))
    }
    return (isLocked, bytes)
  }
}
