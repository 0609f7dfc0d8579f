// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import FileSystem

@Suite("Durable files")
struct DurableFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  private func inFolder(_ test: (URL) throws -> Void) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try test(folder)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  @Test("a durable write replaces the file, lets only the owner read it, and leaves no other file behind")
  func replaced() throws {
    try inFolder { folder in
      let file = folder.appending(path: "a.json")
      for text in ["one", "a longer two", ""] {
        try DurableFile.write(Data(text.utf8), to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
      }
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      #expect(try names == ["a.json"])
    }
  }

  @Test("a durable write synchronises the file before the rename, and the folder after the rename")
  func order() throws {
    try inFolder { folder in
      let steps = Steps()
      let system = FileSystemCalls.system
      var calls = system
      calls.createFile = { (parent, name, permissions) throws(SystemError) in
        let file = try system.createFile(parent, name, permissions)
        steps.files.append(file)
        return file
      }
      calls.synchronize = { (descriptor) throws(SystemError) in
        steps.names.append(steps.files.contains(descriptor) ? "synchronize file" : "synchronize folder")
        try system.synchronize(descriptor)
      }
      calls.rename = { (parent, name, newName) throws(SystemError) in
        steps.names.append("rename")
        try system.rename(parent, name, newName)
      }
      try DurableFile.write(Data("x".utf8), to: folder.appending(path: "a"), calls: calls)
      #expect(steps.names == ["synchronize file", "rename", "synchronize folder"])
    }
  }

  @Test("a durable rename synchronises the file before the rename, and the folder after it")
  func renamed() throws {
    try inFolder { folder in
      let steps = Steps()
      let system = FileSystemCalls.system
      var calls = system
      calls.openFile = { (parent, name) throws(SystemError) in
        let file = try system.openFile(parent, name)
        steps.files.append(file)
        return file
      }
      calls.synchronize = { (descriptor) throws(SystemError) in
        steps.names.append(steps.files.contains(descriptor) ? "synchronize file" : "synchronize folder")
        try system.synchronize(descriptor)
      }
      calls.rename = { (parent, name, newName) throws(SystemError) in
        steps.names.append("rename")
        try system.rename(parent, name, newName)
      }
      let file = folder.appending(path: "a.new")
      try Data("x".utf8).write(to: file)
      try DurableFile.rename(file, to: "a", calls: calls)
      #expect(steps.names == ["synchronize file", "rename", "synchronize folder"])
      #expect(try names == ["a"])
      #expect(throws: SystemError.missing) { try DurableFile.rename(file, to: "a") }
    }
  }

  @Test(
    "DurableFile.replace calls 'orderWrites' before the rename, and does not call 'synchronize'")
  func replacement() throws {
    try inFolder { folder in
      let file = folder.appending(path: "a")
      try DurableFile.write(Data("old".utf8), to: file)
      let steps = Steps()
      let system = FileSystemCalls.system
      var calls = system
      calls.synchronize = { (_) throws(SystemError) in steps.names.append("synchronize") }
      calls.orderWrites = { (descriptor) throws(SystemError) in
        steps.names.append("order")
        try system.orderWrites(descriptor)
      }
      calls.rename = { (parent, name, newName) throws(SystemError) in
        steps.names.append("rename")
        try system.rename(parent, name, newName)
      }
      #expect(try DurableFile.replace(Data("new".utf8), at: file, calls: calls) { true })
      #expect(steps.names == ["order", "rename"])
      #expect(try String(contentsOf: file, encoding: .utf8) == "new")
      #expect(try !DurableFile.replace(Data("late".utf8), at: file, calls: calls) { false })
      #expect(try String(contentsOf: file, encoding: .utf8) == "new")
      #expect(try names == ["a"])
    }
  }

  enum Step: CaseIterable { case create, write, synchronizeFile, rename }

  @Test("a durable write that fails leaves the old file unchanged", arguments: Step.allCases)
  func failing(step: Step) throws {
    try inFolder { folder in
      let file = folder.appending(path: "a")
      try DurableFile.write(Data("old".utf8), to: file)
      let failure = SystemError(number: ENOSPC)
      var calls = FileSystemCalls.system
      switch step {
      case .create: calls.createFile = { (_, _, _) throws(SystemError) in throw failure }
      case .write: calls.write = { (_, _) throws(SystemError) in throw failure }
      case .synchronizeFile: calls.synchronize = { (_) throws(SystemError) in throw failure }
      case .rename: calls.rename = { (_, _, _) throws(SystemError) in throw failure }
      }
      #expect(throws: failure) { try DurableFile.write(Data("new".utf8), to: file, calls: calls) }
      #expect(try String(contentsOf: file, encoding: .utf8) == "old")
      #expect(try names == ["a"])
    }
  }

  @Test("a durable write fails if the folder cannot be synchronized")
  func folderFails() throws {
    try inFolder { folder in
      let steps = Steps()
      let system = FileSystemCalls.system
      var calls = system
      calls.synchronize = { (descriptor) throws(SystemError) in
        steps.names.append("synchronize")
        if steps.names.count == 2 { throw .inputOutput }
        try system.synchronize(descriptor)
      }
      #expect(throws: SystemError.inputOutput) {
        try DurableFile.write(Data("x".utf8), to: folder.appending(path: "a"), calls: calls)
      }
    }
  }

  @Test("a durable write removes the unfinished file of a killed writer")
  func leftBehind() throws {
    try inFolder { folder in
      try Data("half".utf8).write(to: folder.appending(path: "a.new"))
      try DurableFile.write(Data("whole".utf8), to: folder.appending(path: "a"))
      #expect(try names == ["a"])
      #expect(try String(contentsOf: folder.appending(path: "a"), encoding: .utf8) == "whole")
    }
  }

  @Test("a durable write into a missing folder fails, and creates no file")
  func missing() throws {
    try inFolder { folder in
      let file = folder.appending(path: "none/a.json")
      #expect(throws: SystemError(number: ENOENT)) { try DurableFile.write(Data(), to: file) }
      let left = try names
      #expect(left.isEmpty)
    }
  }

  @Test("a durable write does not replace a folder")
  func kept() throws {
    try inFolder { folder in
      let file = folder.appending(path: "a")
      try FileManager.default.createDirectory(at: file.appending(path: "inside"), withIntermediateDirectories: true)
      #expect(throws: SystemError.self) { try DurableFile.write(Data("x".utf8), to: file) }
      let left = try names
      #expect(left == ["a"])
    }
  }

  @Test("DurableFile creates an empty file that only its owner can read, and keeps the bytes of an existing file")
  func createEmpty() throws {
    try inFolder { folder in
      let file = folder.appending(path: "a")
      try DurableFile.createEmpty(file)
      #expect(try Data(contentsOf: file).isEmpty)
      #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
      try Data("kept".utf8).write(to: file)
      try DurableFile.createEmpty(file)
      #expect(try String(contentsOf: file, encoding: .utf8) == "kept")
    }
  }

  @Test("the error of a full disk equals the one that Foundation throws")
  func foundationError() {
    let error = SystemError(number: ENOSPC) as NSError
    #expect(error.domain == NSPOSIXErrorDomain && error.code == Int(ENOSPC))
  }
}

/// The system calls that a test has recorded.
private final class Steps: @unchecked Sendable {  // Each test uses its own object on one thread.
  var names: [String] = []
  var files: [Int32] = []
}
