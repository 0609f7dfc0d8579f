// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

#if os(Linux)
  private import CLinux
#endif

extension FileSystemCalls {
  /// The system calls of this operating system.
  package static let system = FileSystemCalls(
    openFolder: { (parent, name) throws(SystemError) in
      let links = parent == nil ? 0 : O_NOFOLLOW
      // Safe: the text lives as long as the call.
      return try check(unsafe openat(parent ?? AT_FDCWD, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | links))
    },
    makeFolder: { (parent, name, permissions) throws(SystemError) in
      let mode: mode_t = permissions == .ownerOnly ? 0o700 : 0o755
      _ = try check(unsafe mkdirat(parent, name, mode))  // Safe: the text lives as long as the call.
    },
    createFile: { (folder, name, permissions) throws(SystemError) in
      let mode: mode_t = permissions == .ownerOnly ? 0o600 : 0o644
      // Safe: the text lives as long as the call.
      return try check(
        unsafe openat(folder ?? AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode))
    },
    openFile: { (folder, name) throws(SystemError) in
      // Safe: the text lives as long as the call.
      try check(unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC))
    },
    lock: { (file) throws(SystemError) in
      _ = try check(flock(file, LOCK_EX | LOCK_NB))
    },
    touch: { (file, time) throws(SystemError) in
      let times = [timespec](repeating: timespec(tv_sec: time, tv_nsec: 0), count: 2)
      _ = try check(unsafe futimens(file, times))  // Safe: the two times live as long as the call.
    },
    status: { (file) throws(SystemError) in
      var status = stat()
      _ = try check(unsafe fstat(file, &status))  // Safe: the system fills in a value of our own.
      return FileStatus(status)
    },
    statusOfName: { (folder, name) throws(SystemError) in
      var status = stat()
      // Safe: the text lives as long as the call, and the system writes only to a local variable.
      _ = try check(unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW))
      return FileStatus(status)
    },
    write: { (file, bytes) throws(SystemError) in
      BlockingWatchdog.check()
      // Safe: no more is read than the buffer holds. `errno` is read before another call can set it.
      let (count, number) = unsafe bytes.withUnsafeBytes { buffer in
        let count = unsafe Foundation.write(file, buffer.baseAddress, buffer.count)
        return (count, errno)
      }
      guard count >= 0 else { throw SystemError(number: number) }
      return count
    },
    read: { (file, count) throws(SystemError) in
      BlockingWatchdog.check()
      var number: Int32 = 0
      // Safe: no more is written than the buffer holds, and only the bytes that were written are counted.
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
        let result = unsafe Foundation.read(file, buffer.baseAddress, count)
        if result < 0 { number = errno }
        initializedCount = max(0, result)
      }
      guard number == 0 else { throw SystemError(number: number) }
      return bytes
    },
    startWriting: { (file) throws(SystemError) in
      #if os(Linux)
        _ = try check(sync_file_range(file, 0, 0, 2))
      #endif
    },
    synchronize: { (file) throws(SystemError) in
      #if canImport(Darwin)
        // On Darwin, fsync leaves the bytes in the drive's cache, but F_FULLFSYNC does not. Not every file system
        // supports F_FULLFSYNC.
        if fcntl(file, F_FULLFSYNC) == 0 { return }
      #endif
      _ = try check(fsync(file))
    },
    orderWrites: { (file) throws(SystemError) in
      #if canImport(Darwin)
        // Not every file system supports F_BARRIERFSYNC.
        if fcntl(file, F_BARRIERFSYNC) == 0 { return }
      #endif
      _ = try check(fsync(file))
    },
    rename: { (folder, name, newName) throws(SystemError) in
      _ = try check(unsafe renameat(folder, name, folder, newName))  // Safe: the texts live as long as the call.
    },
    remove: { (folder, name) throws(SystemError) in
      _ = try check(unsafe unlinkat(folder, name, 0))  // Safe: the text lives as long as the call.
    },
    names: { (path) throws(SystemError) in
      BlockingWatchdog.check()
      do {
        return try FileManager.default.contentsOfDirectory(atPath: path)
      } catch CocoaError.fileReadNoSuchFile {
        throw .missing
      } catch CocoaError.fileReadNoPermission {
        throw SystemError(number: EACCES)
      } catch {
        throw .inputOutput
      }
    },
    close: { descriptor in
      // An error is ignored: important bytes were synchronized before, and the descriptor is closed even after an
      // error.
      _ = Foundation.close(descriptor)
    }
  )
}

extension FileStatus {
  /// Returns the size in bytes of the file at a path; nil if there is no file. Symbolic links are followed.
  ///
  /// - Throws: ``SystemError``, of the kind `notAFile` if something other than a regular file is at the path.
  package static func byteCount(at path: String) throws(SystemError) -> Int? {
    guard let found = try status(at: path) else { return nil }
    guard found.isRegularFile else { throw .notAFile }
    return found.byteCount
  }

  /// Returns the status of the file at a path; nil if there is no file.
  ///
  /// - Parameter followsLink: Whether a symbolic link at the end of the path is followed, so that the status is that of
  ///   its target. Links in the other parts of the path are always followed.
  /// - Throws: ``SystemError``.
  package static func status(at path: String, followsLink: Bool = true) throws(SystemError) -> FileStatus? {
    BlockingWatchdog.check()
    var status = stat()
    // Safe: the text lives as long as the call, and the system writes only to a local variable.
    guard unsafe (followsLink ? stat(path, &status) : lstat(path, &status)) == 0 else {
      let error = SystemError.last
      if error.kind == .missing { return nil }
      throw error
    }
    return FileStatus(status)
  }

  fileprivate init(_ status: stat) {
    // The field's name differs between systems.
    #if canImport(Darwin)
      let modified = status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev),
      inode: UInt64(truncatingIfNeeded: status.st_ino),
      links: UInt64(truncatingIfNeeded: status.st_nlink),
      isRegularFile: status.st_mode & S_IFMT == S_IFREG,
      byteCount: Int(status.st_size),
      modifiedAt: modified.tv_sec,
      modifiedNanoseconds: modified.tv_nsec,
      owner: status.st_uid,
      permissions: UInt32(status.st_mode) & 0o7777
    )
  }
}

private func check(_ result: Int32) throws(SystemError) -> Int32 {
  guard result >= 0 else { throw SystemError(number: errno) }
  BlockingWatchdog.check()
  return result
}
