// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

@Suite("Temporary files of a sound library")
struct TemporaryFileTests {
  let home: TemporaryContainer

  init() throws { home = try TemporaryContainer() }

  private var abandoned: [String] { home.names.filter { $0.hasPrefix(".") } }

  private func openFolder(_ calls: FileSystemCalls = .system) throws -> SoundsFolder {
    try SoundsFolder(of: home.container, making: .readableByAll, calls: calls)
  }

  @Test("a temporary file that a killed process left is removed by the next publisher that needs its name")
  func removes() throws {
    try home.leaveBehind(".publishing-5")
    let temporary = try openFolder().makeTemporary(startingAt: 5)
    #expect(temporary.name == ".publishing-5")
    let file = home.container.soundsDirectory.appending(path: temporary.name)
    #expect(try Data(contentsOf: file).isEmpty)
  }

  @Test("many temporary files that are left over do not prevent publishing, and become fewer")
  func removesMany() throws {
    for index in 0..<SoundsFolder.temporaryNameCount { try home.leaveBehind(".publishing-\(index)") }
    _ = try home.library.publish([1], as: "a.wav")
    #expect(abandoned.count == SoundsFolder.temporaryNameCount - 1)
    for _ in 0..<50 { _ = try home.library.publish([1], as: "a.wav") }
    #expect(abandoned.count < SoundsFolder.temporaryNameCount - 20)
    #expect(try home.library.contents(of: "a.wav") == [1])
  }

  @Test("a temporary file that another process is writing is neither removed nor overwritten")
  func locked() throws {
    let folder = try openFolder()
    let first = try folder.makeTemporary(startingAt: 63)
    let second = try folder.makeTemporary(startingAt: 63)
    let third = try folder.makeTemporary(startingAt: 63)
    #expect(first.name == ".publishing-63")
    #expect(second.name == ".publishing-0")
    #expect(third.name == ".publishing-1")
    #expect(abandoned.count == 3)
  }

  @Test("a temporary file that has become a clip in the meantime is not removed")
  func sparesAFileThatMoved() throws {
    let folder = try openFolder()
    try home.leaveBehind(".publishing-9", [1])
    let sounds = home.container.soundsDirectory
    var calls = FileSystemCalls.system
    let openFile = calls.openFile
    calls.openFile = { (folder, name) throws(SystemError) in
      let file = try openFile(folder, name)
      // Its writer finishes, and another publisher takes the name, just before the lock is tried.
      try? FileManager.default.moveItem(at: sounds.appending(path: name), to: sounds.appending(path: "done.wav"))
      try? Data([2]).write(to: sounds.appending(path: name))
      return file
    }
    let temporary = try openFolder(calls).makeTemporary(startingAt: 9)
    #expect(temporary.name == ".publishing-10")
    #expect(home.names == [".publishing-10", ".publishing-9", "done.wav"])
    #expect(try Data(contentsOf: sounds.appending(path: ".publishing-9")) == Data([2]))
    _ = folder
  }

  @Test("a writer whose temporary file was removed before the writer had its lock uses another name")
  func noticesItsRemoval() throws {
    let sounds = home.container.soundsDirectory
    var calls = FileSystemCalls.system
    let createFile = calls.createFile
    calls.createFile = { (folder, name, permissions) throws(SystemError) in
      let file = try createFile(folder, name, permissions)
      if name == ".publishing-3" { try? FileManager.default.removeItem(at: sounds.appending(path: name)) }
      return file
    }
    let temporary = try openFolder(calls).makeTemporary(startingAt: 3)
    #expect(temporary.name == ".publishing-4")
    #expect(home.names == [".publishing-4"])
  }

  @Test("a writer uses another temporary name if another process takes the lock first")
  func noticesItsRemover() throws {
    var calls = FileSystemCalls.system
    let lock = calls.lock
    let locks = Counter()
    calls.lock = { (file) throws(SystemError) in
      if locks.add() <= 2 { throw .busy }
      try lock(file)
    }
    let temporary = try openFolder(calls).makeTemporary(startingAt: 0)
    #expect(temporary.name == ".publishing-1")
  }

  @Test("on a file system without locks, only the names keep temporary files apart, and no leftover file is removed")
  func worksWithoutLocks() throws {
    try home.leaveBehind(".publishing-0")
    var calls = FileSystemCalls.system
    calls.lock = { (_) throws(SystemError) in throw SystemError(number: EOPNOTSUPP) }
    let temporary = try openFolder(calls).makeTemporary(startingAt: 0)
    #expect(temporary.name == ".publishing-1")
    _ = try SoundLibrary(container: home.container, calls: calls).publish([1], as: "a.wav")
    #expect(try home.library.contents(of: "a.wav") == [1])
    #expect(home.names.contains(".publishing-0"))
  }

  @Test("if the first temporary names are in use, others are tried, and if all are in use, publishing fails")
  func runsOut() throws {
    var calls = FileSystemCalls.system
    calls.lock = { (_) throws(SystemError) in throw SystemError(number: EOPNOTSUPP) }
    let folder = try openFolder(calls)
    let library = SoundLibrary(container: home.container, calls: calls)
    for index in 0..<SoundsFolder.temporaryNameCount { try home.leaveBehind(".publishing-\(index)", []) }
    #expect(try folder.makeTemporary(startingAt: 7).name == ".publishing-64")

    for index in 65..<SoundsFolder.temporaryNameLimit { try home.leaveBehind(".publishing-\(index)", []) }
    let error = #expect(throws: SoundLibraryError.self) { try library.publish([1], as: "a.wav") }
    #expect(error?.code == .busy)
  }

  @Test("a symbolic link or a folder in place of the temporary file is not followed")
  func refusesTraps() throws {
    let victim = home.root.appending(path: "victim")
    try Data([9]).write(to: victim)
    try home.makeSoundsDirectory()
    let sounds = home.container.soundsDirectory
    try FileManager.default.createSymbolicLink(
      at: sounds.appending(path: ".publishing-0"), withDestinationURL: victim)
    try FileManager.default.createSymbolicLink(
      at: sounds.appending(path: ".publishing-1"), withDestinationURL: home.root.appending(path: "nowhere"))
    try FileManager.default.createDirectory(
      at: sounds.appending(path: ".publishing-2"), withIntermediateDirectories: false)
    #expect(try openFolder().makeTemporary(startingAt: 0).name == ".publishing-3")
    #expect(try Data(contentsOf: victim) == Data([9]))
    #expect(!FileManager.default.fileExists(atPath: home.root.appending(path: "nowhere").path))
  }
}
