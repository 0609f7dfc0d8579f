// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import Playback
import ServiceAccess
import SoundOutputTestSupport
import SoundOutputs
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The output that is chosen through the service", .timeLimit(.minutes(5)))
struct OutputCallTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func service() throws -> TestService {
    try TestService(in: folder) { $0.hasPlayer = true }
  }

  private func choose(_ client: TestClient, _ body: String) async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/playback/output", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }

  private func play(_ client: TestClient, _ ids: String...) async throws {
    for id in ids { #expect(try await client.post(payment(id, "12.50", #""deliver":["play"]"#)).status == 201) }
  }

  private func player(_ service: TestService) async throws -> Player {
    try await eventually { service.server.player?.player != nil }
    return try service.server.player.flatMap(\.player).orThrow("a player")
  }

  @Test("the service lists the outputs of the machine, and marks the output in use")
  func listed() async throws {
    let service = try service()
    let answer = try await service.client([.admin]).get("/v1/outputs")
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try answer.string("outputs.0.id") == "counter" && answer.string("outputs.0.name") == "The counter")
    #expect(try answer.value("outputs.0.in_use") as? Bool == true)
    #expect(try answer.string("outputs.1.id") == "kitchen" && answer.value("outputs.1.in_use") as? Bool == false)
    #expect(try await TestService().client([.admin]).get("/v1/outputs").code == "player_unavailable")
    #expect(try await service.client([.read, .play]).get("/v1/outputs").code == "scope_missing")
  }

  @Test(
    "after a change of output, waiting payments are heard in order, and an interrupted payment begins again")
  func moved() async throws {
    let service = try service()
    let (client, admin) = (try await service.client(), try await service.client([.admin]))
    try await service.startPlayer()
    try await play(client, "p1", "p2", "p3")
    service.output.hear()
    await service.output.begins(2)
    #expect(try await choose(admin, #"{"output":"kitchen"}"#).value("outputs.1.in_use") as? Bool == true)
    let player = try await player(service)
    #expect(player.lane == "kitchen")
    try await play(client, "p4")
    service.otherOutput.hearAll()
    for number in 2...4 { try await service.event(.played, Int64(number), of: player) }
    #expect(service.output.heard == [1] && service.otherOutput.heard == [2, 3, 4])
    #expect(service.output.releases > 0, "the former device is free for other programs")
    #expect(try await service.ledger.waitingLanes().isEmpty)
    let status = try await client.get("/v1/playback")
    #expect(try status.string("lane") == "kitchen" && (status.value("elsewhere") as? [Any])?.isEmpty == true)
    let acts = try await service.ledger.administrativeActs().filter { $0.action == .outputChanged }
    #expect(acts.map(\.subject) == ["kitchen"])
  }

  @Test("payments that are accepted during repeated changes of the output are each heard once")
  func busy() async throws {
    let service = try service()
    let (client, admin) = (try await service.client(), try await service.client([.admin]))
    try await service.startPlayer()
    service.output.hearAll()
    service.otherOutput.hearAll()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...20 {
          let answer = try await client.post(payment("p\(number)", "12.50", #""deliver":["play"]"#))
          #expect(answer.status == 201)
        }
      }
      group.addTask { [self] in
        for output in ["kitchen", "counter", "kitchen", "counter", "kitchen"] {
          let answer = try await choose(admin, #"{"output":"\#(output)"}"#)
          #expect(answer.status == 200)
        }
      }
      try await group.waitForAll()
    }
    try await eventually {
      for number in 1...20 {
        guard try await service.ledger.entry(account: "shop", id: "p\(number)")?.state == .played else { return false }
      }
      return true
    }
    let heard = service.output.heard + service.otherOutput.heard
    #expect(Set(heard).count == 20 && heard.count == 20, "\(heard)")
  }

  @Test("a pause stays when the output changes, and a waiting replay on the former output is cancelled")
  func paused() async throws {
    let service = try service()
    let (client, admin) = (try await service.client(), try await service.client([.admin]))
    let former = try await service.startPlayer()
    try await play(client, "p1")
    service.output.hear()
    try await service.event(.played, 1, of: former)
    #expect(try await client.send(.post, "/v1/playback/pause").status == 200)
    let replay = try await client.send(.post, "/v1/playback/replay").number("number").orThrow("a number")
    #expect(try await choose(admin, #"{"output":"kitchen"}"#).status == 200)
    _ = try await player(service)
    #expect(try await client.get("/v1/playback").string("state") == "paused")
    #expect(try await service.ledger.entry(Int64(replay))?.state == .cancelled)
    #expect(service.otherOutput.begun.isEmpty)
  }

  @Test("an announcement that was heard on the former output is replayed on the new one if its id is given")
  func replayElsewhere() async throws {
    let service = try service()
    let (client, admin) = (try await service.client(), try await service.client([.admin]))
    let former = try await service.startPlayer()
    try await play(client, "p1")
    service.output.hear()
    try await service.event(.played, 1, of: former)
    #expect(try await choose(admin, #"{"output":"kitchen"}"#).status == 200)
    let player = try await player(service)
    service.otherOutput.hearAll()
    #expect(try await client.send(.post, "/v1/playback/replay").code == "nothing_to_replay")
    let named = try await client.send(
      .post, "/v1/playback/replay", headers: ["Content-Type": "application/json"], body: Data(#"{"id":"p1"}"#.utf8))
    #expect(named.status == 202)
    let replay = Int64(try named.number("number").orThrow("a number"))
    try await service.event(.played, replay, of: player)
    #expect(service.output.heard == [1] && service.otherOutput.heard == [replay])
  }

  @Test("the chosen output is kept over a restart, and the choice null restores the output of the settings")
  func kept() async throws {
    let earlier = try service()
    let admin = try await earlier.client([.admin])
    try await earlier.startPlayer()
    #expect(try await choose(admin, #"{"output":"kitchen"}"#).status == 200)
    #expect(PlayerParts.chosenOutput(in: folder.url.appending(path: "player")) == "kitchen")
    await earlier.server.player?.player?.stop()
    let later = try service()
    #expect(later.server.player?.lane == "kitchen")
    #expect(later.log.lines.contains { $0.contains("was chosen through the service") })
    try await later.startPlayer()
    let client = try await later.client([.admin])
    #expect(try await choose(client, #"{"output":null}"#).status == 200)
    #expect(later.server.player?.lane == "counter")
    #expect(PlayerParts.chosenOutput(in: folder.url.appending(path: "player")) == nil)
  }

  @Test(
    "a chosen output that is unreadable or unknown at the start causes a warning, and the settings' output is used",
    arguments: ["{", "garage"])
  func unreadable(text: String) throws {
    let file = folder.url.appending(path: "player/output.json")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data((text == "{" ? "{" : #"{"output":"\#(text)"}"#).utf8).write(to: file)
    let service = try service()
    #expect(service.server.player?.lane == "counter")
    #expect(service.log.lines.contains { $0.hasPrefix("warning") })
  }

  @Test(
    "an output that the machine does not list is refused, and nothing changes",
    arguments: [
      (#"{"output":"garage"}"#, "output_unknown"), (#"{"output":"file:/etc/passwd"}"#, "output_unknown"),
      (#"{"output":"alsa:file:'FILE=\"|id\"'"}"#, "output_unknown"), (#"{"output":""}"#, "output_unknown"),
      (#"{"output":7}"#, "field_invalid"), ("{}", "field_missing"), (#"{"outputs":"kitchen"}"#, "field_unknown"),
    ])
  func refused(body: String, code: String) async throws {
    let service = try service()
    let admin = try await service.client([.admin])
    let answer = try await choose(admin, body)
    #expect(answer.status == 422 && answer.code == code, "\(answer.text)")
    #expect(service.server.player?.output == "counter")
    #expect(PlayerParts.chosenOutput(in: folder.url.appending(path: "player")) == nil)
  }

  @Test("an output that cannot be opened is refused, and the former output goes on playing")
  func unusable() async throws {
    let service = try service()
    let (client, admin) = (try await service.client(), try await service.client([.admin]))
    let player = try await service.startPlayer()
    service.otherOutput.refuseOpening(.deviceMissing)
    let answer = try await choose(admin, #"{"output":"kitchen"}"#)
    #expect(answer.status == 409 && answer.code == "device_missing", "\(answer.text)")
    service.output.hearAll()
    try await play(client, "p1")
    try await service.event(.played, 1, of: player)
  }

  @Test("only an admin changes the output or plays a test sound")
  func scopes() async throws {
    let client = try await service().client([.read, .play, .announce])
    #expect(try await choose(client, #"{"output":"kitchen"}"#).code == "scope_missing")
    #expect(try await client.send(.post, "/v1/playback/test").code == "scope_missing")
  }

  @Test("a test sound is played after the waiting payments")
  func test() async throws {
    let service = try service()
    let (client, admin) = (try await service.client(), try await service.client([.admin]))
    #expect(try await admin.send(.post, "/v1/playback/test").code == "player_unavailable")
    let player = try await service.startPlayer()
    try await player.pause()
    let test = try await admin.send(.post, "/v1/playback/test")
    #expect(test.status == 202)
    let number = Int64(try test.number("number").orThrow("a number"))
    try await play(client, "p1")
    service.output.hearAll()
    try await player.resume()
    try await service.event(.played, number, of: player)
    #expect(service.output.heard == [number + 1, number])
  }
}
