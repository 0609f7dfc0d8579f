// SPDX-License-Identifier: Apache-2.0

/// The file system, as far as a sound library needs it: one closure a system call, so that a test can make any of
/// them fail at any step. A descriptor that one returns belongs to the caller.
struct FileSystemCalls: Sendable {
  typealias Descriptor = Int32

  /// Opens a folder. Without a parent the name is a path and symbolic links are followed; with one they are refused.
  var openFolder: @Sendable (_ parent: Descriptor?, _ name: String) throws(SystemFailure) -> Descriptor

  /// Makes a folder that the user may write and all may read (0755, less the process's umask).
  var makeFolder: @Sendable (_ parent: Descriptor, _ name: String) throws(SystemFailure) -> Void

  /// Makes a file that was not there and opens it for writing (0644, less the process's umask).
  var createFile: @Sendable (_ folder: Descriptor, _ name: String) throws(SystemFailure) -> Descriptor

  /// Opens a file for reading; a symbolic link is refused, and a pipe does not keep the caller waiting.
  var openFile: @Sendable (_ folder: Descriptor, _ name: String) throws(SystemFailure) -> Descriptor

  /// Takes the lock of an open file without waiting; the failure is of the kind `busy` when another open file has it.
  /// The system releases it when the last descriptor is closed, by `kill -9` too.
  var lock: @Sendable (_ file: Descriptor) throws(SystemFailure) -> Void

  var status: @Sendable (_ file: Descriptor) throws(SystemFailure) -> FileStatus

  /// The status of what a folder has under a name; of a symbolic link, its own.
  var statusOfName: @Sendable (_ folder: Descriptor, _ name: String) throws(SystemFailure) -> FileStatus

  /// Writes some of the bytes and returns how many.
  var write: @Sendable (_ file: Descriptor, _ bytes: ArraySlice<UInt8>) throws(SystemFailure) -> Int

  /// Reads up to so many bytes; none at the end of the file.
  var read: @Sendable (_ file: Descriptor, _ count: Int) throws(SystemFailure) -> [UInt8]

  /// Brings a file's bytes, or a folder's entries, to the disk.
  var synchronize: @Sendable (_ file: Descriptor) throws(SystemFailure) -> Void

  /// Gives a file another name in its folder, in place of what has that name.
  var rename: @Sendable (_ folder: Descriptor, _ name: String, _ newName: String) throws(SystemFailure) -> Void

  var remove: @Sendable (_ folder: Descriptor, _ name: String) throws(SystemFailure) -> Void

  var close: @Sendable (_ descriptor: Descriptor) -> Void
}

/// What tells one file from another, and a clip from anything else.
struct FileStatus: Sendable, Equatable {
  var device: UInt64
  var inode: UInt64
  /// How many names it has; 0 when it was removed while open.
  var links: UInt64
  var isRegularFile: Bool
  var byteCount: Int

  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}

/// A system call that failed, by its `errno`.
struct SystemFailure: Error, Sendable, Equatable {
  var number: Int32

  enum Kind: Sendable {
    case missing, exists, interrupted, busy
    case noSpace, readOnly, notPermitted, tooLarge, notAFolder, notAFile, tooManyOpenFiles
    case other
  }
}

/// Makes a call again for as long as a signal interrupts it.
func retryingWhenInterrupted<Result>(
  _ call: () throws(SystemFailure) -> Result
) throws(SystemFailure) -> Result {
  while true {
    do throws(SystemFailure) {
      return try call()
    } catch {
      guard error.kind == .interrupted else { throw error }
    }
  }
}

/// A descriptor that is closed when it goes out of use.
struct OpenDescriptor: ~Copyable {
  let number: FileSystemCalls.Descriptor
  private let calls: FileSystemCalls

  init(_ number: FileSystemCalls.Descriptor, calls: FileSystemCalls) {
    self.number = number
    self.calls = calls
  }

  deinit { calls.close(number) }
}
