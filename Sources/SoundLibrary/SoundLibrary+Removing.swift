// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

extension SoundLibrary {
  /// The names of all files that have a clip's name, in order; none when there is no folder.
  ///
  /// - Throws: ``SoundLibraryError``.
  public func names() throws(SoundLibraryError) -> [String] {
    let path = soundsDirectory.path(percentEncoded: false)
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path).filter { (try? url(for: $0)) != nil }.sorted()
    } catch CocoaError.fileReadNoSuchFile {
      return []
    } catch CocoaError.fileReadNoPermission {
      throw SoundLibraryError(code: .notPermitted, action: .reading, folder: soundsDirectory)
    } catch {
      throw SoundLibraryError(code: .systemFailure, action: .reading, folder: soundsDirectory)
    }
  }

  /// Removes a clip. It stays removed after a power cut; who asks for the same clip gets it made anew.
  ///
  /// - Returns: whether there was one.
  /// - Throws: ``SoundLibraryError``, with the code `notAFile` when a folder, a symbolic link or a device has the name.
  @discardableResult
  public func remove(_ name: String) throws(SoundLibraryError) -> Bool {
    _ = try url(for: name)  // which refuses a name that no clip has
    do throws(SystemError) {
      try SoundsFolder(existing: container, calls: calls).remove(name)
      return true
    } catch {
      if error.kind == .missing { return false }
      throw SoundLibraryError(error, while: .removing, in: soundsDirectory)
    }
  }
}
