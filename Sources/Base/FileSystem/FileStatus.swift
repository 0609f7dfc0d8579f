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
  package var modifiedAt: Int
  /// The nanoseconds of ``modifiedAt``, to be added to its seconds.
  package var modifiedNanoseconds: Int
  /// The number (uid) of the user who owns the file.
  package var owner: UInt32
  /// The permissions, such as `0o600`.
  package var permissions: UInt32

  package init(
    device: UInt64, inode: UInt64, links: UInt64, isRegularFile: Bool, byteCount: Int, modifiedAt: Int = 0,
    modifiedNanoseconds: Int = 0, owner: UInt32 = 0, permissions: UInt32 = 0o600
  ) {
    self.device = device
    self.inode = inode
    self.links = links
    self.isRegularFile = isRegularFile
    self.byteCount = byteCount
    self.modifiedAt = modifiedAt
    self.modifiedNanoseconds = modifiedNanoseconds
    self.owner = owner
    self.permissions = permissions
  }

  /// Returns whether both statuses belong to the same file, even under different names.
  package func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}
