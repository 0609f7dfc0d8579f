// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Ledger
import Playback
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Decisions about an announcement are made once, when it is accepted", .timeLimit(.minutes(10)))
struct DecidedOnceTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private static let body = payment("p1", "12.50", #""deliver":["play"]"#)

  private func play(in service: TestService) async throws {
    service.output.hearAll()
    let player = try await service.startPlayer()
    try await service.event(.played, of: player)
  }

  @Test("the player plays the clip that was accepted and makes no other clip, even if the settings have changed")
  func sameClip() async throws {
    let answer = try await service.client().post(Self.body)
    let name = try answer.string("clip.name").orThrow("a name")
    // These settings would give another clip, if the player decided by them.
    let restarted = try TestService(in: service.folder) {
      $0.hasPlayer = true
      $0.settings.locale = "zh-CN"
    }
    try await play(in: restarted)
    let entry = try #require(try await restarted.ledger.entry(account: "shop", id: "p1"))
    #expect(entry.clip == name && restarted.voice.calls == 0)
    #expect(restarted.clips() == [name], "no other clip was made")
    let heard = try #require(entry.heardMilliseconds)
    #expect(abs(heard - (try answer.number("clip.duration_ms").orThrow("a duration"))) <= 1)
  }

  @Test("an announcement with an existing clip has exactly the events 'accepted', 'waiting', 'playing' and 'played'")
  func writes() async throws {
    let client = try await service.client()
    service.output.hearAll()
    let player = try await service.startPlayer()
    #expect(try await client.post(Self.body).status == 201)
    try await service.event(.played, of: player)
    #expect(try await service.ledger.events().map(\.kind) == [.accepted, .waiting, .playing, .played])
  }

  // The counter exists only in builds with the watchdog: debug builds, and those of CI.
  #if CRIER_WATCHDOG
    @Test("the payload of a payment is parsed only once, although several lists show the payment until its end")
    func parsedOnce() async throws {
      let id = "parsed-\(UUID().uuidString)"
      ParsedPayloads.watch(id)
      let client = try await service.client()
      service.output.hearAll()
      let player = try await service.startPlayer()
      #expect(try await client.post(payment(id, "12.50", #""deliver":["play"]"#)).status == 201)
      try await service.event(.played, of: player)
      for path in ["/v1/announcements", "/v1/announcements/\(id)", "/v1/playback", "/v1/announcements?search=12.50"] {
        #expect(try await client.get(path).status == 200)
      }
      #expect(ParsedPayloads.count(of: id) == 1)
    }
  #endif

  @Test("a clip that is missing is made again, with the words and the voice that were accepted")
  func again() async throws {
    let answer = try await service.client().post(Self.body)
    let name = try answer.string("clip.name").orThrow("a name")
    let sounds = service.folder.url.appending(path: "containers/group.crier/Library/Sounds")
    try FileManager.default.removeItem(at: sounds.appending(path: name))
    let restarted = try TestService(in: service.folder) {
      $0.hasPlayer = true
      $0.settings.locale = "zh-CN"
    }
    try await play(in: restarted)
    #expect(restarted.voice.calls == 1 && restarted.clips() == [name])
    let state = try await restarted.client().get("/v1/announcements/p1")
    #expect(try state.string("delivery.play.clip") == name)
  }

  @Test("a clip whose file is damaged is made again")
  func damaged() async throws {
    let name = try await service.client().post(Self.body).string("clip.name").orThrow("a name")
    let file = service.folder.url.appending(path: "containers/group.crier/Library/Sounds/\(name)")
    var bytes = try Data(contentsOf: file)
    for index in (bytes.count / 2)..<(bytes.count / 2 + 400) { bytes[index] = 0 }
    try bytes.write(to: file)
    let restarted = try TestService(in: service.folder) { $0.hasPlayer = true }
    try await play(in: restarted)
    #expect(restarted.voice.calls == 1)
  }

  @Test("an entry of a list of announcements has the kind, payer, channel, note, time and sequence that were sent")
  func listed() async throws {
    let client = try await service.client()
    let more = #""payer":"Ada","channel":"alipay","note":"thanks","sequence":7,"occurred_at":"2026-11-20T20:23:58Z""#
    #expect(try await client.post(payment("p1", "12.50", more)).status == 201)
    #expect(try await client.post(#"{"text":"hello","id":"t1"}"#).status == 201)
    let one = try JSONDecoder().decode(Listed.self, from: try await client.get("/v1/announcements/p1").body)
    #expect(one.kind == "received" && one.payer == "Ada" && one.channel == "alipay" && one.note == "thanks")
    #expect(one.sequence == 7 && one.occurred_at == "2026-11-20T20:23:58.000Z")
    let accepted = try #require(Timestamp.date(one.accepted_at))
    #expect(abs(accepted.timeIntervalSinceNow) < 600)
    let text = try JSONDecoder().decode(Listed.self, from: try await client.get("/v1/announcements/t1").body)
    #expect(text.kind == "text" && text.payer == nil && text.sequence == nil)
    let list = try JSONDecoder().decode(Page.self, from: try await client.get("/v1/announcements").body)
    #expect(list.announcements == [text, one])
  }

  private struct Listed: Decodable, Equatable {
    var kind: String
    var payer: String?
    var channel: String?
    var note: String?
    var sequence: Int?
    var occurred_at: String?
    var accepted_at: String
  }

  private struct Page: Decodable { var announcements: [Listed] }
}
