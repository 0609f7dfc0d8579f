// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import FileSystem

@Suite("Durable folders")
struct DurableFolderTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString)")

  private func inFolder(_ test: (URL) throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try test(folder)
  }

  private func permissions(of url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
  }

  @Test("DurableFolder.make creates every missing folder on the path, with the given permissions")
  func make() throws {
    try inFolder { folder in
      let inner = folder.appending(path: "a/b")
      try DurableFolder.make(inner, .ownerOnly)
      try DurableFolder.make(inner, .ownerOnly)
      #expect(try permissions(of: inner) == 0o700)
      #expect(try permissions(of: folder.appending(path: "a")) == 0o700)
    }
  }

  @Test("DurableFolder.make refuses the path of a file")
  func fileInPlace() throws {
    try inFolder { folder in
      let file = folder.appending(path: "a")
      try Data().write(to: file)
      #expect(throws: SystemError.notAFolder) { try DurableFolder.make(file, .ownerOnly) }
      #expect(throws: SystemError.self) { try DurableFolder.make(file.appending(path: "b"), .ownerOnly) }
    }
  }

  @Test("DurableFolder.rename moves a folder to a free name, and changes nothing if the name exists")
  func rename() throws {
    try inFolder { folder in
      let (first, second) = (folder.appending(path: "first"), folder.appending(path: "second"))
      try DurableFolder.make(first, .ownerOnly)
      #expect(try DurableFolder.rename(first, to: second))
      try DurableFolder.make(first.appending(path: "inside"), .ownerOnly)
      try DurableFolder.make(second.appending(path: "inside"), .ownerOnly)
      #expect(try !DurableFolder.rename(first, to: second))
      #expect(throws: SystemError.self) { try DurableFolder.rename(folder.appending(path: "none"), to: second) }
    }
  }

  @Test("DurableFolder.replace puts a folder in place of another folder, and removes the replaced folder")
  func replace() throws {
    try inFolder { folder in
      let (old, new) = (folder.appending(path: "pack"), folder.appending(path: "draft"))
      for (place, text) in [(old, "old"), (new, "new")] {
        try DurableFolder.make(place, .ownerOnly)
        try Data(text.utf8).write(to: place.appending(path: "file"))
      }
      try DurableFolder.replace(old, with: new)
      #expect(try String(contentsOf: old.appending(path: "file"), encoding: .utf8) == "new")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["pack"])
    }
  }
}

@Suite("Locked files and appended files")
struct OpenFileTests {
  private let file = FileManager.default.temporaryDirectory.appending(path: "file-\(UUID().uuidString)")

  @Test("a locked file is reported as locked until it is released")
  func lock() throws {
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(try LockedFile.look(at: file, count: 4) == nil)
    do {
      let held = try #require(try LockedFile(file, patience: 0))
      try held.write(Array("abcdef".utf8))
      let seen = try #require(try LockedFile.look(at: file, count: 4))
      #expect(seen.isLocked && seen.bytes == Array("abcd".utf8))
      #expect(try LockedFile(file, patience: 0.02) == nil)
    }
    #expect(try LockedFile.look(at: file, count: 4)?.isLocked == false)
  }

  @Test("bytes that are appended to a file follow the existing bytes")
  func append() throws {
    defer { try? FileManager.default.removeItem(at: file) }
    try AppendingFile(path: file.path).append(Array("one\n".utf8))
    try AppendingFile(path: file.path).append(Array("two\n".utf8))
    #expect(try String(contentsOf: file, encoding: .utf8) == "one\ntwo\n")
  }

  @Test("opening a pipe without a reader is an error, and does not block")
  func pipe() throws {
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(mkfifo(file.path, 0o600) == 0)
    #expect(throws: SystemError(number: ENXIO)) { try AppendingFile(path: file.path) }
  }
}
