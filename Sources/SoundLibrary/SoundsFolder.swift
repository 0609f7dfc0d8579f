// SPDX-License-Identifier: Apache-2.0

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
  init(existing container: GroupContainer, calls: FileSystemCalls) throws(SystemFailure) {
    try self.init(container, making: false, calls: calls)
  }

  /// Opens the container's `Library/Sounds` and makes what is missing of the way to it.
  init(making container: GroupContainer, calls: FileSystemCalls) throws(SystemFailure) {
    try self.init(container, making: true, calls: calls)
  }

  private init(_ container: GroupContainer, making: Bool, calls: FileSystemCalls) throws(SystemFailure) {
    let root = try Self.open(container.directory, making: making, calls: calls)
    let library = try Self.open("Library", in: root, making: making, calls: calls)
    let sounds = try Self.open("Sounds", in: library, making: making, calls: calls)
    self.folder = sounds
    self.calls = calls
  }

  /// Writes a file and gives it its name when all of it is on the disk.
  func publish(_ bytes: [UInt8], as name: String) throws(SystemFailure) {
    let temporary = try makeTemporary(startingAt: Int.random(in: 0..<Self.temporaryNameCount))
    do throws(SystemFailure) {
      try write(bytes, to: temporary.file.number)
      try Self.synchronize(temporary.file, calls: calls)
      try calls.rename(folder.number, temporary.name, name)
    } catch {
      // The first failure is the one to report.
      try? calls.remove(folder.number, temporary.name)
      throw error
    }
    try Self.synchronize(folder, calls: calls)
  }

  /// The bytes of a file; fails with the kind `missing` where there is none.
  func contents(of name: String, atMost limit: Int) throws(SystemFailure) -> [UInt8] {
    let file = try openFile(name)
    let status = try calls.status(file.number)
    guard status.isRegularFile else { throw .notAFile }
    guard status.byteCount <= limit else { throw .tooLarge }
    var bytes: [UInt8] = []
    while true {
      // One byte more than there should be, so that the whole file takes one call, and one to find its end.
      let count = max(status.byteCount - bytes.count, 0) + 1
      let some = try retryingWhenInterrupted { () throws(SystemFailure) in try calls.read(file.number, count) }
      if some.isEmpty { return bytes }
      if bytes.isEmpty { bytes = some } else { bytes += some }
      guard bytes.count <= limit else { throw .tooLarge }
    }
  }

  /// Removes a file, and brings that to the disk; fails with the kind `missing` where there is none.
  func remove(_ name: String) throws(SystemFailure) {
    guard try calls.statusOfName(folder.number, name).isRegularFile else { throw .notAFile }
    try calls.remove(folder.number, name)
    try Self.synchronize(folder, calls: calls)
  }

  private func openFile(_ name: String) throws(SystemFailure) -> OpenDescriptor {
    do throws(SystemFailure) {
      let number = try retryingWhenInterrupted { () throws(SystemFailure) in try calls.openFile(folder.number, name) }
      return OpenDescriptor(number, calls: calls)
    } catch {
      throw error.isRefusedLink ? .notAFile : error
    }
  }

  private func write(_ bytes: [UInt8], to file: FileSystemCalls.Descriptor) throws(SystemFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = try retryingWhenInterrupted { () throws(SystemFailure) in try calls.write(file, rest) }
      // A file that takes nothing and gives no reason would keep us here for ever.
      guard count > 0 else { throw .inputOutput }
      rest = rest.dropFirst(count)
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

  func makeTemporary(startingAt first: Int) throws(SystemFailure) -> Temporary {
    for attempt in 0..<Self.temporaryNameLimit {
      let isEarly = attempt < Self.temporaryNameCount
      let name = Self.temporaryName(isEarly ? (first + attempt) % Self.temporaryNameCount : attempt)
      if let temporary = try createTemporary(name) { return temporary }
      if removeIfAbandoned(name), let temporary = try createTemporary(name) { return temporary }
    }
    throw .busy
  }

  /// Nil when another publisher has the name.
  private func createTemporary(_ name: String) throws(SystemFailure) -> Temporary? {
    guard let file = try createFile(name) else { return nil }
    do throws(SystemFailure) {
      try calls.lock(file.number)
    } catch {
      // Somebody took it for abandoned and is about to remove it.
      if error.kind == .busy { return nil }
      // Any other failure means a file system without locks, where nobody can take it for abandoned.
    }
    do throws(SystemFailure) {
      // Without a name it was taken for abandoned and has been removed.
      if try calls.status(file.number).links == 0 { return nil }
    } catch {
      try? calls.remove(folder.number, name)
      throw error
    }
    return Temporary(name: name, file: file)
  }

  /// Nil when something has the name.
  private func createFile(_ name: String) throws(SystemFailure) -> OpenDescriptor? {
    do throws(SystemFailure) {
      let number = try retryingWhenInterrupted { () throws(SystemFailure) in try calls.createFile(folder.number, name) }
      return OpenDescriptor(number, calls: calls)
    } catch {
      if error.kind == .exists { return nil }
      throw error
    }
  }

  /// Whether the name is free now.
  private func removeIfAbandoned(_ name: String) -> Bool {
    do throws(SystemFailure) {
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

// MARK: - The way to the folder

extension SoundsFolder {
  /// Opens a folder by its path, which whoever runs the program chose: symbolic links are followed.
  private static func open(
    _ url: URL, making: Bool, calls: FileSystemCalls
  ) throws(SystemFailure) -> OpenDescriptor {
    let path = url.path(percentEncoded: false)
    do throws(SystemFailure) {
      return try open(path, in: nil, calls: calls)
    } catch {
      let parent = url.deletingLastPathComponent()
      let name = url.lastPathComponent
      guard making, error.kind == .missing, parent != url, name != "..", name != "/" else { throw error }
      try make(name, in: try open(parent, making: true, calls: calls), calls: calls)
    }
    return try open(path, in: nil, calls: calls)
  }

  /// Opens a folder in an open one; a symbolic link is refused.
  private static func open(
    _ name: String, in parent: borrowing OpenDescriptor, making: Bool, calls: FileSystemCalls
  ) throws(SystemFailure) -> OpenDescriptor {
    do throws(SystemFailure) {
      return try open(name, in: parent.number, calls: calls)
    } catch {
      guard making, error.kind == .missing else { throw error }
      try make(name, in: parent, calls: calls)
    }
    return try open(name, in: parent.number, calls: calls)
  }

  private static func open(
    _ name: String, in parent: FileSystemCalls.Descriptor?, calls: FileSystemCalls
  ) throws(SystemFailure) -> OpenDescriptor {
    do throws(SystemFailure) {
      let number = try retryingWhenInterrupted { () throws(SystemFailure) in try calls.openFolder(parent, name) }
      return OpenDescriptor(number, calls: calls)
    } catch {
      throw error.isRefusedLink ? .notAFolder : error
    }
  }

  private static func make(
    _ name: String, in parent: borrowing OpenDescriptor, calls: FileSystemCalls
  ) throws(SystemFailure) {
    do throws(SystemFailure) {
      try calls.makeFolder(parent.number, name)
    } catch {
      guard error.kind == .exists else { throw error }
    }
    // Even when another process made it a moment ago: a clip on the disk is lost if the way to it is not there.
    try synchronize(parent, calls: calls)
  }

  private static func synchronize(
    _ file: borrowing OpenDescriptor, calls: FileSystemCalls
  ) throws(SystemFailure) {
    let number = file.number
    try retryingWhenInterrupted { () throws(SystemFailure) in try calls.synchronize(number) }
  }
}
