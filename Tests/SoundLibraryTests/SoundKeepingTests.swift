// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

/// The name of a rendered clip.
private func clip(_ number: Int) -> String {
  String(repeating: "a", count: 64 - "\(number)".count) + "\(number).wav"
}

private let now = Date(timeIntervalSince1970: 1_800_000_000)

/// A clip that was last used this many hours ago.
private func sound(_ number: Int, hours: Double, bytes: Int = 100) -> StoredSound {
  StoredSound(name: clip(number), byteCount: bytes, lastUsed: now.addingTimeInterval(-hours * 3600))
}

@Suite("The rule for keeping clips")
struct SoundKeepingRuleTests {
  private func removed(
    _ keeping: SoundKeeping, _ sounds: [StoredSound], needed: Set<String> = []
  ) -> [(String, SoundKeeping.Reason)] {
    keeping.removals(from: sounds, needed: needed, at: now).map { ($0.sound.name, $0.reason) }
  }

  @Test("without limits nothing is removed")
  func noLimits() {
    #expect(removed(SoundKeeping(), [sound(1, hours: 100_000)]).isEmpty)
  }

  @Test("over the budget in bytes, the clips unused for the longest time go, until the rest fits")
  func bytes() {
    let sounds = [sound(1, hours: 5), sound(2, hours: 9), sound(3, hours: 7), sound(4, hours: 3)]
    for (limit, names) in [
      (400, []), (399, [clip(2)]), (300, [clip(2)]), (299, [clip(2), clip(3)]),
      (0, [clip(2), clip(3), clip(1), clip(4)]),
    ] {
      let removals = removed(SoundKeeping(mostBytes: limit), sounds)
      #expect(removals.map(\.0) == names && removals.allSatisfy { $0.1 == .budget }, "\(limit)")
    }
  }

  @Test("too many files are removed in the same order, and tones count but stay")
  func files() {
    let tone = StoredSound(name: "tone.wav", byteCount: 1_000, lastUsed: now.addingTimeInterval(-1e8))
    let sounds = [tone, sound(1, hours: 5), sound(2, hours: 9)]
    #expect(removed(SoundKeeping(mostFiles: 3), sounds).isEmpty)
    #expect(removed(SoundKeeping(mostFiles: 2), sounds).map(\.0) == [clip(2)])
    #expect(removed(SoundKeeping(mostFiles: 0), sounds).map(\.0) == [clip(2), clip(1)])
  }

  @Test("clips that nobody asked for during the longest time go, also within the budget")
  func unused() {
    let sounds = [sound(1, hours: 24 * 31), sound(2, hours: 24 * 29)]
    let removals = removed(SoundKeeping(mostBytes: 1_000, longestUnused: 30 * 86_400), sounds)
    #expect(removals.map(\.0) == [clip(1)] && removals.map(\.1) == [.unused])
  }

  @Test("no clip goes in the hour after its use, even if the recorded use is up to an hour too early")
  func young() {
    let sounds = [sound(1, hours: 1.9), sound(2, hours: 2.1), sound(3, hours: 0), sound(4, hours: -5)]
    for keeping in [SoundKeeping(mostBytes: 0), SoundKeeping(mostFiles: 0), SoundKeeping(longestUnused: 0)] {
      #expect(removed(keeping, sounds).map(\.0) == [clip(2)])
    }
  }

  @Test("a clip stays as long as a link to it is valid")
  func links() {
    let keeping = SoundKeeping(mostBytes: 0, keptAfterUse: 7 * 86_400)
    #expect(removed(keeping, [sound(1, hours: 7 * 24), sound(2, hours: 7 * 24 + 2)]).map(\.0) == [clip(2)])
  }

  @Test("needed clips stay, however old they are and whatever the budget")
  func needed() {
    let sounds = [sound(1, hours: 9_000), sound(2, hours: 8_000)]
    let keeping = SoundKeeping(mostBytes: 0, mostFiles: 0, longestUnused: 0)
    #expect(removed(keeping, sounds, needed: [clip(1)]).map(\.0) == [clip(2)])
  }

  @Test(
    "only names of rendered clips are removed",
    arguments: [
      ("tone.wav", false), (String(repeating: "a", count: 64) + ".wav", true),
      (String(repeating: "0", count: 64) + ".caf", true), (String(repeating: "9", count: 64) + ".aiff", true),
      (String(repeating: "A", count: 64) + ".wav", false), (String(repeating: "a", count: 63) + ".wav", false),
      (String(repeating: "a", count: 65) + ".wav", false), (String(repeating: "g", count: 64) + ".wav", false),
      (String(repeating: "a", count: 64) + ".mp3", false), (String(repeating: "a", count: 64) + ".wav.wav", false),
      (String(repeating: "a", count: 64), false), ("", false), (".wav", false),
    ])
  func names(name: String, isClip: Bool) {
    #expect(SoundLibrary.isRenderedClip(name) == isClip)
  }
}

@Suite("Keeping clips in a folder")
struct SoundKeepingTests {
  let home: TemporaryContainer

  init() throws { home = try TemporaryContainer() }

  private func library(hours: Double = 0, calls: FileSystemCalls = .system) -> SoundLibrary {
    SoundLibrary(container: home.container, calls: calls) { now.addingTimeInterval(hours * 3600) }
  }

  @Test("the library lists files with their size and last use, and leaves out links, folders and hidden files")
  func list() throws {
    #expect(try library().sounds() == [])
    _ = try library(hours: -3).publish([1, 2], as: clip(1))
    _ = try library().publish([1, 2, 3], as: "tone.wav")
    let folder = home.container.soundsDirectory
    try FileManager.default.createDirectory(at: folder.appending(path: "b.wav"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/c.wav", withDestinationPath: "tone.wav")
    try home.leaveBehind(".publishing-3")
    #expect(
      try library().sounds() == [
        sound(1, hours: 3, bytes: 2), StoredSound(name: "tone.wav", byteCount: 3, lastUsed: now),
      ])
  }

  @Test("a use is recorded once an hour, and looking at a clip is no use")
  func use() throws {
    _ = try library(hours: -10).publish([1], as: clip(1))
    func lastUsed() throws -> Double {
      try library().sounds().first.map { $0.lastUsed.timeIntervalSince(now) / 3600 } ?? .infinity
    }
    _ = try library(hours: -8).contents(of: clip(1))
    #expect(try lastUsed() == -10)
    #expect(try library(hours: -9.5).use(clip(1)))
    #expect(try lastUsed() == -10)
    #expect(try library(hours: -8).use(clip(1)))
    #expect(try lastUsed() == -8)
    #expect(try library(hours: -5).contents(of: clip(1), isUse: true) == [1])
    #expect(try lastUsed() == -5)
    #expect(try !library().use(clip(2)))
  }

  @Test("a use in the future, from a wrong clock, is corrected")
  func future() throws {
    _ = try library(hours: 9_000).publish([1], as: clip(1))
    #expect(try library().prune(SoundKeeping(mostBytes: 0), needed: []).isEmpty)
    #expect(try library().sounds().map(\.lastUsed) == [now])
  }

  @Test("pruning removes the clips over the budget, and only lists them if it is asked to")
  func prune() throws {
    for number in 1...3 { _ = try library(hours: -Double(number) - 10).publish([1, 2], as: clip(number)) }
    let keeping = SoundKeeping(mostBytes: 3)
    let would = try library().prune(keeping, needed: [], removes: false)
    #expect(would.map(\.sound.name) == [clip(3), clip(2)] && home.names.count == 3)
    #expect(try library().prune(keeping, needed: []) == would)
    #expect(home.names == [clip(1)])
    #expect(try library().prune(keeping, needed: []).isEmpty)
  }

  @Test("a clip that is used or published again while others are removed stays")
  func meanwhile() throws {
    for number in 1...2 { _ = try library(hours: -10).publish([1], as: clip(number)) }
    // The first lock is that of the removal of the first clip. By then the second one is used again.
    let first = Counter()
    var calls = FileSystemCalls.system
    calls.lock = { [calls, library = library()] (file) throws(SystemError) in
      if first.add() == 1 { _ = try? library.use(clip(2)) }
      try calls.lock(file)
    }
    let removed = try library(calls: calls).prune(SoundKeeping(mostBytes: 0), needed: [])
    #expect(removed.map(\.sound.name) == [clip(1)] && home.names == [clip(2)])
  }

  @Test("a clip whose use is just being recorded is not removed")
  func locked() throws {
    _ = try library(hours: -10).publish([1], as: clip(1))
    var calls = FileSystemCalls.system
    calls.lock = { (_) throws(SystemError) in throw SystemError.busy }
    #expect(try library(calls: calls).prune(SoundKeeping(mostBytes: 0), needed: []).isEmpty)
    #expect(home.names == [clip(1)])
  }

  @Test("a clip that is removed while its use is recorded counts as missing")
  func removedMeanwhile() throws {
    _ = try library(hours: -10).publish([1], as: clip(1))
    let path = home.container.soundsDirectory.appending(path: clip(1)).path
    var calls = FileSystemCalls.system
    calls.waitForLock = { [calls] (file) throws(SystemError) in
      try? FileManager.default.removeItem(atPath: path)
      try calls.waitForLock(file)
    }
    #expect(try !library(calls: calls).use(clip(1)))
    _ = try library(hours: -10).publish([1], as: clip(1))
    #expect(try library(calls: calls).contents(of: clip(1), isUse: true) == nil)
  }

  @Test("the temporary files of processes that have ended are removed, and those of others stay")
  func temporaries() throws {
    try home.leaveBehind(".publishing-3")
    try home.leaveBehind(".publishing-700")
    let inUse = home.container.soundsDirectory.appending(path: ".publishing-5")
    let lock = try #require(try LockedFile(inUse, patience: 0))
    _ = try library().prune(SoundKeeping(), needed: [])
    #expect(home.names == [".publishing-5"])
    withExtendedLifetime(lock) {}
  }

  @Test("a clip that cannot be touched, as on a read-only disk, can still be used")
  func untouchable() throws {
    _ = try library(hours: -10).publish([1], as: clip(1))
    var calls = FileSystemCalls.system
    calls.touch = { (_, _) throws(SystemError) in throw SystemError(number: EROFS) }
    #expect(try library(calls: calls).use(clip(1)))
    #expect(try library(calls: calls).contents(of: clip(1), isUse: true) == [1])
  }

  @Test("a removal that fails is an error that names the folder")
  func failure() throws {
    _ = try library(hours: -10).publish([1], as: clip(1))
    var calls = FileSystemCalls.system
    calls.remove = { (_, _) throws(SystemError) in throw SystemError(number: EROFS) }
    let error = #expect(throws: SoundLibraryError.self) {
      try library(calls: calls).prune(SoundKeeping(mostBytes: 0), needed: [])
    }
    #expect(error?.code == .readOnly && error?.description.hasPrefix("Removing a clip from ") == true)
    #expect(home.names == [clip(1)])
  }
}
