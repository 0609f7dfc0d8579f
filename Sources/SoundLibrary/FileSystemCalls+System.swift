// SPDX-License-Identifier: Apache-2.0

// Everything that differs between systems is in this file.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Darwin
#endif

extension FileSystemCalls {
  /// The calls of the system this runs on.
  static let system = FileSystemCalls(
    openFolder: { (parent, name) throws(SystemFailure) in
      let links = parent == nil ? 0 : O_NOFOLLOW
      // Safe: the text lives as long as the call.
      return try check(unsafe openat(parent ?? AT_FDCWD, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | links))
    },
    makeFolder: { (parent, name) throws(SystemFailure) in
      _ = try check(unsafe mkdirat(parent, name, 0o755))  // Safe: the text lives as long as the call.
    },
    createFile: { (folder, name) throws(SystemFailure) in
      // Safe: the text lives as long as the call.
      try check(unsafe openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644))
    },
    openFile: { (folder, name) throws(SystemFailure) in
      // Safe: the text lives as long as the call.
      try check(unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
    },
    lock: { (file) throws(SystemFailure) in
      _ = try check(flock(file, LOCK_EX | LOCK_NB))
    },
    status: { (file) throws(SystemFailure) in
      var status = stat()
      _ = try check(unsafe fstat(file, &status))  // Safe: the system fills in a value of our own.
      return FileStatus(status)
    },
    statusOfName: { (folder, name) throws(SystemFailure) in
      var status = stat()
      // Safe: the text lives as long as the call, and the system fills in a value of our own.
      _ = try check(unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW))
      return FileStatus(status)
    },
    write: { (file, bytes) throws(SystemFailure) in
      // Safe: no more is read than the buffer holds. The error number is taken before anything else can set it.
      let (count, number) = unsafe bytes.withUnsafeBytes { buffer in
        let count = unsafe systemWrite(file, buffer.baseAddress, buffer.count)
        return (count, errno)
      }
      guard count >= 0 else { throw SystemFailure(number: number) }
      return count
    },
    read: { (file, count) throws(SystemFailure) in
      var number: Int32 = 0
      // Safe: no more is written than the buffer holds, and what was not written is not counted.
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
        let result = unsafe systemRead(file, buffer.baseAddress, count)
        if result < 0 { number = errno }
        initializedCount = max(0, result)
      }
      guard number == 0 else { throw SystemFailure(number: number) }
      return bytes
    },
    synchronize: { (file) throws(SystemFailure) in
      #if canImport(Darwin)
        // fsync leaves the bytes in the drive's cache there; not every file system knows how to empty that.
        if fcntl(file, F_FULLFSYNC) == 0 { return }
      #endif
      _ = try check(fsync(file))
    },
    rename: { (folder, name, newName) throws(SystemFailure) in
      _ = try check(unsafe renameat(folder, name, folder, newName))  // Safe: the texts live as long as the call.
    },
    remove: { (folder, name) throws(SystemFailure) in
      _ = try check(unsafe unlinkat(folder, name, 0))  // Safe: the text lives as long as the call.
    },
    close: { descriptor in
      // What matters was synchronized before; after an error the descriptor is gone all the same.
      _ = systemClose(descriptor)
    }
  )
}

extension SystemFailure {
  /// What the number means here.
  var kind: Kind {
    switch number {
    case ENOENT: .missing
    case EEXIST: .exists
    case EINTR: .interrupted
    case EWOULDBLOCK: .busy
    case ENOSPC, EDQUOT: .noSpace
    case EROFS: .readOnly
    case EACCES, EPERM: .notPermitted
    case EFBIG: .tooLarge
    case ENOTDIR: .notAFolder
    case EISDIR: .notAFile
    case EMFILE, ENFILE: .tooManyOpenFiles
    default: .other
    }
  }

  /// The C library's own words.
  var message: String {
    unsafe String(cString: strerror(number))  // Safe: it is a text for any number, copied at once.
  }

  static let notAFolder = SystemFailure(number: ENOTDIR)
  static let notAFile = SystemFailure(number: EISDIR)
  static let tooLarge = SystemFailure(number: EFBIG)
  static let busy = SystemFailure(number: EWOULDBLOCK)
  static let inputOutput = SystemFailure(number: EIO)

  /// Whether a symbolic link was met where none is followed. BSD has another number for it than Linux.
  var isRefusedLink: Bool { number == ELOOP || number == EMLINK }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev),
      inode: UInt64(truncatingIfNeeded: status.st_ino),
      links: UInt64(truncatingIfNeeded: status.st_nlink),
      isRegularFile: status.st_mode & S_IFMT == S_IFREG,
      byteCount: Int(status.st_size)
    )
  }
}

private func check(_ result: Int32) throws(SystemFailure) -> Int32 {
  guard result >= 0 else { throw SystemFailure(number: errno) }
  return result
}

// Inside the extension these names mean the closures.

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(file, bytes, count)  // Safe as far as its caller's buffer has so many bytes.
}

private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(file, bytes, count)  // Safe as far as its caller's buffer has so many bytes.
}

private func systemClose(_ descriptor: Int32) -> Int32 {
  close(descriptor)
}
