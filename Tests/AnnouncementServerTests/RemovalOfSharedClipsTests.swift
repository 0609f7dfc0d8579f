// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import Playback
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Removing a clip that several announcements share", .timeLimit(.minutes(10)))
struct RemovalOfSharedClipsTests {
  private let service: TestService
  private var clips: Clips { service.server.clips }

  init() throws {
    service = try TestService {
      $0.hasPlayer = true
      $0.settings.groups = ["group.other"]
    }
  }

  private func remove(_ client: TestClient, _ id: String = "p1") async throws -> TestAnswer {
    try await client.send(.delete, "/v1/announcements/\(id)")
  }

  private func removedClips(_ client: TestClient, _ id: String = "p1") async throws -> [String]? {
    let answer = try await remove(client, id)
    #expect(answer.status == 200, "\(answer.text)")
    return try answer.value("clips") as? [String]
  }

  /// A batch of another account that has ended.
  private func batch(_ client: TestClient, _ list: String = "amount,currency,locale\n12.50,USD,en-US\n") async throws
    -> String
  {
    let place = try await client.postBatch(list).header("Location").orThrow("a place")
    _ = try await client.end(of: place)
    return place
  }

  // MARK: Groups

  @Test(
    "a clip is removed only from the group of its announcement, and stays in other groups", arguments: [false, true])
  func groups(isAdmin: Bool) async throws {
    let client = try await service.client(isAdmin ? [.admin] : [.announce, .read])
    let clip = try await client.post(payment()).string("clip.name").orThrow("a clip")
    _ = try await client.post(payment("p2", "12.50", #""group":"group.other""#))
    #expect(try await removedClips(client) == [clip])
    #expect(service.clips().isEmpty && service.clips("group.other") == [clip])
    #expect(try await removedClips(client, "p2") == [clip])
    #expect(service.clips("group.other").isEmpty)
  }

  @Test("the clip of a played announcement without a stored response is removed from the announcement's group")
  func pruned() async throws {
    let client = try await service.client()
    let player = try await service.startPlayer()
    service.output.hear()
    let clip = try await client.post(payment("p1", "12.50", #""deliver":["play"],"group":"group.other""#))
      .string("clip.name").orThrow("a clip")
    try await service.event(.played, of: player)
    _ = try await client.post(payment("p2"))
    while try await service.ledger.pruneAnswers(before: Date(timeIntervalSinceNow: 60)) > 0 {}
    #expect(try await removedClips(client) == [clip])
    #expect(service.clips() == [clip] && service.clips("group.other").isEmpty)
  }

  // MARK: Replays

  @Test(
    "an announcement is not removed while its replay waits, and its cancelled replays are removed with it")
  func replays() async throws {
    let client = try await service.client()
    let player = try await service.startPlayer()
    service.output.hearAll()
    let clip = try await client.post(payment("p1", "12.50", #""deliver":["play"]"#)).string("clip.name")
      .orThrow("a clip")
    try await service.event(.played, of: player)
    // One replay is heard. Its entry has the clip from then on.
    let heard = try await player.replay()
    try await service.event(.played, heard, of: player)
    try await player.pause()
    let waiting = try await player.replay()
    let refused = try await remove(client)
    #expect(refused.status == 409 && refused.code == "not_ended")
    #expect(service.clips().contains(clip))
    #expect(try await client.send(.delete, "/v1/playback/p1").status == 200)
    #expect(try await removedClips(client) == [clip])
    #expect(!service.clips().contains(clip), "only the clip of the word before replays stays")
    for number in [heard, waiting] { #expect(try await service.ledger.entry(number) == nil) }
    #expect(try await client.send(.post, "/v1/playback/replay").code == "nothing_to_replay")
  }

  // MARK: At the same moment

  @Test("a removal waits for an announcement in progress with the same clip, and keeps the clip")
  func accepting() async throws {
    let client = try await service.client()
    let clip = try await client.post(payment()).string("clip.name").orThrow("a clip")
    let removal = try await clips.turns.share([clip]) {
      let removal = Task { try await removedClips(client) }
      try await eventually { await clips.turns.waitingCount >= 1 }
      _ = try await service.ledger.accept(
        answer: NewAnswer(
          account: "other", key: "id:q", bodyDigest: Data(count: 32), id: "q", status: 201, report: Data(),
          clip: PublishedClip(name: clip, group: "group.crier")))
      return removal
    }
    #expect(try await removal.value == [])
    #expect(service.clips() == [clip])
  }

  @Test("an announcement that is made during the removal of its clip renders the clip again before its response")
  func removing() async throws {
    let client = try await service.client()
    let clip = try await client.post(payment()).string("clip.name").orThrow("a clip")
    let other = try await service.client(account: "other")
    let posting = try await clips.turns.take([clip]) { () async throws -> Task<TestAnswer, any Error> in
      let posting = Task { try await other.post(payment()) }
      try await eventually { await clips.turns.waitingCount >= 1 }
      #expect(try await clips.remove(clip, from: "group.crier"))
      return posting
    }
    let answer = try await posting.value
    #expect(try answer.status == 201 && answer.string("clip.name") == clip)
    #expect(service.clips() == [clip])
    #expect(try await other.get("/v1/clips/\(clip)").status == 200)
  }

  @Test(
    "an account that gets 201 can fetch its clip, even while another account removes its announcement with the clip")
  func together() async throws {
    let client = try await service.client()
    let other = try await service.client(account: "other")
    for number in 1...60 {
      let body = payment("p\(number)", "\(number).00")
      let clip = try await client.post(body).string("clip.name").orThrow("a clip")
      async let removed = remove(client, "p\(number)")
      async let posted = other.post(body)
      #expect(try await removed.status == 200)
      #expect(try await posted.status == 201)
      #expect(service.clips().contains(clip))
      #expect(try await other.get("/v1/clips/\(clip)").status == 200)
    }
  }

  @Test("a clip's file that was read before its removal is not put into the cache afterwards")
  func memory() async throws {
    let client = try await service.client()
    let clip = try await client.post(payment()).string("clip.name").orThrow("a clip")
    let moment = clips.moment
    let file = try await clips.file(named: clip).orThrow("a file")
    #expect(try await removedClips(client) == [clip])
    clips.keep(file, as: clip, readAt: moment)
    #expect(clips.fileInMemory(named: clip) == nil)
    #expect(try await client.get("/v1/clips/\(clip)").status == 404)
    _ = try await client.post(payment())
    #expect(clips.fileInMemory(named: clip) != nil)
  }

  // MARK: Batches

  @Test("a clip stays while a running batch of another account contains the clip")
  func running() async throws {
    let client = try await service.client()
    let body = payment("p1", "12.50", #""locale":"en-US""#)
    _ = try await client.post(body)
    let other = try await service.client(account: "other")
    // The service does this before the first list arrives, and removes what a former service was writing.
    await service.server.batches.load()
    service.startBatches()
    service.voice.hold()
    let list = body + "\n" + #"{"text":"two","locale":"en-US"}"# + "\n"
    let place = try await other.postBatch(list, "application/jsonl").header("Location").orThrow("a place")
    try await eventually { try await other.get(place).number("done") == 1 }
    #expect(try await removedClips(client) == [])
    service.voice.release()
    #expect(try await other.end(of: place).number("done") == 2)
    #expect(service.clips().count == 2)
  }

  @Test("a batch row is rendered again if its clip is removed before the row is reported")
  func row() async throws {
    let client = try await service.client()
    let clip = try await client.post(payment("p1", "12.50", #""locale":"en-US""#)).string("clip.name")
      .orThrow("a clip")
    let other = try await service.client(account: "other")
    let place = try await clips.turns.take([clip]) {
      // The service does this before the first list arrives, and removes what a former service was writing.
      await service.server.batches.load()
      service.startBatches()
      let list = "amount,currency,locale\n12.50,USD,en-US\n"
      let place = try await other.postBatch(list).header("Location").orThrow("a place")
      try await eventually { await clips.turns.waitingCount >= 1 }
      #expect(try await clips.remove(clip, from: "group.crier"))
      return place
    }
    #expect(try await other.end(of: place).number("done") == 1)
    #expect(service.clips() == [clip])
  }

  /// Finishes a batch of another account, and stops the batches of the service.
  ///
  /// - Returns: The path of the batch.
  private func finishedBatch() async throws -> String {
    let other = try await service.client(account: "other")
    // The service does this before the first list arrives, and removes what a former service was writing.
    await service.server.batches.load()
    let worker = service.startBatches()
    let place = try await batch(other)
    worker.cancel()
    await worker.value
    return place
  }

  /// Changes the record of a batch of another account, and returns the next service of the home.
  private func next(_ place: String, _ change: (inout [String: Any]) throws -> Void) throws -> TestService {
    let id = try place.split(separator: "/").last.orThrow("an id")
    let file = service.folder.url.appending(path: "batches/\(id).json")
    var record = try (JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]).orThrow("a record")
    try change(&record)
    try JSONSerialization.data(withJSONObject: record).write(to: file)
    return try TestService(in: service.folder)
  }

  @Test("the clips of an earlier version's batch stay too, because the service notes them from the batch's result")
  func earlier() async throws {
    let place = try await finishedBatch()
    let id = String(try place.split(separator: "/").last.orThrow("an id"))
    try await service.ledger.forgetClips(ofBatch: id)
    let next = try next(place) { record in
      let areNoted = record.removeValue(forKey: "areClipsNoted") as? Bool
      #expect(areNoted == true)
    }
    await next.server.batches.load()
    let client = TestClient(server: next.server, key: try await service.client().key)
    _ = try await client.post(payment("p1", "12.50", #""locale":"en-US""#))
    #expect(try await removedClips(client) == [])
    let batches = try (next.server.batches.place as? FileBatches).orThrow("batches in files")
    #expect(await batches.records[id]?.areClipsNoted == true)
  }

  @Test("a clip of a finished batch stays until the batch is pruned")
  func old() async throws {
    let place = try await finishedBatch()
    let next = try next(place) { record in
      var status = try (record["status"] as? [String: Any]).orThrow("a status")
      status["finished_at"] = Date(timeIntervalSinceNow: -Batches.longestLifetime - 60).timeIntervalSinceReferenceDate
      record["status"] = status
    }
    await next.server.batches.load()
    let client = TestClient(server: next.server, key: try await service.client().key)
    let body = payment("p1", "12.50", #""locale":"en-US""#)
    let clip = try await client.post(body).string("clip.name").orThrow("a clip")
    #expect(try await removedClips(client) == [])
    _ = try await client.post(body)
    await next.server.batches.prune()
    #expect(try await removedClips(client) == [clip])
  }

  // MARK: The log of administration

  @Test("the log of administration has each removal with an admin key, even if no clip is removed")
  func written() async throws {
    let admin = try await service.client([.admin], account: "boss")
    let client = try await service.client()
    for id in ["p1", "p2"] { _ = try await admin.post(payment(id)) }
    _ = try await client.post(payment("p3", "7.00"))
    let clip = try #require(try await removedClips(admin)?.first)
    #expect(try await removedClips(admin, "p2") == [])
    #expect(try await removedClips(client, "p3")?.count == 1)
    let acts = try await service.ledger.administrativeActs().filter { $0.action != .keyCreated }
    #expect(acts.map(\.action) == [.announcementRemoved, .clipRemoved, .announcementRemoved])
    #expect(acts.map(\.subject) == [nil, clip, nil])
  }

  @Test("the record of the removal of a played announcement has the announcement's number")
  func numbered() async throws {
    let admin = try await service.client([.admin], account: "boss")
    let player = try await service.startPlayer()
    service.output.hear()
    _ = try await admin.post(payment("p1", "12.50", #""deliver":["play"]"#))
    let number = try #require(try await service.event(.played, of: player).number)
    _ = try await removedClips(admin)
    let acts = try await service.ledger.administrativeActs().filter { $0.action == .announcementRemoved }
    #expect(acts.map(\.subject) == [String(number)])
  }
}
