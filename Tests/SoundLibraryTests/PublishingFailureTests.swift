// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

/// A step of publishing that the system can refuse.
enum Step: String, CaseIterable, Sendable {
  case openFolder, createFile, status, write, writeLater, synchronizeFile, rename

  /// Returns the system's calls, with a failure of this step.
  func failing(with number: Int32) -> FileSystemCalls {
    var calls = FileSystemCalls.system
    let failure = SystemError(number: number)
    let count = Counter()
    let write = calls.write
    switch self {
    case .openFolder: calls.openFolder = { (_, _) throws(SystemError) in throw failure }
    case .createFile: calls.createFile = { (_, _, _) throws(SystemError) in throw failure }
    case .status: calls.status = { (_) throws(SystemError) in throw failure }
    case .write: calls.write = { (_, _) throws(SystemError) in throw failure }
    case .writeLater:
      calls.write = { (file, bytes) throws(SystemError) in
        guard count.add() <= 2 else { throw failure }
        return try write(file, bytes.prefix(1000))
      }
    case .synchronizeFile: calls.synchronize = { (_) throws(SystemError) in throw failure }
    case .rename: calls.rename = { (_, _, _) throws(SystemError) in throw failure }
    }
    return calls
  }
}

@Suite("Failures of publishing")
struct PublishingFailureTests {
  static let codes: [(Int32, SoundLibraryError.Code)] = [
    (ENOSPC, .noSpace), (EDQUOT, .noSpace), (EROFS, .readOnly), (EACCES, .notPermitted), (EPERM, .notPermitted),
    (EFBIG, .tooLarge), (EMFILE, .tooManyOpenFiles), (ENFILE, .tooManyOpenFiles), (EIO, .systemFailure),
  ]

  let home: TemporaryContainer

  init() throws { home = try TemporaryContainer() }

  @Test(
    "if a step of publishing fails, the error has the system's reason, and the old clip and no other file stays",
    arguments: Step.allCases, codes)
  func leavesNothing(_ step: Step, _ reason: (number: Int32, code: SoundLibraryError.Code)) throws {
    _ = try home.library.publish([1, 2, 3], as: "a.wav")
    let library = SoundLibrary(container: home.container, calls: step.failing(with: reason.number))
    let error = #expect(throws: SoundLibraryError.self) {
      try library.publish([UInt8](repeating: 5, count: 5000), as: "a.wav")
    }
    #expect(error?.code == reason.code)
    #expect(error?.systemError == reason.number)
    #expect(home.names == ["a.wav"])
    #expect(try home.library.contents(of: "a.wav") == [1, 2, 3])
  }

  @Test("if the folder cannot be created, the error of publishing says so", arguments: codes)
  func cannotMakeFolder(_ reason: (number: Int32, code: SoundLibraryError.Code)) throws {
    var calls = FileSystemCalls.system
    calls.makeFolder = { (_, _, _) throws(SystemError) in throw SystemError(number: reason.number) }
    let library = SoundLibrary(container: home.container, calls: calls)
    let error = #expect(throws: SoundLibraryError.self) { try library.publish([1], as: "a.wav") }
    #expect(error?.code == reason.code)
  }

  @Test("if the last step of publishing fails, the complete clip is in place")
  func lastStep() throws {
    try home.makeSoundsDirectory()
    var calls = FileSystemCalls.system
    let synchronize = calls.synchronize
    let count = Counter()
    calls.synchronize = { (file) throws(SystemError) in
      guard count.add() == 1 else { throw SystemError(number: EIO) }
      try synchronize(file)
    }
    let library = SoundLibrary(container: home.container, calls: calls)
    let error = #expect(throws: SoundLibraryError.self) { try library.publish([1, 2, 3], as: "a.wav") }
    #expect(error?.code == .systemFailure)
    #expect(home.names == ["a.wav"])
    #expect(try home.library.contents(of: "a.wav") == [1, 2, 3])
  }

  @Test("interrupted system calls and partial writes do not make publishing fail")
  func interruptions() throws {
    let system = FileSystemCalls.system
    var calls = system
    let count = Counter()
    @Sendable func interrupt() throws(SystemError) {
      if !count.add().isMultiple(of: 3) { throw SystemError(number: EINTR) }
    }
    calls.openFolder = { (parent, name) throws(SystemError) in
      try interrupt()
      return try system.openFolder(parent, name)
    }
    calls.createFile = { (folder, name, permissions) throws(SystemError) in
      try interrupt()
      return try system.createFile(folder, name, permissions)
    }
    calls.openFile = { (folder, name) throws(SystemError) in
      try interrupt()
      return try system.openFile(folder, name)
    }
    calls.write = { (file, bytes) throws(SystemError) in
      try interrupt()
      return try system.write(file, bytes.prefix(7))
    }
    calls.read = { (file, count) throws(SystemError) in
      try interrupt()
      return try system.read(file, min(count, 11))
    }
    calls.synchronize = { (file) throws(SystemError) in
      try interrupt()
      try system.synchronize(file)
    }
    let library = SoundLibrary(container: home.container, calls: calls)
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    _ = try library.publish(bytes, as: "a.wav")
    #expect(try library.contents(of: "a.wav") == bytes)
    #expect(home.names == ["a.wav"])
  }

  @Test("a write that accepts no bytes makes publishing fail, and does not loop forever")
  func writesNothing() throws {
    var calls = FileSystemCalls.system
    calls.write = { (_, _) throws(SystemError) in 0 }
    let library = SoundLibrary(container: home.container, calls: calls)
    let error = #expect(throws: SoundLibraryError.self) { try library.publish([1], as: "a.wav") }
    #expect(error?.code == .systemFailure)
    #expect(home.names == [])
  }

  @Test("publishing synchronizes a clip in order: its bytes, its name, then the folder's entry")
  func order() throws {
    let system = FileSystemCalls.system
    try home.makeSoundsDirectory()
    var calls = system
    let log = Locked<[String]>([])
    calls.write = { (file, bytes) throws(SystemError) in
      log.withLock { $0.append("write") }
      return try system.write(file, bytes)
    }
    calls.synchronize = { (file) throws(SystemError) in
      let kind = try system.status(file).isRegularFile ? "file" : "folder"
      log.withLock { $0.append("synchronize \(kind)") }
      try system.synchronize(file)
    }
    calls.rename = { (folder, name, newName) throws(SystemError) in
      log.withLock { $0.append("rename") }
      try system.rename(folder, name, newName)
    }
    _ = try SoundLibrary(container: home.container, calls: calls).publish([1], as: "a.wav")
    #expect(log.withLock { $0 } == ["write", "synchronize file", "rename", "synchronize folder"])
  }

  @Test("publishing closes every opened file descriptor, after failure and success")
  func descriptors() throws {
    let open = Counter()
    for index in 0..<SoundsFolder.temporaryNameCount { try home.leaveBehind(".publishing-\(index)") }
    for calls in [FileSystemCalls.system] + Step.allCases.map({ $0.failing(with: EIO) }) {
      let library = SoundLibrary(container: home.container, calls: calls.counting(open))
      _ = try? library.publish([1], as: "a.wav")
      _ = try? library.contents(of: "a.wav")
      #expect(open.value == 0)
    }
  }

  @Test(
    "publishing into a folder without write permission is an error",
    .enabled(if: geteuid() != 0, "root may write anywhere"))
  func withoutPermission() throws {
    try home.makeSoundsDirectory()
    let folder = home.container.soundsDirectory.path
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder) }
    let error = #expect(throws: SoundLibraryError.self) { try home.library.publish([1], as: "a.wav") }
    #expect(error?.code == .notPermitted)
  }

  @Test(
    "the error of publishing states the operation, the folder, the reason and the next step, but not the clip's name")
  func description() {
    let folder = URL(fileURLWithPath: "/srv/group.crier/Library/Sounds")
    let error = SoundLibraryError(SystemError(number: ENOSPC), while: .publishing, in: folder)
    #expect(
      error.description
        == "Publishing a clip in /srv/group.crier/Library/Sounds failed: the disk is full (No space left on device). "
        + "Free some space and try again.")
    for code in SoundLibraryError.Code.allCases {
      let text = SoundLibraryError(code: code, action: .reading, folder: folder).description
      #expect(text.hasSuffix("."))
      #expect(!text.contains("  "))
    }
  }
}
