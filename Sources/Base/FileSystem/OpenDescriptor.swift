// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A file descriptor that is closed at the end of this value's lifetime.
package struct OpenDescriptor: ~Copyable, Sendable {
  package let number: FileSystemCalls.Descriptor
  private let calls: FileSystemCalls

  package init(_ number: FileSystemCalls.Descriptor, calls: FileSystemCalls) {
    self.number = number
    self.calls = calls
  }

  deinit { calls.close(number) }

  /// Writes a file's bytes, or a folder's entries, to the disk.
  package func synchronize() throws(SystemError) {
    let (calls, number) = (calls, number)
    try retryingWhenInterrupted { () throws(SystemError) in try calls.synchronize(number) }
  }
}

// MARK: - Folders

extension OpenDescriptor {
  /// Opens a folder by its path. Symbolic links are followed, because the operator of the program chose the path.
  ///
  /// - Parameter permissions: The permissions with which missing folders on the path are created; nil to create none.
  ///   Created folders survive a loss of power.
  /// - Throws: ``SystemError``, of the kind `missing` if the folder does not exist and is not created.
  package static func folder(
    _ url: URL, making permissions: FileSystemCalls.Permissions? = nil, calls: FileSystemCalls
  ) throws(SystemError) -> OpenDescriptor {
    let path = url.path(percentEncoded: false)
    do throws(SystemError) {
      return try open(path, in: nil, calls: calls)
    } catch {
      let parent = url.deletingLastPathComponent()
      let name = url.lastPathComponent
      guard let permissions, error.kind == .missing, parent != url, name != "..", name != "/" else { throw error }
      try make(name, permissions, in: try folder(parent, making: permissions, calls: calls), calls: calls)
    }
    return try open(path, in: nil, calls: calls)
  }

  /// Opens a folder that is in an open folder. A symbolic link is refused with the kind `notAFolder`.
  ///
  /// - Parameter permissions: The permissions with which the folder is created if it is missing; nil not to create it.
  package static func folder(
    _ name: String, in parent: borrowing OpenDescriptor, making permissions: FileSystemCalls.Permissions? = nil,
    calls: FileSystemCalls
  ) throws(SystemError) -> OpenDescriptor {
    do throws(SystemError) {
      return try open(name, in: parent.number, calls: calls)
    } catch {
      guard let permissions, error.kind == .missing else { throw error }
      try make(name, permissions, in: parent, calls: calls)
    }
    return try open(name, in: parent.number, calls: calls)
  }

  private static func open(
    _ name: String, in parent: FileSystemCalls.Descriptor?, calls: FileSystemCalls
  ) throws(SystemError) -> OpenDescriptor {
    do throws(SystemError) {
      let number = try retryingWhenInterrupted { () throws(SystemError) in try calls.openFolder(parent, name) }
      return OpenDescriptor(number, calls: calls)
    } catch {
      throw error.isRefusedLink ? .notAFolder : error
    }
  }

  private static func make(
    _ name: String, _ permissions: FileSystemCalls.Permissions, in parent: borrowing OpenDescriptor,
    calls: FileSystemCalls
  ) throws(SystemError) {
    do throws(SystemError) {
      try calls.makeFolder(parent.number, name, permissions)
    } catch {
      guard error.kind == .exists else { throw error }
    }
    // The parent is synchronized even if another process has just created the folder. If a folder on the path of a file
    // is not on the disk, the file is also lost after a loss of power.
    try parent.synchronize()
  }
}
