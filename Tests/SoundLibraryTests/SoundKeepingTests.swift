// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

extension SoundLibrary {
  /// Removes the clips that a rule does not keep, in one group.
  @discardableResult
  func prune(
    _ keeping: SoundKeeping, needed: Set<String>, failed: (SoundLibraryError) -> Void = { _ in }
  ) throws(SoundLibraryError) -> [SoundKeeping.Removal] {
    try remove(try excess(keeping, needed: needed, tidies: true), failed: failed)
  }
}

@Suite("Keeping clips in a folder")
struct SoundKeepingTests {
  let home: TemporaryContainer

  init() throws { home = try TemporaryContainer() }

  private func library(hours: Double = 0, calls: FileSystemCalls = .system) -> SoundLibrary {
    SoundLibrary(container: home.container, calls: calls) { testTime.addingTimeInterval(hours * 3600) }
  }

  @Test("the library lists files with their size and last use, and leaves out links, folders and hidden files")
  func list() throws {
    #expect(try library().sounds() == [])
    _ = try library(hours: -3).publish([1, 2], as: clipName(1))
    _ = try library().publish([1, 2, 3], as: "tone.wav")
    let folder = home.container.soundsDirectory
    try FileManager.default.createDirectory(at: folder.appending(path: "b.wav"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/c.wav", withDestinationPath: "tone.wav")
    try home.leaveBehind(".publishing-3")
    #expect(
      try library().sounds() == [
        storedSound(1, hours: 3, bytes: 2), StoredSound(name: "tone.wav", byteCount: 3, lastUsed: testTime),
      ])
  }

  @Test("a use of a clip is recorded at most once an hour, and a lookup does not count as a use")
  func use() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    func lastUsed() throws -> Double {
      try library().sounds().first.map { $0.lastUsed.timeIntervalSince(testTime) / 3600 } ?? .infinity
    }
    _ = try library(hours: -8).contents(of: clipName(1))
    #expect(try lastUsed() == -10)
    #expect(try library(hours: -9.5).use(clipName(1)))
    #expect(try lastUsed() == -10)
    #expect(try library(hours: -8).use(clipName(1)))
    #expect(try lastUsed() == -8)
    #expect(try library(hours: -5).contents(of: clipName(1), isUse: true) == [1])
    #expect(try lastUsed() == -5)
    #expect(try !library().use(clipName(2)))
  }

  @Test("a recorded use in the future, from a wrong clock, is corrected")
  func future() throws {
    _ = try library(hours: 9_000).publish([1], as: clipName(1))
    #expect(try library().prune(SoundKeeping(mostBytes: 0), needed: []).isEmpty)
    #expect(try library().sounds().map(\.lastUsed) == [testTime])
  }

  @Test("the clips over the budget can be listed, and pruning removes exactly these clips")
  func prune() throws {
    for number in 1...3 { _ = try library(hours: -Double(number) - 10).publish([1, 2], as: clipName(number)) }
    let keeping = SoundKeeping(mostBytes: 3)
    let would = try library().excess(keeping, needed: [])
    #expect(would.map(\.sound.name) == [clipName(3), clipName(2)] && home.names.count == 3)
    #expect(try library().prune(keeping, needed: []) == would)
    #expect(home.names == [clipName(1)])
    #expect(try library().prune(keeping, needed: []).isEmpty)
  }

  @Test("pruning lists the folder once, also when it removes clips and temporary files")
  func listing() throws {
    for number in 1...2 { _ = try library(hours: -10).publish([1], as: clipName(number)) }
    try home.leaveBehind(".publishing-3")
    let listings = Counter()
    var calls = FileSystemCalls.system
    calls.names = { [calls] (path) throws(SystemError) in
      listings.add()
      return try calls.names(path)
    }
    #expect(try library(calls: calls).prune(SoundKeeping(mostFiles: 1), needed: []).count == 1)
    #expect(listings.value == 1 && home.names == [clipName(2)])
    try home.leaveBehind(".publishing-3")
    _ = try library(calls: calls).excess(SoundKeeping(mostFiles: 0), needed: [])
    #expect(listings.value == 2 && home.names == [".publishing-3", clipName(2)])
  }

  @Test("a clip that is used or published again during pruning stays")
  func meanwhile() throws {
    for number in 1...2 { _ = try library(hours: -10).publish([1], as: clipName(number)) }
    // The first lock is that of the removal of the first clip. By then the second one is used again.
    let first = Counter()
    var calls = FileSystemCalls.system
    calls.lock = { [calls, library = library()] (file) throws(SystemError) in
      if first.add() == 1 { _ = try? library.use(clipName(2)) }
      try calls.lock(file)
    }
    let removed = try library(calls: calls).prune(SoundKeeping(mostBytes: 0), needed: [])
    #expect(removed.map(\.sound.name) == [clipName(1)] && home.names == [clipName(2)])
  }

  @Test("a clip that is needed when its removal begins stays, and so does a tone that was chosen during pruning")
  func neededMeanwhile() throws {
    for number in 1...4 { _ = try library(hours: -10).publish([1], as: clipName(number)) }
    let excess = try library().excess(SoundKeeping(mostBytes: 0), needed: [clipName(4)])
    #expect(excess.map(\.sound.name) == [clipName(1), clipName(2), clipName(3)])
    try FileTonePreference(container: home.container).setTone(clipName(3))
    var asked: [String] = []
    let removed = try library().remove(excess) {
      asked.append($0)
      return $0 == clipName(2)
    }
    #expect(removed.map(\.sound.name) == [clipName(1)] && asked == [clipName(1), clipName(2)])
    #expect(home.names == [clipName(2), clipName(3), clipName(4)])
    #expect(try library().remove(excess).map(\.sound.name) == [clipName(2)], "the others are gone or stay")
  }

  @Test("pruning removes nothing from a folder that was removed during pruning")
  func folderRemoved() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    let excess = try library().excess(SoundKeeping(mostBytes: 0), needed: [])
    try FileManager.default.removeItem(at: home.container.soundsDirectory)
    #expect(try library().remove(excess).isEmpty)
  }

  @Test("pruning does not remove a clip whose use is just being recorded")
  func locked() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    var calls = FileSystemCalls.system
    calls.lock = { (_) throws(SystemError) in throw SystemError.busy }
    #expect(try library(calls: calls).prune(SoundKeeping(mostBytes: 0), needed: []).isEmpty)
    #expect(home.names == [clipName(1)])
  }

  @Test("a clip that is removed while its use is recorded counts as missing")
  func removedMeanwhile() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    let path = home.container.soundsDirectory.appending(path: clipName(1)).path
    var calls = FileSystemCalls.system
    calls.lock = { [calls] (file) throws(SystemError) in
      try? FileManager.default.removeItem(atPath: path)
      try calls.lock(file)
    }
    #expect(try !library(calls: calls).use(clipName(1)))
    _ = try library(hours: -10).publish([1], as: clipName(1))
    #expect(try library(calls: calls).contents(of: clipName(1), isUse: true) == nil)
  }

  @Test("pruning removes temporary files of processes that have ended, and keeps temporary files in use")
  func temporaries() throws {
    try home.leaveBehind(".publishing-3")
    try home.leaveBehind(".publishing-700")
    let inUse = home.container.soundsDirectory.appending(path: ".publishing-5")
    let lock = try #require(try LockedFile(inUse, patience: 0))
    _ = try library().prune(SoundKeeping(), needed: [])
    #expect(home.names == [".publishing-5"])
    withExtendedLifetime(lock) {}
  }

  @Test("a clip whose use cannot be recorded, for example on a read-only disk, can still be used")
  func untouchable() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    var calls = FileSystemCalls.system
    calls.touch = { (_, _) throws(SystemError) in throw SystemError(number: EROFS) }
    #expect(try library(calls: calls).use(clipName(1)))
    #expect(try library(calls: calls).contents(of: clipName(1), isUse: true) == [1])
  }

  @Test("a use of another user's file cannot be recorded, so the clip counts as missing and is made again")
  func foreign() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    var calls = FileSystemCalls.system
    calls.touch = { (_, _) throws(SystemError) in throw SystemError(number: EPERM) }
    #expect(try !library(calls: calls).use(clipName(1)))
    #expect(try library(calls: calls).contents(of: clipName(1), isUse: true) == nil)
    #expect(try library(calls: calls).contents(of: clipName(1)) == [1])
  }

  @Test("a lock that a stopped process holds delays the use of a clip, but does not block it forever")
  func stopped() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    let lock = try #require(
      try LockedFile(home.container.soundsDirectory.appending(path: clipName(1)), patience: 0))
    #expect(try !library().use(clipName(1)))
    _ = try library().publish([2], as: clipName(1))
    #expect(try library().contents(of: clipName(1), isUse: true) == [2])
    withExtendedLifetime(lock) {}
  }

  @Test("a lock that another process holds is tried 20 times, and then the clip counts as missing")
  func lockAttempts() throws {
    _ = try library(hours: -10).publish([1], as: clipName(1))
    let attempts = Counter()
    var calls = FileSystemCalls.system
    calls.lock = { (_) throws(SystemError) in
      attempts.add()
      throw SystemError.busy
    }
    #expect(try !library(calls: calls).use(clipName(1)))
    #expect(attempts.value == 20)
  }

  @Test("pruning keeps the chosen tone, even if its name has the form of a clip's name")
  func chosenTone() throws {
    for number in 1...2 { _ = try library(hours: -10).publish([1], as: clipName(number)) }
    try FileTonePreference(container: home.container).setTone(clipName(1))
    #expect(try library().prune(SoundKeeping(mostBytes: 0), needed: []).map(\.sound.name) == [clipName(2)])
  }

  @Test("a clip that pruning cannot remove is an error that names the folder, and the other clips are removed")
  func failure() throws {
    for number in 1...3 { _ = try library(hours: -10).publish([1], as: clipName(number)) }
    let first = Counter()
    var calls = FileSystemCalls.system
    calls.remove = { [calls] (folder, name) throws(SystemError) in
      if first.add() == 1 { throw SystemError(number: EACCES) }
      try calls.remove(folder, name)
    }
    var errors: [SoundLibraryError] = []
    let removed = try library(calls: calls).prune(SoundKeeping(mostBytes: 0), needed: []) { errors.append($0) }
    #expect(removed.map(\.sound.name) == [clipName(2), clipName(3)] && home.names == [clipName(1)])
    #expect(errors.map(\.code) == [.notPermitted])
    #expect(errors.allSatisfy { $0.description.hasPrefix("Removing a clip from ") })
  }
}
