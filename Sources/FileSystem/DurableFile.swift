// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Functions for files that exist completely or not at all, even after a loss of power. Only the owner can read the
/// files (0600).
package enum DurableFile {
  /// Writes a file or replaces an existing one, and returns when its bytes and its name are on the disk.
  ///
  /// The bytes go first to a second file whose name ends in `.new`. A process that is killed can leave that file
  /// behind; the next write removes it. Two writers of the same file must take turns.
  ///
  /// - Throws: ``SystemError``. The file is then unchanged, with one exception: if only the folder cannot be
  ///   synchronized, the new file is already in place.
  package static func write(
    _ bytes: some Sequence<UInt8>, to file: URL, calls: FileSystemCalls = .system
  ) throws(SystemError) {
    let folder = try OpenDescriptor.folder(file.deletingLastPathComponent(), calls: calls)
    let name = file.lastPathComponent
    let temporary = "\(name).new"
    try? calls.remove(folder.number, temporary)
    let number = try retryingWhenInterrupted { () throws(SystemError) in
      try calls.createFile(folder.number, temporary, .ownerOnly)
    }
    let descriptor = OpenDescriptor(number, calls: calls)
    do throws(SystemError) {
      try calls.writeAll(Array(bytes), to: descriptor.number)
      try descriptor.synchronize()
      try calls.rename(folder.number, temporary, name)
    } catch {
      // The first error is the one to report.
      try? calls.remove(folder.number, temporary)
      throw error
    }
    try folder.synchronize()
  }

  /// Removes a file if it exists, and returns when this is on the disk.
  ///
  /// - Throws: ``SystemError``.
  package static func remove(_ file: URL, calls: FileSystemCalls = .system) throws(SystemError) {
    do throws(SystemError) {
      let folder = try OpenDescriptor.folder(file.deletingLastPathComponent(), calls: calls)
      try calls.remove(folder.number, file.lastPathComponent)
      try folder.synchronize()
    } catch {
      guard error.kind == .missing else { throw error }
    }
  }

  /// Creates an empty file; leaves an existing file unchanged.
  ///
  /// An existing file is not even opened, because closing it would release the locks that SQLite holds on it in this
  /// process. If the user may use the folder but not list it, the folder is not synchronized. SQLite does not
  /// synchronize it then either.
  ///
  /// - Throws: ``SystemError``.
  package static func createEmpty(_ file: URL, calls: FileSystemCalls = .system) throws(SystemError) {
    do throws(SystemError) {
      let path = file.path(percentEncoded: false)
      let number = try retryingWhenInterrupted { () throws(SystemError) in
        try calls.createFile(nil, path, .ownerOnly)
      }
      calls.close(number)
    } catch {
      guard error.kind == .exists else { throw error }
      return
    }
    do throws(SystemError) {
      try OpenDescriptor.folder(file.deletingLastPathComponent(), calls: calls).synchronize()
    } catch {
      guard error.kind == .notPermitted || error.kind == .invalid else { throw error }
    }
  }
}
