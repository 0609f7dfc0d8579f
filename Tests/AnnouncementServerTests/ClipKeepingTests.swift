// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import NIOCore
import PlaybackOrder
import SoundLibrary
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

/// The service removes clips that are over the budget, or that nobody asked for. Clips are made older by their files'
/// modification times, which record the last use.
@Suite("Keeping clips in the service", .timeLimit(.minutes(10)))
struct ClipKeepingTests {
  private func service(_ change: (inout ServiceSettings) -> Void = { _ in }) throws -> TestService {
    try TestService {
      $0.hasPlayer = true
      change(&$0.settings)
    }
  }

  private func age(_ name: String, days: Double, in service: TestService) throws {
    let file = service.folder.url.appending(path: "containers/group.crier/Library/Sounds/\(name)")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -days * 86_400)], ofItemAtPath: file.path)
  }

  private func clip(_ client: TestClient, _ id: String, _ amount: String, _ more: String = "") async throws -> String {
    try await client.post(payment(id, amount, more)).string("clip.name").orThrow("a clip")
  }

  @Test("a clip that is not requested during the retention time is removed, also from memory, and can be made again")
  func retention() async throws {
    let service = try service()
    let client = try await service.client()
    let (old, new) = (try await clip(client, "p1", "1.00"), try await clip(client, "p2", "2.00"))
    try age(old, days: 30.1, in: service)
    try age(new, days: 29.9, in: service)
    await service.server.pruneClips()
    #expect(service.clips() == [new])
    #expect(try await client.get("/v1/clips/\(old)").status == 404)
    #expect(try await client.get("/v1/clips/\(new)").status == 200)
    #expect(try await clip(client, "p3", "1.00") == old)
    #expect(service.clips() == [old, new].sorted())
    let line = try service.log.lines.first { $0.contains("Clips that nobody asked for") }.orThrow("a line")
    #expect(line.contains(#""clips": 1"#) && !line.contains(old))
  }

  @Test("above the budget, the clips unused for the longest time are removed, except clips with a valid URL")
  func budget() async throws {
    let service = try service { $0.mostSounds = 1 }
    let client = try await service.client()
    let clips = [
      try await clip(client, "p1", "1.00"), try await clip(client, "p2", "2.00"), try await clip(client, "p3", "3.00"),
    ]
    for (clip, days) in zip(clips, [6.9, 8, 9]) { try age(clip, days: days, in: service) }
    await service.server.pruneClips()
    #expect(service.clips() == [clips[0]])
    try age(clips[0], days: 7.1, in: service)
    await service.server.pruneClips()
    #expect(service.clips() == [clips[0]], "one clip is within the budget")
  }

  @Test("clips that are announced or fetched again count as used, also if they are in memory")
  func used() async throws {
    let service = try service { $0.mostSoundBytes = 0 }
    let client = try await service.client()
    let clips = [
      try await clip(client, "p1", "1.00"), try await clip(client, "p2", "2.00"), try await clip(client, "p3", "3.00"),
    ]
    for clip in clips { try age(clip, days: 20, in: service) }
    #expect(try await clip(client, "p4", "1.00") == clips[0])
    #expect(try await client.get("/v1/clips/\(clips[1])").status == 200)
    await service.server.pruneClips()
    #expect(service.clips() == clips.prefix(2).sorted())
  }

  @Test("the clips of waiting announcements and of unfinished batches stay, whatever the clips' age and the budget")
  func needed() async throws {
    let service = try service { $0.mostSoundBytes = 0 }
    let client = try await service.client()
    let waiting = try await clip(client, "p1", "1.00", #""deliver":["clip","play"]"#)
    let ended = try await clip(client, "p2", "2.00")
    let listed = try await clip(client, "p3", "3.00")
    let noted = try await clip(client, "p4", "4.00")
    for clip in [waiting, ended, listed, noted] { try age(clip, days: 1_000, in: service) }
    let held = service.server.batches.heldClips
    let list = try await client.send(
      .post, "/v1/batches", headers: ["Content-Type": "text/csv"], body: Data("amount,currency\n5.00,USD\n".utf8))
    let id = try list.string("id").orThrow("a batch")
    await held.hold([listed, noted], account: "shop", batch: id)
    await held.write(of: id)
    await held.hold([listed], account: "shop", batch: id)
    await service.server.pruneClips()
    #expect(Set(service.clips()).isSuperset(of: [waiting, listed, noted]))
    #expect(!service.clips().contains(ended))
    #expect(try await UnfinishedBatches.ids(in: service.folder.url.appending(path: "batches")) == [id])
  }

  @Test("the clip of an announcement with a waiting replay stays")
  func replayed() async throws {
    let service = try service {
      $0.mostSoundBytes = 0
    }
    let client = try await service.client()
    let player = try await service.startPlayer()
    service.output.hear()
    let heard = try await clip(client, "p1", "1.00", #""deliver":["clip","play"]"#)
    let other = try await clip(client, "p2", "2.00")
    try await service.event(.played, of: player)
    // The replay has not been rendered, because nothing plays it.
    let original = try await service.ledger.entry(account: "shop", id: "p1").orThrow("an announcement").number
    var replay = StoredAnnouncement(
      account: "shop", id: "replay", lane: "elsewhere", category: .alert, payload: Data("{}".utf8))
    replay.isReplay = true
    let number = try await service.ledger.accept(replay, again: original, for: "shop").number
    for clip in [heard, other] { try age(clip, days: 1_000, in: service) }
    await service.server.pruneClips()
    #expect(service.clips() == [heard])
    try await service.ledger.set(number, .cancelled)
    await service.server.pruneClips()
    #expect(service.clips().isEmpty)
  }

  @Test("the removal of clips keeps a clip if a replay of its announcement is requested at the same time")
  func replayedMeanwhile() async throws {
    let service = try service()
    let client = try await service.client()
    let player = try await service.startPlayer()
    service.output.hear()
    let heard = try await clip(client, "p1", "1.00", #""deliver":["clip","play"]"#)
    let other = try await clip(client, "p2", "2.00")
    try await service.event(.played, of: player)
    let ledger = service.ledger
    let original = try await ledger.entry(account: "shop", id: "p1").orThrow("an announcement").number
    for clip in [heard, other] { try age(clip, days: 1_000, in: service) }
    let removed = try await service.server.clips.prune(SoundKeeping(mostBytes: 0)) { names in
      let needed = try await ledger.neededClips(ofBatches: [], among: names)
      guard names == nil else { return needed }
      var replay = StoredAnnouncement(
        account: "shop", id: "replay", lane: "elsewhere", category: .alert, payload: Data("{}".utf8))
      replay.isReplay = true
      _ = try await ledger.accept(replay, again: original, for: "shop")
      return needed
    } failed: {
      Issue.record("\($0)")
    }
    #expect(removed.map(\.sound.name) == [other])
    #expect(service.clips() == [heard])
  }

  @Test("the removal of clips keeps a clip that is served from memory at the same time, and its use is recorded")
  func servedMeanwhile() async throws {
    let service = try service()
    let client = try await service.client()
    let served = try await clip(client, "p1", "1.00")
    let other = try await clip(client, "p2", "2.00")
    for clip in [served, other] { try age(clip, days: 1_000, in: service) }
    let clips = service.server.clips
    let removed = try await clips.prune(SoundKeeping(mostBytes: 0)) { names in
      if names != nil { #expect(clips.fileInMemory(named: served) != nil) }
      return []
    } failed: {
      Issue.record("\($0)")
    }
    #expect(removed.map(\.sound.name) == [other] && service.clips() == [served])
    #expect(try await client.get("/v1/clips/\(served)").status == 200)
    #expect(try await client.get("/v1/clips/\(other)").status == 404)
    await service.server.keepHouseEveryMinute()
    #expect(try lastUsed(served, in: service) > Date(timeIntervalSinceNow: -3_600))
  }

  @Test("an error in the middle of a removal of clips is logged and ends the removal")
  func failureMeanwhile() async throws {
    struct Failure: Error {}
    let service = try service()
    let client = try await service.client()
    let old = try await clip(client, "p1", "1.00")
    try age(old, days: 1_000, in: service)
    let failures = Locked(0)
    let removed = try await service.server.clips.prune(SoundKeeping(mostBytes: 0)) { names in
      if names != nil { throw Failure() }
      return []
    } failed: { _ in
      failures.withLock { $0 += 1 }
    }
    #expect(removed.isEmpty && service.clips() == [old] && failures.withLock { $0 } == 1)
  }

  @Test("the use of a clip is recorded even if the clip leaves the memory before the recording")
  func evicted() async throws {
    let service = try service { $0.cacheBytes = 1 << 20 }
    let client = try await service.client()
    let used = try await clip(client, "p1", "1.00")
    let other = try await clip(client, "p2", "2.00")
    for clip in [used, other] { try age(clip, days: 20, in: service) }
    let clips = service.server.clips
    #expect(try await client.get("/v1/clips/\(used)").status == 200)
    // Two files that fill the memory alone.
    for letter in ["a", "b"] {
      let file = Clips.File(
        bytes: ByteBuffer(bytes: [UInt8](repeating: 0, count: 520_000)), digest: letter, mediaType: "audio/wav")
      clips.keep(file, as: String(repeating: letter, count: 64) + ".wav", readAt: clips.moment)
    }
    #expect(clips.fileInMemory(named: used) == nil && clips.fileInMemory(named: other) == nil)
    // Until the use is recorded, the clip's file may not be removed.
    #expect(!clips.release(used) && clips.release(other))
    await service.server.keepHouseEveryMinute()
    #expect(clips.release(used))
    #expect(try lastUsed(used, in: service) > Date(timeIntervalSinceNow: -3_600))
    #expect(try lastUsed(other, in: service) < Date(timeIntervalSinceNow: -86_400))
  }

  private func lastUsed(_ name: String, in service: TestService) throws -> Date {
    try service.server.clips.library("group.crier").sounds().first { $0.name == name }.orThrow("a clip").lastUsed
  }

  @Test("the use of a clip from memory is written to the disk within a minute, and at most once an hour")
  func usedOnDisk() async throws {
    let service = try service()
    let client = try await service.client()
    let clips = [try await clip(client, "p1", "1.00"), try await clip(client, "p2", "2.00")]
    await service.server.keepHouseEveryMinute()
    for clip in clips { try age(clip, days: 20, in: service) }
    #expect(try await client.get("/v1/clips/\(clips[0])").status == 200)
    let folder = try service.server.clips.library("group.crier")
    func lastUsed(_ name: String) throws -> Date {
      try folder.sounds().first { $0.name == name }.orThrow("a clip").lastUsed
    }
    let old = Date(timeIntervalSinceNow: -19 * 86_400)
    #expect(try lastUsed(clips[0]) < old, "a request writes nothing")
    await service.server.keepHouseEveryMinute()
    #expect(try lastUsed(clips[0]) > Date(timeIntervalSinceNow: -3_600) && lastUsed(clips[1]) < old)
    // Another process, which knows nothing about the service's memory, keeps the clip.
    let excess = try folder.excess(SoundKeeping(mostFiles: 0), needed: [], tidies: true)
    #expect(try folder.remove(excess).map(\.sound.name) == [clips[1]])
    // A use within the hour is not written again.
    try age(clips[0], days: 0.5 / 24, in: service)
    let before = try lastUsed(clips[0])
    #expect(try await client.get("/v1/clips/\(clips[0])").status == 200)
    await service.server.keepHouseEveryMinute()
    #expect(try lastUsed(clips[0]) == before)
  }

  @Test("the memory keeps no report of a removed clip, because the report has the spoken words")
  func reports() async throws {
    let service = try service()
    let client = try await service.client()
    let clips = [
      try await clip(client, "p1", "1.00"), try await clip(client, "p2", "2.00"), try await clip(client, "p3", "3.00"),
    ]
    #expect(service.server.clips.reportCount == 3)
    try age(clips[0], days: 31, in: service)
    await service.server.pruneClips()
    #expect(service.server.clips.reportCount == 2)
    #expect(try await client.send(.delete, "/v1/announcements/p2").status == 200)
    #expect(service.server.clips.reportCount == 1)
    #expect(service.clips() == [clips[2]])
  }

  @Test("a tone stays, whatever its age and the budget for clips")
  func tones() async throws {
    let service = try service { $0.mostSounds = 0 }
    let client = try await service.client()
    let clip = try await clip(client, "p1", "1.00")
    let folder = service.folder.url.appending(path: "containers/group.crier/Library/Sounds")
    try Data([1]).write(to: folder.appending(path: "tone.wav"))
    for name in [clip, "tone.wav"] { try age(name, days: 1_000, in: service) }
    await service.server.pruneClips()
    #expect(service.clips() == ["tone.wav"])
  }

  @Test("a clip with a valid URL is also removed if the retention time is shorter than the URL's validity")
  func shortRetention() async throws {
    let service = try service { $0.retention = 86_400 }
    let client = try await service.client()
    let clips = [try await clip(client, "p1", "1.00"), try await clip(client, "p2", "2.00")]
    try age(clips[0], days: 1.1, in: service)
    await service.server.pruneClips()
    #expect(service.clips() == [clips[1]])
  }

  @Test("without a limit on clips, only the retention time applies, and an unreadable folder causes a warning")
  func noLimits() async throws {
    let service = try service { ($0.mostSoundBytes, $0.mostSounds) = (nil, nil) }
    let client = try await service.client()
    let clip = try await clip(client, "p1", "1.00")
    try age(clip, days: 29, in: service)
    await service.server.pruneClips()
    #expect(service.clips() == [clip])
    let folder = service.folder.url.appending(path: "containers/group.crier/Library")
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    await service.server.pruneClips()
    #expect(service.log.lines.contains { $0.contains("An old clip could not be removed") })
  }

  @Test(
    "clips of app groups that left the settings are pruned too, and a broken folder does not stop the pruning"
  )
  func otherGroups() async throws {
    let service = try service()
    let containers = service.folder.url.appending(path: "containers")
    let name = String(repeating: "a", count: 64) + ".wav"
    let former = containers.appending(path: "group.former/Library/Sounds")
    try FileManager.default.createDirectory(at: former, withIntermediateDirectories: true)
    try Data([1]).write(to: former.appending(path: name))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -31 * 86_400)], ofItemAtPath: former.path + "/" + name)
    try FileManager.default.createDirectory(
      at: containers.appending(path: "group.broken"), withIntermediateDirectories: true)
    try Data().write(to: containers.appending(path: "group.broken/Library"))
    await service.server.pruneClips()
    #expect(service.clips("group.former").isEmpty)
  }
}
