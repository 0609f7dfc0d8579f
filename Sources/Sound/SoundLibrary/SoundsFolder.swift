// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// An open `Library/Sounds` folder, or another folder of `Library`. Every file is named relative to the open folder.
/// Nothing is therefore written to another folder, even if the path of this folder changes in the meantime.
///
/// Temporary files use a few fixed names, and each is locked by its writer. Files of killed processes can therefore be
/// removed without scanning a folder of a million clips. If a publisher finds that a name is taken, it tries to lock
/// the file. If the writer's process has ended, the system has released the lock, and the publisher gets it. This
/// method needs no clocks. It needs no process numbers either, which are reused and differ between containers of one
/// machine.
///
/// - A file that is being written is never removed, because its lock is held. The writer takes the lock right after it
///   creates the file. If another publisher takes the lock in between, that publisher removes the file. The writer then
///   finds that the lock is taken or that the file has no name left, and uses another name.
/// - A file is removed only while its lock is held. During this time, no other publisher can create a file with its
///   name.
/// - On a file system without locks, no temporary file is ever removed. `O_EXCL` still ensures that two publishers
///   never write the same file.
struct SoundsFolder: ~Copyable, Sendable {
  /// The number of names that a publisher tries first, starting at a random name. At most this many abandoned files
  /// exist, and later publishers find and remove them.
  static let temporaryNameCount = 64

  /// The total number of names that a publisher tries. Names beyond the first ``temporaryNameCount`` are used only
  /// while all of the first names are in use.
  static let temporaryNameLimit = 1024

  /// The number of attempts to get a lock that another process holds. A lock is held only for a few system calls,
  /// unless its process is stopped. The next constant is the pause between two attempts in seconds.
  static let lockAttempts = 20
  static let lockPause: TimeInterval = 0.001

  static let temporaryPrefix = ".publishing-"

  static func temporaryName(_ index: Int) -> String { "\(temporaryPrefix)\(index)" }

  /// The prefix of the new name for a folder that had a clip's name and is moved away.
  static let setAsidePrefix = ".set-aside-"

  /// The number of names for folders that were moved away.
  static let setAsideLimit = 1024

  let folder: OpenDescriptor
  let calls: FileSystemCalls

  /// Opens a folder of the container's `Library`.
  ///
  /// - Parameter permissions: The permissions with which missing folders on the path are created; nil to create none.
  /// - Throws: ``SystemError``, of the kind `missing` when the folder does not exist and is not created.
  init(
    of container: GroupContainer, name: String = "Sounds", making permissions: FileSystemCalls.Permissions? = nil,
    calls: FileSystemCalls
  ) throws(SystemError) {
    let root = try OpenDescriptor.folder(container.directory, making: permissions, calls: calls)
    let library = try OpenDescriptor.folder("Library", in: root, making: permissions, calls: calls)
    folder = try OpenDescriptor.folder(name, in: library, making: permissions, calls: calls)
    self.calls = calls
  }

  /// Writes a file under a temporary name and renames it when all of its bytes are on the disk.
  ///
  /// - Parameters:
  ///   - use: The first use of the file.
  ///   - setsFolderAside: See ``replace(_:by:setsFolderAside:)``.
  /// - Returns: See ``replace(_:by:setsFolderAside:)``.
  func publish(
    _ bytes: [UInt8], as name: String, use: SoundUse, setsFolderAside: Bool = true
  ) throws(SystemError) -> String? {
    let temporary = try write(bytes, startingAt: Int.random(in: 0..<Self.temporaryNameCount), use: use)
    let setAside: String?
    do throws(SystemError) {
      try temporary.file.synchronize()
      setAside = try replace(name, by: temporary.name, setsFolderAside: setsFolderAside)
    } catch {
      // The error of the writing is reported, not the error of this removal.
      try? calls.remove(folder.number, temporary.name)
      throw error
    }
    try folder.synchronize()
    return setAside
  }

  /// Writes a file under a temporary name. Its bytes are not synchronized. No file is left after an error.
  ///
  /// - Parameters:
  ///   - first: The number of the temporary name that is tried first.
  ///   - use: The first use of the file.
  func write(_ bytes: [UInt8], startingAt first: Int, use: SoundUse) throws(SystemError) -> Temporary {
    let temporary = try makeTemporary(startingAt: first)
    do throws(SystemError) {
      try calls.writeAll(bytes, to: temporary.file.number)
    } catch {
      // The error of the writing is reported, not the error of this removal.
      try? calls.remove(folder.number, temporary.name)
      throw error
    }
    try? calls.touch(temporary.file.number, use.time)
    return temporary
  }

  /// Renames a temporary file, and replaces whatever has the new name: a file, a symbolic link, a pipe, a socket or a
  /// device. A folder cannot be replaced and may contain somebody's files, so it is moved to another name.
  ///
  /// - Parameter setsFolderAside: Whether a folder with the name is moved away. If false, such a folder is an error.
  /// - Returns: The new name of a folder that was moved away; nil if no folder was moved.
  func replace(_ name: String, by newName: String, setsFolderAside: Bool = true) throws(SystemError) -> String? {
    if let old = try? openFile(name) {
      waitForRemoval(of: old)
      return try put(newName, at: name, setsFolderAside)
    }
    return try put(newName, at: name, setsFolderAside)
  }

  /// Waits until another process has finished removing a file. Otherwise, the removal could delete the new file
  /// instead.
  private func waitForRemoval(of old: borrowing OpenDescriptor) {
    for _ in 0..<Self.lockAttempts {
      do throws(SystemError) {
        return try calls.lock(old.number)
      } catch {
        guard error.kind == .busy else { return }
        Thread.sleep(forTimeInterval: Self.lockPause)  // no event announces that a lock was released
      }
    }
  }

  private func put(_ file: String, at name: String, _ setsFolderAside: Bool) throws(SystemError) -> String? {
    var setAside: String?
    for number in 0..<Self.setAsideLimit {
      do throws(SystemError) {
        try calls.rename(folder.number, file, name)
        return setAside
      } catch {
        guard error.kind == .notAFile, setsFolderAside else { throw error }
      }
      let place = "\(Self.setAsidePrefix)\(number)"
      // If this name is taken, the next one is tried. The slash after `name` makes the system move only a folder.
      // Another publisher may have moved the folder away in the meantime, and its clip must not be moved.
      if (try? calls.rename(folder.number, "\(name)/", place)) != nil { setAside = place }
    }
    throw .notAFile
  }

  /// Returns the bytes of a file.
  ///
  /// - Parameter use: The time of the use; nil if this reading does not count as a use.
  /// - Throws: ``SystemError``, of the kind `missing` if the file does not exist.
  func contents(of name: String, atMost limit: Int, use: SoundUse? = nil) throws(SystemError) -> [UInt8] {
    let file = try openFile(name)
    let status = try calls.status(file.number)
    guard status.isRegularFile else { throw .notAFile }
    guard status.byteCount <= limit else { throw .tooLarge }
    if let use, use.isNews(status) { try mark(use, name) }
    var bytes: [UInt8] = []
    while true {
      // One more byte than expected is requested. The first call then reads the whole file, and the second call finds
      // its end.
      let count = max(status.byteCount - bytes.count, 0) + 1
      let some = try retryingWhenInterrupted { () throws(SystemError) in try calls.read(file.number, count) }
      if some.isEmpty { return bytes }
      if bytes.isEmpty { bytes = some } else { bytes += some }
      guard bytes.count <= limit else { throw .tooLarge }
    }
  }

  /// Removes a file and synchronizes the folder. If the file does not exist, it throws an error of the kind `missing`.
  func remove(_ name: String) throws(SystemError) {
    guard try calls.statusOfName(folder.number, name).isRegularFile else { throw .notAFile }
    try calls.remove(folder.number, name)
    try folder.synchronize()
  }

  /// Returns the status of a file. If the file does not exist, it throws an error of the kind `missing`.
  func status(of name: String) throws(SystemError) -> FileStatus {
    try calls.statusOfName(folder.number, name)
  }

  /// Records that a file is used, unless its last recorded use is recent.
  ///
  /// - Throws: An error of the kind `missing` if the file does not exist or is being removed. The same error is thrown
  ///   if the file belongs to another user, because the use cannot be recorded. The caller then makes the file again.
  func mark(_ use: SoundUse, _ name: String) throws(SystemError) {
    for _ in 0..<Self.lockAttempts {
      let status = try status(of: name)
      guard status.isRegularFile else { throw .notAFile }
      guard use.isNews(status) else { return }
      if try mark(use, try openFile(name)) { return }
      Thread.sleep(forTimeInterval: Self.lockPause)  // no event announces that a lock was released
    }
    throw .missing
  }

  /// - Returns: Whether the use was recorded; false if another process uses, replaces or removes the file at the same
  ///   time.
  private func mark(_ use: SoundUse, _ file: consuming OpenDescriptor) throws(SystemError) -> Bool {
    do throws(SystemError) {
      // Another process that removes the file holds the lock while it checks the time and removes the file. On a file
      // system without locks, nothing is removed.
      try calls.lock(file.number)
    } catch {
      if error.kind == .busy { return false }
    }
    guard try calls.status(file.number).links > 0 else { return false }
    do throws(SystemError) {
      try calls.touch(file.number, use.time)
    } catch {
      // The use of another user's file cannot be recorded, so it would not prevent the file's removal.
      if error.kind == .notPermitted { throw .missing }
      // An error on a read-only disk is ignored, because nothing is removed there.
    }
    return true
  }

  /// Removes a file if its last use is still the given one. The folder is not synchronized.
  ///
  /// - Returns: Whether the file was removed. It stays if it was used or replaced in the meantime.
  func remove(_ name: String, lastUsedAt time: Int) throws(SystemError) -> Bool {
    do throws(SystemError) {
      return try remove(name, try openFile(name), lastUsedAt: time)
    } catch {
      switch error.kind {
      case .busy, .missing: return false  // It is being used, or somebody else removed it.
      default: throw error
      }
    }
  }

  private func remove(
    _ name: String, _ file: borrowing OpenDescriptor, lastUsedAt time: Int
  ) throws(SystemError) -> Bool {
    try calls.lock(file.number)
    let status = try calls.status(file.number)
    guard status.isRegularFile, status.modifiedAt == time,
      status.isSameFile(as: try calls.statusOfName(folder.number, name))
    else { return false }
    try calls.remove(folder.number, name)
    return true
  }

  func synchronize() throws(SystemError) { try folder.synchronize() }

  func openFile(_ name: String) throws(SystemError) -> OpenDescriptor {
    do throws(SystemError) {
      let number = try retryingWhenInterrupted { () throws(SystemError) in try calls.openFile(folder.number, name) }
      return OpenDescriptor(number, calls: calls)
    } catch {
      throw error.isRefusedLink || error.isRefusedSocket ? .notAFile : error
    }
  }
}

// MARK: - Temporary files

extension SoundsFolder {
  /// A temporary file that no other publisher writes to or removes.
  struct Temporary: ~Copyable, Sendable {
    let name: String
    let file: OpenDescriptor
  }

  func makeTemporary(startingAt first: Int) throws(SystemError) -> Temporary {
    for attempt in 0..<Self.temporaryNameLimit {
      let isEarly = attempt < Self.temporaryNameCount
      let name = Self.temporaryName(isEarly ? (first + attempt) % Self.temporaryNameCount : attempt)
      if let temporary = try createTemporary(name) { return temporary }
      if removeIfAbandoned(name), let temporary = try createTemporary(name) { return temporary }
    }
    throw .busy
  }

  /// Creates and locks a temporary file; returns nil if another publisher has the name.
  private func createTemporary(_ name: String) throws(SystemError) -> Temporary? {
    guard let file = try createFile(name) else { return nil }
    do throws(SystemError) {
      try calls.lock(file.number)
    } catch {
      // Another publisher takes the file for an abandoned one and is about to remove it.
      if error.kind == .busy { return nil }
      // Any other error means that the file system has no locks. No publisher removes abandoned files on such a system.
    }
    do throws(SystemError) {
      // The file has no name any more if a publisher took it for an abandoned one and removed it.
      if try calls.status(file.number).links == 0 { return nil }
    } catch {
      try? calls.remove(folder.number, name)
      throw error
    }
    return Temporary(name: name, file: file)
  }

  /// Creates a file; returns nil if the name is taken.
  private func createFile(_ name: String) throws(SystemError) -> OpenDescriptor? {
    do throws(SystemError) {
      let number = try retryingWhenInterrupted { () throws(SystemError) in
        try calls.createFile(folder.number, name, .readableByAll)
      }
      return OpenDescriptor(number, calls: calls)
    } catch {
      if error.kind == .exists { return nil }
      throw error
    }
  }

  /// Removes a file if it is abandoned, and returns whether the name is now free.
  func removeIfAbandoned(_ name: String) -> Bool {
    do throws(SystemError) {
      let file = try openFile(name)
      try calls.lock(file.number)
      let status = try calls.status(file.number)
      guard status.isSameFile(as: try calls.statusOfName(folder.number, name)) else { return false }
      try calls.remove(folder.number, name)
      return true
    } catch {
      return error.kind == .missing
    }
  }
}
