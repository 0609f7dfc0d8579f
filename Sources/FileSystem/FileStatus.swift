// SPDX-License-Identifier: Apache-2.0

/// The part of `stat(2)` that identifies a file and says whether it is a regular file.
package struct FileStatus: Sendable, Equatable {
  package var device: UInt64
  package var inode: UInt64
  /// The number of names; 0 for a file that was removed while it was open.
  package var links: UInt64
  package var isRegularFile: Bool
  package var byteCount: Int

  package init(device: UInt64, inode: UInt64, links: UInt64, isRegularFile: Bool, byteCount: Int) {
    self.device = device
    self.inode = inode
    self.links = links
    self.isRegularFile = isRegularFile
    self.byteCount = byteCount
  }

  /// Returns whether both statuses are those of the same file, even under different names.
  package func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}
