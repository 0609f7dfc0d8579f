// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import Ledger
import Playback
import PlaybackOrder
import ServiceAccess
import SoundOutputTestSupport
import SpeechEngine
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

@testable import AnnouncementServer

@Suite("Announcements for the player", .timeLimit(.minutes(10)))
struct PlayedTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private static let body = payment("p1", "12.50", #""deliver":["play"],"unknown":{"a":1}"#)

  @Test("an accepted announcement is in the ledger before its response is sent, whether the player runs or not")
  func durable() async throws {
    let client = try await service.client()
    #expect(try await client.post(Self.body).status == 201)
    let entry = try #require(try await service.ledger.entry(account: "shop", id: "p1"))
    #expect(entry.state == .waiting && entry.lane == "counter" && entry.payload == Data(Self.body.utf8))
    let restarted = try TestService(in: service.folder) { $0.hasPlayer = true }
    restarted.output.hearAll()
    let player = try await restarted.startPlayer()
    try await restarted.event(.played, entry.number, of: player)
    #expect(restarted.voice.calls == 0, "the player uses the existing clip")
  }

  @Test("the key's defaults are stored with the announcement, even if the key is revoked")
  func defaults() async throws {
    let client = try await service.client(locale: "zh-CN", group: "group.shop")
    let answer = try await client.post(Self.body)
    let entry = try #require(try await service.ledger.entry(account: "shop", id: "p1"))
    #expect(entry.defaultLocale == "zh-CN" && entry.defaultPack == nil && entry.defaultGroup == "group.shop")
    #expect(entry.payload == Data(Self.body.utf8), "the payload is stored byte for byte")
    try await service.ledger.revokeKey(try client.key.orThrow("a key").key.id)
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await service.event(.played, of: player)
    #expect(
      try service.voice.calls == 1 && service.clips("group.shop") == [answer.string("clip.name").orThrow("a name")])
  }

  @Test("a repeated announcement is played only once")
  func once() async throws {
    let client = try await service.client()
    service.output.hearAll()
    let player = try await service.startPlayer()
    for _ in 0..<5 { #expect([200, 201].contains(try await client.post(Self.body).status)) }
    #expect(try await client.post(Self.body, ["Idempotency-Key": "other"]).status == 200)
    #expect(try await client.post(payment("p2", "1.00", #""deliver":["play"]"#)).status == 201)
    let number = try #require(try await service.ledger.entry(account: "shop", id: "p2")).number
    try await service.event(.played, number, of: player)
    let played = try await service.ledger.events(limit: 1000).filter { $0.kind == .played }
    #expect(played.count == 2)
  }

  @Test("after a day, a repeated announcement gets a new response and is still not played again")
  func nextDay() async throws {
    let now = Locked(Date(timeIntervalSinceNow: -Ledger.answerLifetime - 60))
    let service = try TestService {
      $0.hasPlayer = true
      $0.now = { now.withLock { $0 } }
    }
    let client = try await service.client()
    #expect(try await client.post(Self.body).status == 201)
    now.withLock { $0 = Date() }
    #expect(try await client.post(Self.body).status == 201)
    #expect(try await service.ledger.counts(lane: nil)[.waiting] == 1)
  }

  @Test("a refused announcement is not played")
  func refused() async throws {
    let client = try await service.client()
    service.voice.fail(.engineUnavailable)
    #expect(try await client.post(Self.body).status == 503)
    #expect(try await client.post(payment("p2", "1.00", #""deliver":["play","push"]"#)).status == 422)
    service.voice.fail(nil)
    #expect(try await service.ledger.counts(lane: nil)[.accepted] == 0)
  }

  @Test("a payload cannot set defaults with the former field 'crier:defaults', and strict handling refuses this field")
  func formerDefaults() async throws {
    let client = try await service.client()
    let body = payment("p1", "1.00", #""deliver":["play"],"crier:defaults":{"locale":"zh-CN","group":"group.other"}"#)
    #expect(try await client.post(body).status == 201)
    let entry = try #require(try await service.ledger.entry(account: "shop", id: "p1"))
    #expect(entry.defaultLocale == nil && entry.defaultGroup == nil && entry.payload == Data(body.utf8))
    let strict = ["Prefer": "handling=strict"]
    #expect(try await client.post(body.replacing("p1", with: "p2"), strict).status == 422)
  }

  @Test("no account can make the player read a file of this machine")
  func noFile() async throws {
    let client = try await service.client()
    let body = #"{"file":"/etc/passwd","text":"hello","deliver":["play"],"id":"f"}"#
    #expect(try await client.post(body).status == 201)
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await service.event(.played, of: player)
    #expect(service.voice.calls == 1)
  }

  @Test("a refund has the category 'refund', and a text has the category 'information'")
  func category() async throws {
    let client = try await service.client()
    _ = try await client.post(payment("r", "1.00", #""deliver":["play"],"kind":"refunded""#))
    _ = try await client.post(#"{"text":"hello","deliver":["play"]}"#, ["Idempotency-Key": "t"])
    #expect(try await service.ledger.entry(account: "shop", id: "r")?.category == .refund)
    #expect(try await service.ledger.entry(account: "shop", id: "t")?.category == .information)
  }
}

@Suite("The voice pack of a key")
struct KeyPackTests {
  /// A pack of tones that has the words of a payment.
  private static func writePack(_ id: String, for body: String, into folder: URL) throws {
    let request = try PayloadDecoder.request(Data(body.utf8))
    let writer = try TestService.books.get().writer(for: "en-US")
    let names = Set(try writer.script(for: request.announcement).tokens.map(\.name)).sorted()
    let clips = names.enumerated().map { index, name in
      PackClip(
        tokens: [name], text: ClipToken.words(ofName: name),
        waveform: Tone.sine(Double(400 + 50 * index), milliseconds: 500, rate: 22_050))
    }
    try PackWriter(directory: folder).write(
      PackFacts(id: id, locale: "en-US", speaker: "test", licence: "CC0-1.0"), clips: clips)
  }

  @Test("the pack of a key speaks, unless the request has another pack, method or language")
  func packs() async throws {
    let folder = try TemporaryFolder()
    for id in ["a", "b"] { try Self.writePack(id, for: payment(), into: folder.url) }
    let service = try TestService { $0.packs = [folder.url] }
    let client = try await service.client(pack: "b")
    let left = try await client.post(payment("p1"))
    #expect(try left.string("method") == "clips" && left.string("voice") == "b")
    #expect(try await client.post(payment("p2", "12.50", #""pack":"a""#)).string("voice") == "a")
    #expect(try await client.post(payment("p3", "12.50", #""method":"speech""#)).string("method") == "speech")
    #expect(try await client.post(payment("p4", "12.50", #""locale":"zh-CN""#)).string("method") == "speech")
    let gone = try await service.client(pack: "gone").post(payment("p5"))
    #expect(gone.status == 201, "a missing pack is ignored")
    let packs = try await client.get("/v1/packs")
    #expect(try packs.string("packs.0.id") == "a" && packs.string("packs.1.id") == "b")
    #expect(try packs.number("packs.0.missing_count").map { $0 > 0 } == true)
    try Data("{".utf8).write(to: folder.url.appending(path: "b/\(PackManifest.fileName)"))
    let broken = try await client.get("/v1/packs")
    #expect(try broken.string("packs.1.error.code") != nil && broken.value("packs.1.clips") == nil)
    #expect(try broken.value("packs.0.error") == nil)
    #expect(
      try await client.post(payment("p6", "12.50")).string("voice") == "b", "the last good version goes on speaking")
  }

  @Test("after a pack is added, chosen or removed, announcements have the right voice, although clips are in memory")
  func clipsInMemory() async throws {
    let folder = try TemporaryFolder()
    let choices = folder.url.appending(path: "packs.json")
    let service = try TestService {
      $0.packs = [folder.url]
      $0.chosenPacks = choices
    }
    let client = try await service.client()
    var count = 0
    func voice() async throws -> String? {
      await service.server.packWatch.look()
      count += 1
      return try await client.post(payment("p\(count)")).string("voice")
    }
    let engine = try await voice()
    for id in ["a", "b"] { try Self.writePack(id, for: payment(), into: folder.url) }
    #expect(try await voice() == "a")
    try Data(#"{"packs": {"en-US": "b"}}"#.utf8).write(to: choices)
    #expect(try await voice() == "b")
    try FileManager.default.removeItem(at: folder.url.appending(path: "b"))
    #expect(try await voice() == "a")
    try FileManager.default.removeItem(at: folder.url.appending(path: "a"))
    #expect(try await voice() == engine)
  }

  @Test("packs that change while the service runs are listed, counted and logged")
  func changedPacks() async throws {
    let folder = try TemporaryFolder()
    let service = try TestService { $0.packs = [folder.url] }
    let client = try await service.client()
    let watch = service.server.packWatch
    await watch.look()
    try Self.writePack("a", for: payment(), into: folder.url)
    #expect(try await client.get("/v1/packs").string("packs.0.id") == "a")
    #expect(try await client.get("/v1/locales").text.contains(#""packs":["a"]"#))
    await watch.look()
    #expect(try await client.post(payment("p1")).string("voice") == "a")
    try Data().write(to: folder.url.appending(path: "a/\(PackManifest.fileName)"))
    #expect(try await client.get("/metrics").text.contains(#"crier_voice_packs{state="broken"} 1"#))
    await watch.look()
    try FileManager.default.removeItem(at: folder.url.appending(path: "a"))
    await watch.look()
    let lines = service.log.lines.filter { $0.contains("voice pack") }
    #expect(lines.count == 3)
    let expected = ["info A voice pack was added", "warning A voice pack is broken. Its last", "removed"]
    for (line, words) in zip(lines, expected) {
      #expect(line.contains(words) && line.contains(#""pack": a"#), "\(line)")
    }
  }
}
