// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// A file that is being written under a temporary name, which ends in `.part`. If it is not committed, it is removed.
///
/// A process that is killed can leave the temporary file behind. The next write of the same file removes it.
final class PartialFile: Sendable {
  private let folder: OpenDescriptor
  private let file: OpenDescriptor
  private let name: String
  private let calls: FileSystemCalls

  private var temporary: String { "\(name).part" }

  /// - Parameter file: The final place. Its folder must exist.
  init(_ file: URL, calls: FileSystemCalls) throws(SystemError) {
    let (name, temporary) = (file.lastPathComponent, "\(file.lastPathComponent).part")
    let folder = try OpenDescriptor.folder(file.deletingLastPathComponent(), calls: calls)
    try? calls.remove(folder.number, temporary)
    let number = try retryingWhenInterrupted { () throws(SystemError) in
      try calls.createFile(folder.number, temporary, .ownerOnly)
    }
    self.file = OpenDescriptor(number, calls: calls)
    self.folder = folder
    self.name = name
    self.calls = calls
  }

  deinit {
    if isOwn { try? calls.remove(folder.number, temporary) }
  }

  /// Whether the temporary name still belongs to this file, and not to another write of the same file.
  private var isOwn: Bool {
    guard let own = try? calls.status(file.number), let named = try? calls.statusOfName(folder.number, temporary) else {
      return false
    }
    return own.isSameFile(as: named)
  }

  func write(_ bytes: [UInt8]) throws(SystemError) { try calls.writeAll(bytes, to: file.number) }

  /// Renames the file to its final name, and returns when the new name is on the disk.
  func commit() throws(SystemError) {
    try file.synchronize()
    guard isOwn else { throw .busy }
    try calls.rename(folder.number, temporary, name)
    try folder.synchronize()
  }
}
