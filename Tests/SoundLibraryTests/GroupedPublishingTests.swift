// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

@Suite("Publishing clips in groups")
struct GroupedPublishingTests {
  let home: TemporaryContainer

  init() throws { home = try TemporaryContainer() }

  private var hidden: [String] { home.names.filter { $0.hasPrefix(".") } }

  private func groups(_ calls: FileSystemCalls = .system) -> GroupedPublishing {
    GroupedPublishing(library: SoundLibrary(container: home.container, calls: calls))
  }

  @Test(
    "in a group, each clip's bytes are synchronized before it is renamed, and the folder is synchronized at the end")
  func order() throws {
    let log = CallLog()
    try home.makeSoundsDirectory()
    let groups = groups(log.calls)
    let clips = try ["a.wav", "b.wav", "c.wav"].map { try groups.prepare([1, 2, 3], as: $0) }
    #expect(groups.publish(clips) == [nil, nil, nil])
    let events = log.events
    let folder = try #require(events.firstIndex(of: "synchronize folder"))
    #expect(events.count { $0 == "synchronize folder" } == 1)
    #expect(folder == events.count - 1)
    for name in ["a.wav", "b.wav", "c.wav"] {
      let renamed = try #require(events.firstIndex { $0.hasSuffix(" becomes \(name)") })
      let temporary = try #require(events[renamed].split(separator: " ").first)
      let written = try #require(events.firstIndex(of: "write \(temporary)"))
      let synchronized = try #require(events.firstIndex(of: "synchronize \(temporary)"))
      #expect(written < synchronized)
      #expect(synchronized < renamed)
    }
  }

  @Test("the system is asked to write a clip's bytes to the disk as soon as the clip is prepared")
  func startsWriting() throws {
    let starts = Counter()
    var calls = FileSystemCalls.system
    calls.startWriting = { (_) throws(SystemError) in starts.add() }
    let groups = groups(calls)
    let clips = try ["a.wav", "b.wav"].map { try groups.prepare([1], as: $0) }
    #expect(starts.value == 2)
    #expect(groups.publish(clips) == [nil, nil])
  }

  @Test("a clip is found under its name only after it is published, and not while it is prepared")
  func publishes() throws {
    let groups = groups()
    let clips = [try groups.prepare([1], as: "a.wav"), try groups.prepare([2, 2], as: "b.wav")]
    #expect(try home.library.contents(of: "a.wav") == nil)
    #expect(hidden.count == 2)
    #expect(home.names.count == 2)
    #expect(groups.publish(clips) == [nil, nil])
    #expect(home.names == ["a.wav", "b.wav"])
    #expect(try home.library.contents(of: "a.wav") == [1])
    #expect(try home.library.contents(of: "b.wav") == [2, 2])
  }

  @Test("a prepared clip that is given up leaves no file, and an empty group changes nothing")
  func givesUp() throws {
    let groups = groups()
    do {
      let clip = try groups.prepare([1], as: "a.wav")
      #expect(hidden.count == 1)
      _ = clip
    }
    #expect(home.names.isEmpty)
    #expect(groups.publish([]).isEmpty)
  }

  @Test("if the bytes of one clip cannot be synchronized, only that clip has an error and leaves no file")
  func oneFails() throws {
    var calls = FileSystemCalls.system
    let synchronize = calls.synchronize
    calls.synchronize = { (file) throws(SystemError) in
      if try FileSystemCalls.system.status(file).byteCount == 2 { throw SystemError(number: EIO) }
      try synchronize(file)
    }
    _ = try home.library.publish([9], as: "b.wav")
    let groups = groups(calls)
    let clips = try ["a.wav": [1], "b.wav": [2, 2], "c.wav": [3, 3, 3]].sorted { $0.key < $1.key }
      .map { try groups.prepare($0.value, as: $0.key) }
    #expect(groups.publish(clips).map { $0?.code } == [nil, .systemFailure, nil])
    #expect(home.names == ["a.wav", "b.wav", "c.wav"])
    #expect(try home.library.contents(of: "b.wav") == [9])
  }

  @Test(
    "a clip's temporary name is removed once after a failure, and never after a success, when others may use the name",
    arguments: [true, false])
  func removals(fails: Bool) throws {
    let removals = Counter()
    let system = FileSystemCalls.system
    var calls = system
    calls.synchronize = { (file) throws(SystemError) in
      if fails, try system.status(file).isRegularFile { throw SystemError(number: EIO) }
      try system.synchronize(file)
    }
    calls.remove = { (folder, name) throws(SystemError) in
      removals.add()
      try system.remove(folder, name)
    }
    let groups = groups(calls)
    do {
      let clip = try groups.prepare([1], as: "a.wav")
      #expect(groups.publish([clip]).map { $0?.code } == [fails ? .systemFailure : nil])
    }
    #expect(removals.value == (fails ? 1 : 0))
    #expect(home.names == (fails ? [] : ["a.wav"]))
  }

  @Test("a folder with a clip's name is moved away, and the clip is published with the others of its group")
  func folderAsClip() throws {
    try home.makeSoundsDirectory()
    let place = home.container.soundsDirectory.appending(path: "a.wav")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    let groups = groups()
    let clips = [try groups.prepare([1], as: "a.wav"), try groups.prepare([2], as: "b.wav")]
    #expect(groups.publish(clips).map { $0?.code } == [nil, nil])
    #expect(home.names == [".set-aside-0", "a.wav", "b.wav"])
  }

  @Test("if the folder cannot be synchronized, no clip of the group counts as published")
  func folderFails() throws {
    try home.makeSoundsDirectory()
    var calls = FileSystemCalls.system
    let synchronize = calls.synchronize
    calls.synchronize = { (file) throws(SystemError) in
      guard try FileSystemCalls.system.status(file).isRegularFile else { throw SystemError(number: EIO) }
      try synchronize(file)
    }
    let groups = groups(calls)
    let clips = [try groups.prepare([1], as: "a.wav"), try groups.prepare([2], as: "b.wav")]
    #expect(groups.publish(clips).map { $0?.code } == [.systemFailure, .systemFailure])
    #expect(home.names == ["a.wav", "b.wav"])
    #expect(hidden.isEmpty)
  }

  @Test("a failure while a clip is written is an error of this clip only, and the group's other clips are published")
  func writingFails() throws {
    var calls = FileSystemCalls.system
    let write = calls.write
    calls.write = { (file, bytes) throws(SystemError) in
      guard bytes.count < 100 else { throw SystemError(number: ENOSPC) }
      return try write(file, bytes)
    }
    let groups = groups(calls)
    let first = try groups.prepare([1], as: "a.wav")
    let error = #expect(throws: SoundLibraryError.self) {
      try groups.prepare([UInt8](repeating: 1, count: 100), as: "b.wav")
    }
    #expect(error?.code == .noSpace)
    let last = try groups.prepare([3], as: "c.wav")
    #expect(groups.publish([first, last]) == [nil, nil])
    #expect(home.names == ["a.wav", "c.wav"])
  }

  @Test("a clip that is too large or has an invalid name is refused, and nothing is written")
  func refuses() throws {
    let groups = groups()
    let large = [UInt8](repeating: 0, count: SoundLibrary.maximumClipBytes + 1)
    #expect(throws: SoundLibraryError.self) { try groups.prepare(large, as: "a.wav") }
    for name in ["../a.wav", ".a.wav", "a.txt", ""] {
      #expect(throws: SoundLibraryError.self) { try groups.prepare([1], as: name) }
    }
    #expect(home.names.isEmpty)
  }

  @Test("two clips of one group or of two publishers may have one name, and the clip published last stays")
  func sameName() throws {
    let (one, other) = (groups(), groups())
    let clips = [try one.prepare([1], as: "a.wav"), try one.prepare([2], as: "a.wav")]
    let third = try other.prepare([3], as: "a.wav")
    #expect(one.publish(clips) == [nil, nil])
    #expect(try home.library.contents(of: "a.wav") == [2])
    #expect(other.publish([third]) == [nil])
    #expect(home.names == ["a.wav"])
    #expect(try home.library.contents(of: "a.wav") == [3])
  }

  @Test("the hidden files of a prepared group stay, and the hidden files of a killed process are removed")
  func temporaryFiles() throws {
    for index in 0..<SoundsFolder.temporaryNameCount { try home.leaveBehind(".publishing-\(index)") }
    let groups = groups()
    let clips = try (0..<40).map { try groups.prepare([UInt8($0)], as: "\($0).wav") }
    _ = try home.library.prune(SoundKeeping(), needed: [])
    #expect(hidden.count == 40)
    for index in 0..<20 { _ = try home.library.publish([1], as: "other-\(index).wav") }
    #expect(groups.publish(clips).allSatisfy { $0 == nil })
    #expect(hidden.isEmpty)
    #expect(try home.library.contents(of: "39.wav") == [39])
  }

  @Test("prepared clips have the names of temporary files, so that the files of a killed process are found")
  func temporaryNames() throws {
    let groups = groups()
    let clips = try (0..<SoundsFolder.temporaryNameCount).map { try groups.prepare([1], as: "\($0).wav") }
    #expect(Set(hidden) == Set((0..<SoundsFolder.temporaryNameCount).map(SoundsFolder.temporaryName)))
    withExtendedLifetime(clips) {}
  }

  @Test("a folder that was deleted is created again for the next group")
  func deletedFolder() throws {
    let groups = groups()
    #expect(groups.publish([try groups.prepare([1], as: "a.wav")]) == [nil])
    try FileManager.default.removeItem(at: home.container.soundsDirectory)
    #expect(groups.publish([try groups.prepare([2], as: "a.wav")]) == [nil])
    #expect(try home.library.contents(of: "a.wav") == [2])
  }

  @Test("publishing a group closes every opened file descriptor", arguments: [nil] + Step.allCases)
  func descriptors(_ failing: Step?) throws {
    let open = Counter()
    let groups = groups((failing?.failing(with: EIO) ?? .system).counting(open))
    do {
      let clips = ["a.wav", "b.wav"].compactMap { try? groups.prepare([1], as: $0) }
      _ = groups.publish(clips)
    }
    #expect(hidden.isEmpty)
    #expect(open.value <= 1)  // The folder, if no group closed it.
    _ = groups.publish([])
    #expect(open.value == 0)
  }

  @Test("a task waits for a prepared clip until the clip is published or given up, and not for other clips")
  func waits() async throws {
    let groups = groups()
    #expect(await groups.waitForClips(named: "a.wav") == false)
    var clip: PreparedClip? = try groups.prepare([1], as: "a.wav")
    #expect(await groups.waitForClips(named: "b.wav") == false)
    let library = home.library
    async let found = {
      _ = await groups.waitForClips(named: "a.wav")
      return try library.contents(of: "a.wav")
    }()
    #expect(groups.publish([clip].compactMap(\.self)) == [nil])
    #expect(try await found == [1])
    #expect(await groups.waitForClips(named: "a.wav") == false)

    clip = try groups.prepare([1], as: "c.wav")
    async let given = groups.waitForClips(named: "c.wav")
    clip = nil
    _ = await given
    #expect(home.names == ["a.wav"])
  }

  @Test("a task does not continue while the clip that it waits for is prepared", arguments: [true, false])
  @MainActor func stillWaits(isPublished: Bool) async throws {
    let groups = groups()
    var clip: PreparedClip? = try groups.prepare([1], as: "a.wav")
    let (begun, beginning) = AsyncStream<Void>.makeStream()
    let ended = Counter()
    let waiting = Task {
      beginning.finish()
      let found = await groups.waitForClips(named: "a.wav")
      ended.add()
      return found
    }
    // The task shares an actor with this test, so when this test continues, the task already waits.
    for await _ in begun {}
    #expect(ended.value == 0)
    if isPublished { #expect(groups.publish([clip].compactMap(\.self)) == [nil]) }
    clip = nil
    #expect(await waiting.value)
  }
}

/// Records the calls that decide what survives a power cut, with the names of the files.
private final class CallLog: Sendable {
  private let state = Locked((events: [String](), names: [Int32: String]()))

  var events: [String] { state.withLock(\.events) }

  var calls: FileSystemCalls {
    let system = FileSystemCalls.system
    var calls = system
    calls.createFile = { [state] (folder, name, permissions) throws(SystemError) in
      let file = try system.createFile(folder, name, permissions)
      state.withLock { $0.names[file] = name }
      return file
    }
    calls.write = { [state] (file, bytes) throws(SystemError) in
      let count = try system.write(file, bytes)
      state.withLock { $0.events.append("write \($0.names[file] ?? "?")") }
      return count
    }
    calls.synchronize = { [state] (file) throws(SystemError) in
      try system.synchronize(file)
      let isFile = try system.status(file).isRegularFile
      state.withLock { $0.events.append("synchronize \(isFile ? $0.names[file] ?? "?" : "folder")") }
    }
    calls.rename = { [state] (folder, name, newName) throws(SystemError) in
      try system.rename(folder, name, newName)
      state.withLock { $0.events.append("\(name) becomes \(newName)") }
    }
    return calls
  }
}
