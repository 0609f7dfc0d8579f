// SPDX-License-Identifier: Apache-2.0

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

  @Test("an absent clip is nil, with or without a folder")
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

  @Test("a deleted folder is created again")
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
    "every file name with a sound extension is accepted",
    arguments: ["9fe1.wav", "到账.aiff", "a b.caf", "a..wav", "-.wav", String(repeating: "n", count: 251) + ".wav"])
  func goodNames(_ name: String) throws {
    let url = try home.library.publish([1], as: name)
    #expect(try home.library.url(for: name) == url)
    #expect(home.names == [name])
  }

  @Test(
    "every other name is refused, and nothing is created",
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
    "a symbolic link in place of Library or Sounds is refused, wherever it leads", arguments: ["Library", "Sounds"])
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

  @Test("a symbolic link to the container is followed, because the operator chose it")
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

    let reading = #expect(throws: SoundLibraryError.self) { try home.library.contents(of: "a.wav") }
    #expect(reading?.code == .notAFile)
    _ = try home.library.publish([1], as: "a.wav")
    #expect(try home.library.contents(of: "a.wav") == [1])
    #expect(try Data(contentsOf: victim) == Data([9]))
  }

  @Test("a folder with a clip's name is refused, and no temporary file stays")
  func folderAsClip() throws {
    try FileManager.default.createDirectory(
      at: home.container.soundsDirectory.appending(path: "a.wav"), withIntermediateDirectories: true)
    let publishing = #expect(throws: SoundLibraryError.self) { try home.library.publish([1], as: "a.wav") }
    #expect(publishing?.code == .notAFile)
    let reading = #expect(throws: SoundLibraryError.self) { try home.library.contents(of: "a.wav") }
    #expect(reading?.code == .notAFile)
    #expect(home.names == ["a.wav"])
  }

  @Test("a file in place of a folder on the path is refused", arguments: ["", "Library", "Library/Sounds"])
  func fileAsFolder(_ path: String) throws {
    let file = path.isEmpty ? home.container.directory : home.container.directory.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: file)
    let error = #expect(throws: SoundLibraryError.self) { try home.library.publish([1], as: "a.wav") }
    #expect(error?.code == .notAFolder)
  }
}
