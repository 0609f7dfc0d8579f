// SPDX-License-Identifier: Apache-2.0

package import Foundation

#if os(Linux)
  private import CLinux
#endif

/// Functions for folders whose changes survive a loss of power.
package enum DurableFolder {
  /// Creates a folder and any missing folders above it.
  ///
  /// - Throws: ``SystemError``, of the kind `notAFolder` if something other than a folder has the name.
  package static func make(
    _ folder: URL, _ permissions: FileSystemCalls.Permissions, calls: FileSystemCalls = .system
  ) throws(SystemError) {
    let folder = folder.absoluteURL.standardizedFileURL
    var isFolder: ObjCBool = false
    // An existing folder is not opened, because the user may be allowed to use it but not to list it.
    // Safe: Foundation writes only to a local variable.
    if unsafe FileManager.default.fileExists(atPath: folder.path(percentEncoded: false), isDirectory: &isFolder) {
      guard isFolder.boolValue else { throw .notAFolder }
      return
    }
    _ = try OpenDescriptor.folder(folder, making: permissions, calls: calls)
  }

  /// Writes a folder's entries to the disk.
  package static func synchronize(_ folder: URL, calls: FileSystemCalls = .system) throws(SystemError) {
    try OpenDescriptor.folder(folder, calls: calls).synchronize()
  }

  /// Renames a folder, unless something already has the new name.
  ///
  /// - Returns: False if something has the new name. Nothing was changed then.
  /// - Throws: ``SystemError``.
  package static func rename(_ folder: URL, to place: URL) throws(SystemError) -> Bool {
    // Safe: the texts live as long as the call.
    if unsafe Foundation.rename(folder.path, place.path) == 0 { return true }
    guard [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno) else { throw .last }
    return false
  }

  /// Replaces a folder with another one and removes the replaced folder.
  ///
  /// The replacement is a single step if the file system can exchange two names. Some network and stacked file systems
  /// cannot. On those, the old folder first gets the new folder's name with `.old` appended. For a moment, no folder
  /// then has the old folder's name.
  ///
  /// - Throws: Foundation's error of the move that failed. The old folder then has its own name again.
  package static func replace(_ place: URL, with folder: URL) throws {
    let manager = FileManager.default
    if exchange(folder.path, place.path) {
      try? manager.removeItem(at: folder)  // the replaced folder
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
