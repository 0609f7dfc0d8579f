// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation

extension SoundLibrary {
  /// Returns the names of all files that have a valid clip name, sorted; an empty array if the folder does not exist.
  ///
  /// - Throws: ``SoundLibraryError``.
  public func names() throws(SoundLibraryError) -> [String] {
    try entryNames().filter(Self.isClipName).sorted()
  }

  /// Returns the names of all entries of the folder, in no order; an empty array if the folder does not exist.
  func entryNames() throws(SoundLibraryError) -> [String] {
    try SoundsFolder.names(in: soundsDirectory, calls: calls)
  }

  /// Returns the folders that had a clip's name and were moved to another name, sorted by their paths; an empty array
  /// if there are none. They may contain somebody's files, so only a person may remove them.
  ///
  /// - Throws: ``SoundLibraryError``.
  public func foldersSetAside() throws(SoundLibraryError) -> [URL] {
    try entryNames().filter { $0.hasPrefix(SoundsFolder.setAsidePrefix) }.sorted()
      .map { soundsDirectory.appending(path: $0, directoryHint: .isDirectory) }
  }

  /// Removes a clip. The removal survives a power cut. A later request for the same clip makes it again.
  ///
  /// - Returns: Whether the clip existed. A folder, a symbolic link, a pipe, a socket or a device with the name is not
  ///   a clip, and stays.
  /// - Throws: ``SoundLibraryError``.
  @discardableResult
  public func remove(_ name: String) throws(SoundLibraryError) -> Bool {
    _ = try url(for: name)  // this refuses invalid clip names
    return try inFolder(while: .removing) { folder throws(SystemError) in try folder.remove(name) } != nil
  }
}
