// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// An open `Library/Sounds` folder, or another folder of `Library`. Every file is named relative to the open folder, so
/// nothing is written anywhere else even if the path changes in the meantime.
///
/// Temporary files use a few fixed names, and each is locked by its writer. Files of killed processes can therefore be
/// removed without scanning a folder of a million clips. A publisher that finds a name taken tries to lock the file. If
/// the writer's process has ended, the system has released the lock, and the publisher gets it. The method needs
/// neither process numbers (which are reused, and differ between containers of one machine) nor clocks.
///
/// - A file that is being written is never removed, because its lock is held. The writer takes the lock right after it
///   creates the file. If another publisher takes the lock in between, it removes the file. The writer then finds that
///   the lock is taken or that the file has no name left, and uses another name.
/// - A file is removed only while its lock is held, so its name cannot come to mean another publisher's file in the
///   meantime.
/// - On a file system without locks, no temporary file is ever removed, and `O_EXCL` still keeps two publishers apart.
struct SoundsFolder: ~Copyable, Sendable {
  /// The number of names that a publisher tries first, starting at a random name. At most this many abandoned files
  /// exist, and later publishers find and remove them.
  static let temporaryNameCount = 64

  /// The number of names that a publisher tries in all. Names beyond the first ``temporaryNameCount`` are used only
  /// while those are all in use.
  static let temporaryNameLimit = 1024

  /// The number of attempts to get a lock that another process holds, and the pause between two attempts in seconds. A
  /// lock is held for a few system calls, unless its process is stopped.
  static let lockAttempts = 20
  static let lockPause: TimeInterval = 0.001

  static let temporaryPrefix = ".publishing-"

  static func temporaryName(_ index: Int) -> String { "\(temporaryPrefix)\(index)" }

  /// The beginning of the name that a folder gets when it is moved away from a clip's name.
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
      // The first error is the one to report.
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
      // The first error is the one to report.
      try? calls.remove(folder.number, temporary.name)
      throw error
    }
    try? calls.touch(temporary.file.number, use.time)
    return temporary
  }

  /// Gives a temporary file its name, and replaces whatever has the name: a file, a symbolic link, a pipe, a socket or
  /// a device. A folder cannot be replaced and may hold somebody's files, so it is moved away.
  ///
  /// - Parameter setsFolderAside: Whether a folder with the name is moved away, instead of being an error.
  /// - Returns: The new name of a folder that was moved away; nil if there was none.
  func replace(_ name: String, by newName: String, setsFolderAside: Bool = true) throws(SystemError) -> String? {
    if let old = try? openFile(name) {
      waitForRemoval(of: old)
      return try put(newName, at: name, setsFolderAside)
    }
    return try put(newName, at: name, setsFolderAside)
  }

  /// Waits until the removal of a file has ended. It could otherwise hit the file that replaces it.
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
      // If the name is taken, the next one is tried. The slash keeps the system from moving anything but a folder, such
      // as the clip of another publisher that has moved the folder away in the meantime.
      if (try? calls.rename(folder.number, "\(name)/", place)) != nil { setAside = place }
    }
    throw .notAFile
  }

  /// Returns the bytes of a file; throws an error of the kind `missing` when it does not exist.
  ///
  /// - Parameter use: When the file is used; nil if this reading does not count as a use.
  func contents(of name: String, atMost limit: Int, use: SoundUse? = nil) throws(SystemError) -> [UInt8] {
    let file = try openFile(name)
    let status = try calls.status(file.number)
    guard status.isRegularFile else { throw .notAFile }
    guard status.byteCount <= limit else { throw .tooLarge }
    if let use, use.isNews(status) { try mark(use, name) }
    var bytes: [UInt8] = []
    while true {
      // Asking for one byte more than expected reads the whole file in one call, and a second call finds its end.
      let count = max(status.byteCount - bytes.count, 0) + 1
      let some = try retryingWhenInterrupted { () throws(SystemError) in try calls.read(file.number, count) }
      if some.isEmpty { return bytes }
      if bytes.isEmpty { bytes = some } else { bytes += some }
      guard bytes.count <= limit else { throw .tooLarge }
    }
  }

  /// Removes a file and synchronizes the folder; throws an error of the kind `missing` when the file does not exist.
  func remove(_ name: String) throws(SystemError) {
    guard try calls.statusOfName(folder.number, name).isRegularFile else { throw .notAFile }
    try calls.remove(folder.number, name)
    try folder.synchronize()
  }

  /// Returns the status of a file; throws an error of the kind `missing` when it does not exist.
  func status(of name: String) throws(SystemError) -> FileStatus {
    try calls.statusOfName(folder.number, name)
  }

  /// Records that a file is used, unless its last recorded use is recent.
  ///
  /// - Throws: An error of the kind `missing` when the file does not exist, is removed at this moment, or belongs to
  ///   another user, so that the use cannot be recorded. The caller then makes the file again.
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

  /// - Returns: Whether the use was recorded; false while another process uses, replaces or removes the file.
  private func mark(_ use: SoundUse, _ file: consuming OpenDescriptor) throws(SystemError) -> Bool {
    do throws(SystemError) {
      // A removal holds the lock while it looks at the time and removes the file. Without locks, nothing is removed.
      try calls.lock(file.number)
    } catch {
      if error.kind == .busy { return false }
    }
    guard try calls.status(file.number).links > 0 else { return false }
    do throws(SystemError) {
      try calls.touch(file.number, use.time)
    } catch {
      // A removal would not know of the use of another user's file.
      if error.kind == .notPermitted { throw .missing }
      // On a read-only disk, nothing is removed.
    }
    return true
  }

  /// Removes a file if it is still the one with the given last use. The folder is not synchronized.
  ///
  /// - Returns: Whether the file was removed. It stays if it was used or replaced meanwhile.
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

  /// Creates and locks a temporary file; returns nil when another publisher has the name.
  private func createTemporary(_ name: String) throws(SystemError) -> Temporary? {
    guard let file = try createFile(name) else { return nil }
    do throws(SystemError) {
      try calls.lock(file.number)
    } catch {
      // Another publisher believes that the file is abandoned and is about to remove it.
      if error.kind == .busy { return nil }
      // Any other error means that the file system has no locks. There, no publisher removes files as abandoned.
    }
    do throws(SystemError) {
      // A file without a name was removed by a publisher that believed it abandoned.
      if try calls.status(file.number).links == 0 { return nil }
    } catch {
      try? calls.remove(folder.number, name)
      throw error
    }
    return Temporary(name: name, file: file)
  }

  /// Creates a file; returns nil when the name is taken.
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

  /// Removes an abandoned file and returns whether the name is now free.
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
