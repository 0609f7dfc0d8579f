// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

@Suite("A sound library")
struct SoundLibraryTests {
  let home: TemporaryContainer

  init() throws { home = try TemporaryContainer() }

  @Test("publishing creates Library/Sounds with the clip and no other file")
  func publishes() throws {
    let url = try home.library.publish([1, 2, 3], as: "a.wav")
    #expect(url.path == home.container.soundsDirectory.path + "/a.wav")
    #expect(try Data(contentsOf: url) == Data([1, 2, 3]))
    #expect(home.names == ["a.wav"])
  }

  @Test("a published clip is read back unchanged, whatever its size", arguments: [0, 1, 4096, 100_000, 1_000_003])
  func contents(_ count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    _ = try home.library.publish(bytes, as: "a.caf")
    #expect(try home.library.contents(of: "a.caf") == bytes)
  }

  @Test("the library returns nil for a clip that it does not have, with or without a folder")
  func missing() throws {
    #expect(try home.library.contents(of: "a.wav") == nil)
    #expect(TemporaryContainer.names(in: home.root) == [])
    try home.makeSoundsDirectory()
    #expect(try home.library.contents(of: "a.wav") == nil)
  }

  @Test("everybody can read a clip, and only its owner can write it")
  func permissions() throws {
    let url = try home.library.publish([1], as: "a.wav")
    let mode = try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int)
    #expect(mode & 0o133 == 0)
    #expect(mode & 0o600 == 0o600)
  }

  @Test("publishing replaces an empty or truncated clip", arguments: [[], [9], [UInt8](repeating: 9, count: 5000)])
  func replaces(_ torn: [UInt8]) throws {
    try home.leaveBehind("a.wav", torn)
    #expect(try home.library.contents(of: "a.wav") == torn)
    _ = try home.library.publish([1, 2, 3], as: "a.wav")
    #expect(try home.library.contents(of: "a.wav") == [1, 2, 3])
    #expect(home.names == ["a.wav"])
  }

  @Test("a reader that has the old clip open keeps the complete old clip")
  func replacesUnderReader() throws {
    let url = try home.library.publish([1, 1, 1], as: "a.wav")
    let reader = try FileHandle(forReadingFrom: url)
    _ = try home.library.publish([2, 2], as: "a.wav")
    #expect(try reader.readToEnd() == Data([1, 1, 1]))
  }

  @Test("a deleted folder of sounds is created again by publishing")
  func removedFolder() throws {
    let library = home.library
    _ = try library.publish([1], as: "a.wav")
    try FileManager.default.removeItem(at: home.container.directory)
    _ = try library.publish([2], as: "b.wav")
    #expect(home.names == ["b.wav"])
  }

  @Test("when eight threads publish two values under one name, every reader sees a complete clip")
  func concurrentPublishing() throws {
    let libraries = [home.library, home.library]
    let failures = Counter()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      let bytes = [UInt8](repeating: UInt8(thread), count: 20_000)
      for _ in 0..<25 {
        do {
          _ = try libraries[thread % 2].publish(bytes, as: "same.wav")
          let read = try libraries[(thread + 1) % 2].contents(of: "same.wav") ?? []
          if read.count != 20_000 || Set(read).count != 1 { failures.add() }
        } catch {
          failures.add()
        }
      }
    }
    #expect(failures.value == 0)
    #expect(home.names == ["same.wav"])
  }

  @Test(
    "every file name with a sound extension can be published",
    arguments: ["9fe1.wav", "到账.aiff", "a b.caf", "a..wav", "-.wav", String(repeating: "n", count: 251) + ".wav"])
  func goodNames(_ name: String) throws {
    let url = try home.library.publish([1], as: name)
    #expect(try home.library.url(for: name) == url)
    #expect(home.names == [name])
  }

  @Test(
    "every other file name is refused, and nothing is created",
    arguments: [
      "", ".wav", ".a.wav", ".\u{308}a.wav", "a.wav\u{308}", "..", "../a.wav", "a/b.wav", "/a.wav", "a\0.wav",
      "a.wav\0", "a\n.wav", "a\u{7F}.wav",
      "a\u{85}.wav", "a", "a.", "wav", "a.mp3", "a.WAV", "a.wav.tmp", "a.wav/",
      String(repeating: "n", count: 252) + ".wav", String(repeating: "账", count: 84) + ".wav",
    ])
  func badNames(_ name: String) {
    let refusal = SoundLibraryError(code: .invalidClipName)
    #expect(throws: refusal) { try home.library.publish([1], as: name) }
    #expect(throws: refusal) { try home.library.contents(of: name) }
    #expect(throws: refusal) { try home.library.url(for: name) }
    #expect(TemporaryContainer.names(in: home.root) == [])
  }

  @Test("a clip of more than 16 MiB is refused before memory is allocated, when it is published or read")
  func tooLarge() throws {
    let limit = SoundLibrary.maximumClipBytes
    let given = #expect(throws: SoundLibraryError.self) {
      try home.library.publish([UInt8](repeating: 0, count: limit + 1), as: "a.wav")
    }
    #expect(given?.code == .tooLarge)
    #expect(home.names == [])

    try home.leaveBehind("a.wav", [])
    let file = try FileHandle(forWritingTo: home.container.soundsDirectory.appending(path: "a.wav"))
    try file.truncate(atOffset: 1 << 40)
    let found = #expect(throws: SoundLibraryError.self) { try home.library.contents(of: "a.wav") }
    #expect(found?.code == .tooLarge)
  }

  @Test(
    "a symbolic link in place of the folder 'Library' or 'Sounds' is refused, wherever it leads",
    arguments: ["Library", "Sounds"])
  func linkedFolder(_ name: String) throws {
    let outside = home.root.appending(path: "outside")
    try FileManager.default.createDirectory(
      at: outside.appending(path: "Sounds"), withIntermediateDirectories: true)
    let library = home.container.directory.appending(path: "Library")
    let link = name == "Library" ? library : library.appending(path: "Sounds")
    try FileManager.default.createDirectory(at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)

    let publishing = #expect(throws: SoundLibraryError.self) { try home.library.publish([1], as: "a.wav") }
    #expect(publishing?.code == .notAFolder)
    let reading = #expect(throws: SoundLibraryError.self) { try home.library.contents(of: "a.wav") }
    #expect(reading?.code == .notAFolder)
    #expect(TemporaryContainer.names(in: outside) == ["Sounds"])
    #expect(TemporaryContainer.names(in: outside.appending(path: "Sounds")) == [])
  }

  @Test("a symbolic link to the library's container is followed, because the operator chose it")
  func linkedContainer() throws {
    let disk = home.root.appending(path: "disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    let containers = home.container.directory.deletingLastPathComponent()
    try FileManager.default.createSymbolicLink(at: containers, withDestinationURL: disk)
    _ = try home.library.publish([1], as: "a.wav")
    #expect(TemporaryContainer.names(in: disk.appending(path: "group.crier/Library/Sounds")) == ["a.wav"])
  }

  @Test("a symbolic link with a clip's name is replaced, and its target is neither written nor read")
  func linkedClip() throws {
    try home.leaveBehind("b.wav", [7])
    let victim = home.root.appending(path: "victim.wav")
    try Data([9]).write(to: victim)
    try FileManager.default.createSymbolicLink(
      at: home.container.soundsDirectory.appending(path: "a.wav"), withDestinationURL: victim)

    #expect(try home.library.contents(of: "a.wav") == nil)
    #expect(try !home.library.use("a.wav"))
    _ = try home.library.publish([1], as: "a.wav")
    #expect(try home.library.contents(of: "a.wav") == [1])
    #expect(try Data(contentsOf: victim) == Data([9]))
  }

  /// Things that can have a clip's name and are not readable files.
  enum Other: CaseIterable {
    case danglingLink, pipe, socket

    func make(at path: String) throws {
      switch self {
      case .danglingLink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "gone")
      // Safe: the text lives as long as the call.
      case .pipe: #expect(unsafe mkfifo(path, 0o644) == 0)
      // Safe: the text lives as long as the call.
      case .socket: #expect(unsafe mknod(path, S_IFSOCK | 0o644, 0) == 0)
      }
    }
  }

  @Test(
    "a dangling link, a pipe or a socket with a clip's name is not a clip, and is replaced", arguments: Other.allCases)
  func otherAsClip(_ other: Other) throws {
    try home.makeSoundsDirectory()
    try other.make(at: home.container.soundsDirectory.path + "/a.wav")
    #expect(try home.library.contents(of: "a.wav", isUse: true) == nil)
    #expect(try !home.library.use("a.wav"))
    _ = try home.library.publish([1], as: "a.wav")
    #expect(try home.library.contents(of: "a.wav") == [1])
    #expect(home.names == ["a.wav"])
  }

  @Test("a folder with a clip's name is moved away with its files and reported, and the clip is published")
  func folderAsClip() throws {
    let told = Locked<[URL]>([])
    let library = SoundLibrary(container: home.container) { folder in told.withLock { $0.append(folder) } }
    let place = home.container.soundsDirectory.appending(path: "a.wav")
    for content in ["first", "second"] {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Data(content.utf8).write(to: place.appending(path: "b.wav"))
      #expect(try library.contents(of: "a.wav", isUse: true) == nil)
      #expect(try !library.use("a.wav"))
      _ = try library.publish([1], as: "a.wav")
      #expect(try library.contents(of: "a.wav") == [1])
      try library.remove("a.wav")
    }
    let folders = told.withLock { $0 }
    #expect(folders.map(\.lastPathComponent) == [".set-aside-0", ".set-aside-1"])
    #expect(
      try folders.map { try Data(contentsOf: $0.appending(path: "b.wav")) } == [
        Data("first".utf8), Data("second".utf8),
      ])
    #expect(try library.foldersSetAside().map(\.path) == folders.map(\.path))
    #expect(try library.names().isEmpty && library.sounds().isEmpty)
    try library.prune(SoundKeeping(mostFiles: 0), needed: [])
    #expect(try library.foldersSetAside().count == 2, "nothing of somebody's is removed")
  }

  @Test("if a clip of another publisher has replaced the folder meanwhile, the clip is not moved away")
  func folderReplacedMeanwhile() throws {
    try FileManager.default.createDirectory(
      at: home.container.soundsDirectory.appending(path: "a.wav"), withIntermediateDirectories: true)
    let other = home.library
    let renames = Locked(0)
    var calls = FileSystemCalls.system
    let rename = calls.rename
    calls.rename = { (folder, name, newName) throws(SystemError) in
      // The second renaming moves the folder away. Just before, another publisher does all of this.
      if renames.withLock({ count in
        count += 1
        return count == 2
      }) {
        _ = try? other.publish([2], as: "a.wav")
      }
      try rename(folder, name, newName)
    }
    _ = try SoundLibrary(container: home.container, calls: calls).publish([1], as: "a.wav")
    #expect(try other.contents(of: "a.wav") == [1])
    #expect(home.names == [".set-aside-0", "a.wav"])
  }

  @Test("a folder with a clip's name that cannot be moved away is an error, and no temporary file stays")
  func fixedFolder() throws {
    try FileManager.default.createDirectory(
      at: home.container.soundsDirectory.appending(path: "a.wav"), withIntermediateDirectories: true)
    var calls = FileSystemCalls.system
    let rename = calls.rename
    calls.rename = { (folder, name, newName) throws(SystemError) in
      if name.hasSuffix("/") { throw SystemError(number: EPERM) }
      try rename(folder, name, newName)
    }
    let library = SoundLibrary(container: home.container, calls: calls)
    let error = #expect(throws: SoundLibraryError.self) { try library.publish([1], as: "a.wav") }
    #expect(error?.code == .notAFile)
    #expect(home.names == ["a.wav"])
  }

  @Test("a file in place of a folder on the library's path is refused", arguments: ["", "Library", "Library/Sounds"])
  func fileAsFolder(_ path: String) throws {
    let file = path.isEmpty ? home.container.directory : home.container.directory.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: file)
    let error = #expect(throws: SoundLibraryError.self) { try home.library.publish([1], as: "a.wav") }
    #expect(error?.code == .notAFolder)
  }
}
