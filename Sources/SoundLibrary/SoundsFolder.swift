// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// An open `Library/Sounds`. Every file in it is named relative to the open folder, so whatever happens to the path
/// meanwhile, nothing is written anywhere else.
///
/// Temporary files have one of a few fixed names, and whoever writes one holds its lock. That is how the files of
/// killed processes go away without anybody scanning a folder of a million clips: a publisher that meets a taken name
/// tries its lock, and the system has released the lock of a process that is no more. Neither process numbers (they
/// are used again, and differ between containers of one machine) nor clocks are asked.
///
/// - A file that is being written is never removed: its lock is held. Its writer takes the lock right after making it;
///   a publisher that gets there between the two removes it, and the writer notices (the lock is taken, or the file
///   has no name left) and takes another name.
/// - A name is removed only while holding the lock of the very file that has it. So it cannot meanwhile come to mean
///   another publisher's file.
/// - Where locks do not work no temporary is ever removed, and `O_EXCL` still keeps two publishers apart.
struct SoundsFolder: ~Copyable {
  /// The names a publisher tries first, beginning at a random one, so that a file left behind by a killed process is
  /// met after some publishing and at most this many are ever left behind.
  static let temporaryNameCount = 64

  /// The names tried in all: the rest serve only while the first ones are all in use at once.
  static let temporaryNameLimit = 1024

  static func temporaryName(_ index: Int) -> String { ".publishing-\(index)" }

  private let folder: OpenDescriptor
  private let calls: FileSystemCalls

  /// Opens the container's `Library/Sounds`; fails with the kind `missing` where there is none.
  init(existing container: GroupContainer, calls: FileSystemCalls) throws(SystemError) {
    try self.init(container, making: false, calls: calls)
  }

  /// Opens the container's `Library/Sounds` and makes what is missing of the way to it.
  init(making container: GroupContainer, calls: FileSystemCalls) throws(SystemError) {
    try self.init(container, making: true, calls: calls)
  }

  private init(_ container: GroupContainer, making: Bool, calls: FileSystemCalls) throws(SystemError) {
    let permissions: FileSystemCalls.Permissions? = making ? .readableByAll : nil
    let root = try OpenDescriptor.folder(container.directory, making: permissions, calls: calls)
    let library = try OpenDescriptor.folder("Library", in: root, making: permissions, calls: calls)
    folder = try OpenDescriptor.folder("Sounds", in: library, making: permissions, calls: calls)
    self.calls = calls
  }

  /// Writes a file and gives it its name when all of it is on the disk.
  func publish(_ bytes: [UInt8], as name: String) throws(SystemError) {
    let temporary = try makeTemporary(startingAt: Int.random(in: 0..<Self.temporaryNameCount))
    do throws(SystemError) {
      try calls.writeAll(bytes, to: temporary.file.number)
      try temporary.file.synchronize()
      try calls.rename(folder.number, temporary.name, name)
    } catch {
      // The first failure is the one to report.
      try? calls.remove(folder.number, temporary.name)
      throw error
    }
    try folder.synchronize()
  }

  /// The bytes of a file; fails with the kind `missing` where there is none.
  func contents(of name: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
    let file = try openFile(name)
    let status = try calls.status(file.number)
    guard status.isRegularFile else { throw .notAFile }
    guard status.byteCount <= limit else { throw .tooLarge }
    var bytes: [UInt8] = []
    while true {
      // One byte more than there should be, so that the whole file takes one call, and one to find its end.
      let count = max(status.byteCount - bytes.count, 0) + 1
      let some = try retryingWhenInterrupted { () throws(SystemError) in try calls.read(file.number, count) }
      if some.isEmpty { return bytes }
      if bytes.isEmpty { bytes = some } else { bytes += some }
      guard bytes.count <= limit else { throw .tooLarge }
    }
  }

  /// Removes a file, and brings that to the disk; fails with the kind `missing` where there is none.
  func remove(_ name: String) throws(SystemError) {
    guard try calls.statusOfName(folder.number, name).isRegularFile else { throw .notAFile }
    try calls.remove(folder.number, name)
    try folder.synchronize()
  }

  private func openFile(_ name: String) throws(SystemError) -> OpenDescriptor {
    do throws(SystemError) {
      let number = try retryingWhenInterrupted { () throws(SystemError) in try calls.openFile(folder.number, name) }
      return OpenDescriptor(number, calls: calls)
    } catch {
      throw error.isRefusedLink ? .notAFile : error
    }
  }
}

// MARK: - Temporary files

extension SoundsFolder {
  /// A file of ours that nobody else writes to or removes.
  struct Temporary: ~Copyable {
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

  /// Nil when another publisher has the name.
  private func createTemporary(_ name: String) throws(SystemError) -> Temporary? {
    guard let file = try createFile(name) else { return nil }
    do throws(SystemError) {
      try calls.lock(file.number)
    } catch {
      // Somebody took it for abandoned and is about to remove it.
      if error.kind == .busy { return nil }
      // Any other failure means a file system without locks, where nobody can take it for abandoned.
    }
    do throws(SystemError) {
      // Without a name it was taken for abandoned and has been removed.
      if try calls.status(file.number).links == 0 { return nil }
    } catch {
      try? calls.remove(folder.number, name)
      throw error
    }
    return Temporary(name: name, file: file)
  }

  /// Nil when something has the name.
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

  /// Whether the name is free now.
  private func removeIfAbandoned(_ name: String) -> Bool {
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
