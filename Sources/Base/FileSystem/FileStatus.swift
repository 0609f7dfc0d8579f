// SPDX-License-Identifier: Apache-2.0

/// The part of `stat(2)` that identifies a file. It also says whether the file is a regular file, when it was changed,
/// and who may read and change it.
package struct FileStatus: Sendable, Equatable {
  package var device: UInt64
  package var inode: UInt64
  /// The number of names of the file; 0 for a file that was removed while it was open.
  package var links: UInt64
  package var isRegularFile: Bool
  package var byteCount: Int
  /// The time of the last change of the file's content, in whole seconds since 1970.
  package var modifiedAt: Int = 0
  /// The nanoseconds of ``modifiedAt``, to be added to its seconds.
  package var modifiedNanoseconds: Int = 0
  /// The number (uid) of the user who owns the file.
  package var owner: UInt32 = 0
  /// The permissions, such as `0o600`.
  package var permissions: UInt32 = 0o600

  /// Returns whether both statuses belong to the same file, even under different names.
  package func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}
