// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

extension SoundLibrary {
  /// Returns the names of all files that have a valid clip name, sorted; an empty array when the folder does not exist.
  ///
  /// - Throws: ``SoundLibraryError``.
  public func names() throws(SoundLibraryError) -> [String] {
    try entryNames().filter(Self.isClipName).sorted()
  }

  /// Returns the names of all entries of the folder, in no order; an empty array when the folder does not exist.
  func entryNames() throws(SoundLibraryError) -> [String] {
    try SoundsFolder.names(in: soundsDirectory, calls: calls)
  }

  /// Removes a clip. It stays removed after a power cut. A later request for the same clip makes it again.
  ///
  /// - Returns: Whether the clip existed.
  /// - Throws: ``SoundLibraryError``, with the code `notAFile` when a folder, a symbolic link or a device has the name.
  @discardableResult
  public func remove(_ name: String) throws(SoundLibraryError) -> Bool {
    _ = try url(for: name)  // this refuses invalid clip names
    do throws(SystemError) {
      try SoundsFolder(existing: container, calls: calls).remove(name)
      return true
    } catch {
      if error.kind == .missing { return false }
      throw SoundLibraryError(error, while: .removing, in: soundsDirectory)
    }
  }
}
