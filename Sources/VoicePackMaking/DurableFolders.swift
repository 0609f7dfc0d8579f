// SPDX-License-Identifier: Apache-2.0

import Foundation

#if os(Linux)
  private import CRename
#endif

/// What Foundation has no call for: bringing a folder's entries to the disk, and exchanging two folders.
enum DurableFolders {
  static func synchronize(_ folder: URL) throws {
    // Safe: the text lives as long as the call.
    let descriptor = unsafe open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  /// Renames a folder to a name that nothing has.
  ///
  /// - Returns: false when something has it; then nothing was changed.
  static func rename(_ folder: URL, to place: URL) throws -> Bool {
    // Safe: the texts live as long as the call.
    if unsafe Foundation.rename(folder.path, place.path) == 0 { return true }
    guard [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno) else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    return false
  }

  /// Puts a folder in the place of another, which is removed.
  ///
  /// In one step, unless the file system cannot exchange (some network and stacked ones); there the other is moved aside
  /// first, to the folder's name with `.old`, and for a moment nothing has its name.
  static func replace(_ place: URL, with folder: URL) throws {
    let manager = FileManager.default
    if exchange(folder.path, place.path) {
      try? manager.removeItem(at: folder)  // the one that was replaced
      return
    }
    let aside = folder.appendingPathExtension("old")
    try manager.moveItem(at: place, to: aside)
    do {
      try manager.moveItem(at: folder, to: place)
    } catch {
      try? manager.moveItem(at: aside, to: place)
      throw error
    }
    try? manager.removeItem(at: aside)
  }

  private static func exchange(_ first: String, _ second: String) -> Bool {
    // Safe: the texts live as long as the calls.
    #if os(Linux)
      unsafe renameat2(AT_FDCWD, first, AT_FDCWD, second, 2) == 0
    #else
      unsafe renamex_np(first, second, UInt32(RENAME_SWAP)) == 0
    #endif
  }
}
