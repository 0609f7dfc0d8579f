// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Functions for files that exist completely or not at all, even after a loss of power. Only the owner can read the
/// files (mode 0600).
package enum DurableFile {
  /// Writes a file or replaces an existing one, and returns when its bytes and its name are on the disk.
  ///
  /// The bytes go first to a second file whose name ends in `.new`. A process that is killed can leave that file
  /// behind; the next write removes it. Two writers must not write the same file at the same time.
  ///
  /// - Throws: ``SystemError``. The file is then unchanged, with one exception: if only the folder cannot be
  ///   synchronized, the new file is already in place.
  package static func write(
    _ bytes: some Sequence<UInt8>, to file: URL, calls: FileSystemCalls = .system
  ) throws(SystemError) {
    let folder = try OpenDescriptor.folder(file.deletingLastPathComponent(), calls: calls)
    _ = try put(bytes, in: folder, as: file.lastPathComponent, calls, calls.synchronize, isCurrent: { true })
    try folder.synchronize()
  }

  /// Replaces a file as ``write(_:to:calls:)`` does, but returns as soon as all processes see the new bytes. After a
  /// loss of power, the file has either the old bytes or the new ones. If ``DurableFolder/synchronize(_:calls:)`` was
  /// called before the loss of power, the file has the new bytes.
  ///
  /// - Parameter isCurrent: Returns whether the new bytes are still wanted. Giving the new bytes to the disk may take a
  ///   while. This closure is called afterwards, just before they replace the old bytes.
  /// - Returns: Whether the file was replaced. It is unchanged if `isCurrent` returned false.
  /// - Throws: ``SystemError``. The file is then unchanged.
  package static func replace(
    _ bytes: some Sequence<UInt8>, at file: URL, calls: FileSystemCalls = .system, isCurrent: () -> Bool
  ) throws(SystemError) -> Bool {
    let folder = try OpenDescriptor.folder(file.deletingLastPathComponent(), calls: calls)
    return try put(bytes, in: folder, as: file.lastPathComponent, calls, calls.orderWrites, isCurrent: isCurrent)
  }

  private static func put(
    _ bytes: some Sequence<UInt8>, in folder: borrowing OpenDescriptor, as name: String, _ calls: FileSystemCalls,
    _ toDisk: (FileSystemCalls.Descriptor) throws(SystemError) -> Void, isCurrent: () -> Bool
  ) throws(SystemError) -> Bool {
    let temporary = "\(name).new"
    try? calls.remove(folder.number, temporary)
    let number = try retryingWhenInterrupted { () throws(SystemError) in
      try calls.createFile(folder.number, temporary, .ownerOnly)
    }
    let descriptor = OpenDescriptor(number, calls: calls)
    do throws(SystemError) {
      try calls.writeAll(Array(bytes), to: descriptor.number)
      let file = descriptor.number
      try retryingWhenInterrupted { () throws(SystemError) in try toDisk(file) }
      guard isCurrent() else {
        try calls.remove(folder.number, temporary)
        return false
      }
      try calls.rename(folder.number, temporary, name)
      return true
    } catch {
      // The error of the writing is reported, not the error of this removal.
      try? calls.remove(folder.number, temporary)
      throw error
    }
  }

  /// Gives a complete file another name in its folder, and returns when its bytes and its name are on the disk. An
  /// existing file with the new name is replaced.
  ///
  /// - Throws: ``SystemError``. The file then has its former name, unless only the folder cannot be synchronized.
  package static func rename(_ file: URL, to name: String, calls: FileSystemCalls = .system) throws(SystemError) {
    let folder = try OpenDescriptor.folder(file.deletingLastPathComponent(), calls: calls)
    let number = try calls.openFile(folder.number, file.lastPathComponent)
    try OpenDescriptor(number, calls: calls).synchronize()
    try calls.rename(folder.number, file.lastPathComponent, name)
    try folder.synchronize()
  }

  /// Returns a file's bytes; nil if it does not exist.
  ///
  /// - Throws: ``SystemError/inputOutput`` for every reason why the file cannot be read.
  package static func contents(of file: URL) throws(SystemError) -> Data? {
    do {
      return try Data(contentsOf: file)
    } catch {
      guard (error as? CocoaError)?.code == .fileReadNoSuchFile else { throw .inputOutput }
      return nil
    }
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

  /// Creates an empty file. An existing file is unchanged.
  ///
  /// An existing file is not even opened, because closing it would release the locks that SQLite holds on it in this
  /// process. If the user may use the folder but not list it, the folder is not synchronized. SQLite does not
  /// synchronize such a folder either.
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
