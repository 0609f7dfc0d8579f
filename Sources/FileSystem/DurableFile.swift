// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Files that exist completely or not at all, also after a loss of power. Only their owner may read them (0600).
package enum DurableFile {
  /// Writes a file, or replaces one, and returns when its bytes and its name are on the disk.
  ///
  /// The bytes go to a second file first, whose name ends in `.new`; a process that is killed may leave that behind, and
  /// the next write removes it. Two writers of the same file must take turns.
  ///
  /// - Throws: ``SystemError``; then the file is as it was before. If the folder alone cannot be synchronized, the new
  ///   file has its name already.
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

  /// Makes an empty file, and leaves one that exists as it is.
  ///
  /// A file that exists is not even opened: closing it would drop the locks that SQLite has on it in this process. A
  /// folder that its user may use but not list is not synchronized; SQLite does without that as well.
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
