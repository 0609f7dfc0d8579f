// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// A file that is being written under a second name, which ends in `.part`. If it is not committed, it is removed.
///
/// A process that is killed can leave the second file behind; the next write of the same file removes it.
final class PartialFile: Sendable {
  private let folder: FileSystemCalls.Descriptor
  private let descriptor: FileSystemCalls.Descriptor
  private let name: String
  private let calls: FileSystemCalls

  private var temporary: String { "\(name).part" }

  /// - Parameter file: The final place. Its folder must exist.
  init(_ file: URL, calls: FileSystemCalls) throws(SystemError) {
    name = file.lastPathComponent
    self.calls = calls
    let (path, temporary) = (file.deletingLastPathComponent().path(percentEncoded: false), "\(name).part")
    let folder = try retryingWhenInterrupted { () throws(SystemError) in try calls.openFolder(nil, path) }
    try? calls.remove(folder, temporary)
    do throws(SystemError) {
      descriptor = try retryingWhenInterrupted { () throws(SystemError) in
        try calls.createFile(folder, temporary, .ownerOnly)
      }
    } catch {
      calls.close(folder)
      throw error
    }
    self.folder = folder
  }

  deinit {
    if isOwn { try? calls.remove(folder, temporary) }
    calls.close(descriptor)
    calls.close(folder)
  }

  /// Whether the second name still is that of this file, and not that of another write of the same file.
  private var isOwn: Bool {
    guard let own = try? calls.status(descriptor), let named = try? calls.statusOfName(folder, temporary) else {
      return false
    }
    return own.isSameFile(as: named)
  }

  func write(_ bytes: [UInt8]) throws(SystemError) { try calls.writeAll(bytes, to: descriptor) }

  /// Gives the file its name, and returns when this is on the disk.
  func commit() throws(SystemError) {
    try retryingWhenInterrupted { () throws(SystemError) in try calls.synchronize(descriptor) }
    guard isOwn else { throw .busy }
    try calls.rename(folder, temporary, name)
    try retryingWhenInterrupted { () throws(SystemError) in try calls.synchronize(folder) }
  }
}
