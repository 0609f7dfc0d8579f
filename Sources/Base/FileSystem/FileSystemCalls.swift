// SPDX-License-Identifier: Apache-2.0

/// The system calls on files and folders. Each is a closure, so that a test can make any of them fail at any step.
///
/// A name is relative to an open folder. Without a folder, the name is a path. The caller owns each returned descriptor
/// and closes it. Each call throws ``SystemError`` with the system's `errno`. The error can have the kind
/// `interrupted`; see ``retryingWhenInterrupted(_:)``.
package struct FileSystemCalls: Sendable {
  package typealias Descriptor = Int32

  /// Opens a folder. Symbolic links are followed if the name is a path, and otherwise refused.
  package var openFolder: @Sendable (_ parent: Descriptor?, _ name: String) throws(SystemError) -> Descriptor

  /// Makes a folder.
  package var makeFolder:
    @Sendable (_ parent: Descriptor, _ name: String, _ permissions: Permissions) throws(SystemError) -> Void

  /// Makes a file that does not exist yet and opens it for writing. Symbolic links are refused.
  package var createFile:
    @Sendable (_ folder: Descriptor?, _ name: String, _ permissions: Permissions) throws(SystemError) -> Descriptor

  /// Opens a file for reading. A symbolic link is refused. Opening a pipe does not block, and opening a terminal does
  /// not make it the controlling terminal of the process.
  package var openFile: @Sendable (_ folder: Descriptor, _ name: String) throws(SystemError) -> Descriptor

  /// Takes the lock of an open file without waiting. If the lock is held through another descriptor of the file, the
  /// error has the kind `busy`. The system releases the lock when the last descriptor is closed, even after `kill -9`.
  package var lock: @Sendable (_ file: Descriptor) throws(SystemError) -> Void

  /// Sets the time of an open file's last change, in seconds since 1970.
  package var touch: @Sendable (_ file: Descriptor, _ time: Int) throws(SystemError) -> Void

  /// Returns the status of an open file.
  package var status: @Sendable (_ file: Descriptor) throws(SystemError) -> FileStatus

  /// Returns the status of a folder's entry. A symbolic link is not followed.
  package var statusOfName: @Sendable (_ folder: Descriptor, _ name: String) throws(SystemError) -> FileStatus

  /// Writes some of the bytes and returns the number of bytes written.
  package var write: @Sendable (_ file: Descriptor, _ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int

  /// Reads up to `count` bytes. The array is empty at the end of the file.
  package var read: @Sendable (_ file: Descriptor, _ count: Int) throws(SystemError) -> [UInt8]

  /// Asks the system to begin writing a file's bytes to the disk, and does not wait for it. Only ``synchronize`` makes
  /// sure that the bytes are on the disk. On systems without such a call, nothing happens.
  package var startWriting: @Sendable (_ file: Descriptor) throws(SystemError) -> Void

  /// Writes a file's bytes, or a folder's entries, to the disk.
  package var synchronize: @Sendable (_ file: Descriptor) throws(SystemError) -> Void

  /// Makes sure that a file's bytes are on the disk before anything that is written later. On Apple's systems,
  /// `F_BARRIERFSYNC` orders the writes, so the bytes themselves may reach the disk after this call has returned
  /// (fcntl(2)). On other systems, this call is the same as ``synchronize``.
  package var orderWrites: @Sendable (_ file: Descriptor) throws(SystemError) -> Void

  /// Renames a file within its folder and replaces an existing file with the new name. If `name` ends in a slash, only
  /// a folder is renamed.
  package var rename: @Sendable (_ folder: Descriptor, _ name: String, _ newName: String) throws(SystemError) -> Void

  /// Removes a file's name from its folder.
  package var remove: @Sendable (_ folder: Descriptor, _ name: String) throws(SystemError) -> Void

  /// Returns the names of a folder's entries, in no order.
  package var names: @Sendable (_ path: String) throws(SystemError) -> [String]

  package var close: @Sendable (_ descriptor: Descriptor) -> Void

  /// The permissions of a new file or folder, before the process's umask is applied.
  package enum Permissions: Sendable {
    /// Only the user may read and write: 0600 for a file, 0700 for a folder.
    case ownerOnly
    /// All users may read, and only the user may write: 0644 for a file, 0755 for a folder.
    case readableByAll
  }
}

extension FileSystemCalls {
  /// Writes all of the bytes.
  package func writeAll(_ bytes: [UInt8], to file: Descriptor) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = try retryingWhenInterrupted { () throws(SystemError) in try write(file, rest) }
      // A file that takes no bytes and reports no error would make this loop run forever.
      guard count > 0 else { throw .inputOutput }
      rest = rest.dropFirst(count)
    }
  }
}

/// Repeats a system call for as long as a signal interrupts it.
package func retryingWhenInterrupted<Result>(
  _ call: () throws(SystemError) -> Result
) throws(SystemError) -> Result {
  while true {
    do throws(SystemError) {
      return try call()
    } catch {
      guard error.kind == .interrupted else { throw error }
    }
  }
}
