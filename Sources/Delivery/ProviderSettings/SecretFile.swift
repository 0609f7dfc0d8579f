// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// A file with secrets, which only its owner may read.
enum SecretFile {
  /// Reads a file of at most ``SettingsNode/largestFile`` bytes. A symbolic link is followed.
  ///
  /// - Throws: ``ProviderSettingsError`` with `fileUnreadable`; `fileNotPrivate` if another user may read or change the
  ///   file, or owns it. Files of root are accepted.
  static func read(_ url: URL) throws(ProviderSettingsError) -> Data {
    func fault(_ code: ProviderSettingsError.Code, _ problem: String, _ remedy: String) -> ProviderSettingsError {
      ProviderSettingsError(code, file: url.lastPathComponent, problem, remedy: remedy)
    }
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    let descriptor = open(url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw fault(
        .fileUnreadable, "cannot be read (\(String(cString: strerror(errno))))", "check its name and its owner")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // The check uses the open file and not its name, because the name could lead to another file a moment later.
    guard let status = try? FileSystemCalls.system.status(descriptor), status.isRegularFile else {
      throw fault(.fileUnreadable, "is not a file", "give the name of a file")
    }
    guard status.owner == geteuid() || status.owner == 0 else {
      throw fault(.fileNotPrivate, "belongs to another user", "give it to the user of the service with chown")
    }
    guard status.permissions & 0o077 == 0 else {
      throw fault(
        .fileNotPrivate, "can be read or changed by other users, and holds secrets", "run chmod 600 on it")
    }
    do {
      // The call returns nil at the end of a file, and so for an empty file.
      return try handle.read(upToCount: SettingsNode.largestFile + 1) ?? Data()
    } catch {
      throw fault(.fileUnreadable, "cannot be read", "check the disk")
    }
  }
}
