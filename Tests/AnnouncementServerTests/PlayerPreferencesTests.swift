// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Ledger
import Playback
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing
import Waveforms

@testable import AnnouncementServer

@Suite("The volume and the chime that are chosen through the service", .timeLimit(.minutes(5)))
struct PlayerPreferencesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func service(_ change: (inout Player.Settings) -> Void = { _ in }) throws -> TestService {
    var settings = Player.Settings()
    settings.gap = 0
    change(&settings)
    return try TestService(in: folder) {
      $0.hasPlayer = true
      $0.player = settings
    }
  }

  private func setVolume(_ client: TestClient, _ body: String) async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/playback/volume", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }

  private func setChime(_ client: TestClient, _ sound: [UInt8], _ type: String = "audio/wav") async throws -> TestAnswer
  {
    try await client.send(.put, "/v1/playback/chime", headers: ["Content-Type": type], body: Data(sound))
  }

  /// A tone of half a second, or as long as a test wants.
  private static func tone(milliseconds: Int = 500, rate: Int = 22_050) -> [UInt8] {
    let samples = (0..<(milliseconds * rate / 1000)).map { Int16(8_000 * sin(Double($0) * 0.2)) }
    return WAVFile.encode(Waveform(samples: samples, sampleRate: rate))
  }

  /// The length of a chime after its level is set, in ms.
  private static func length(_ sound: [UInt8]) throws -> Int {
    try PlayableFile.chime(sound, named: "tone").durationMilliseconds
  }

  private func play(_ client: TestClient, _ id: String) async throws {
    #expect(try await client.post(payment(id, "12.50", #""deliver":["play"]"#)).status == 201)
  }

  /// Waits until an announcement was played, and returns the length and the volume of its sound.
  private func heard(_ service: TestService, _ id: String) async throws -> (samples: Int, volume: Int) {
    let number = try await service.ledger.entry(account: "shop", id: id).orThrow("an entry").number
    try await service.event(.played, number, of: try service.server.player.flatMap(\.player).orThrow("a player"))
    let sound = try service.output.sounds.last.orThrow("a sound")
    return (sound.samples, sound.volume)
  }

  @Test(
    "a volume applies from the next announcement on, also after a restart, until null restores the settings' volume")
  func volume() async throws {
    let service = try service { $0.volume = 80 }
    let client = try await service.client()
    try await service.startPlayer()
    service.output.hearAll()
    #expect(try await client.get("/v1/playback").number("volume") == 80)
    let answer = try await setVolume(client, #"{"volume":40}"#)
    #expect(try answer.status == 200 && answer.number("volume") == 40 && answer.string("lane") == "counter")
    try await play(client, "p1")
    #expect(try await heard(service, "p1").volume == 40)
    let restarted = try self.service { $0.volume = 80 }
    let again = TestClient(server: restarted.server, key: client.key)
    // This holds even before the player begins.
    #expect(try await again.get("/v1/playback").number("volume") == 40)
    await service.server.player?.player?.stop()
    try await restarted.startPlayer()
    #expect(try await again.get("/v1/playback").number("volume") == 40)
    #expect(try await setVolume(again, #"{"volume":null}"#).number("volume") == 80)
    #expect(try await setVolume(again, #"{"volume":0}"#).number("volume") == 0)
    #expect(try await setVolume(again, #"{"volume":null}"#).number("volume") == 80)
    #expect(try self.service { $0.volume = 80 }.log.lines.isEmpty)
  }

  @Test("a volume that a command of crier sets is stored, and holds after a restart")
  func commandedVolume() async throws {
    let service = try service { $0.volume = 80 }
    let client = try await service.client()
    try await service.startPlayer()
    #expect(try await setVolume(client, #"{"volume":55}"#).number("volume") == 55)
    for percent in [20, 30] { try await service.ledger.send(.volume(percent), lane: TestService.lane) }
    try await eventually { try await client.get("/v1/playback").number("volume") == 30 }
    await service.server.player?.player?.stop()
    let restarted = try self.service { $0.volume = 80 }
    let again = TestClient(server: restarted.server, key: client.key)
    try await restarted.startPlayer()
    #expect(try await again.get("/v1/playback").number("volume") == 30)
    #expect(try await setVolume(again, #"{"volume":null}"#).number("volume") == 80)
  }

  @Test(
    "a volume that a command sets but that cannot be stored applies until the service ends, and the log has a warning")
  func unkeptVolume() async throws {
    let service = try service()
    let client = try await service.client()
    try await service.startPlayer()
    // A file in the place of the folder in which choices are kept.
    try Data().write(to: folder.url.appending(path: "player"))
    try await service.ledger.send(.volume(30), lane: TestService.lane)
    try await eventually { try await client.get("/v1/playback").number("volume") == 30 }
    try await eventually {
      service.log.lines.contains { $0.hasPrefix("warning The new volume of the player could not be stored") }
    }
  }

  @Test("a pause that a request sets holds after a restart, and its state has the name of the key that paused")
  func pause() async throws {
    let service = try service { $0.remembersPause = true }
    let key = APIKey.make()
    try await service.ledger.createKey(
      NewKey(id: key.id, account: "shop", digest: key.digest, scopes: ["play", "read"], name: "till"))
    let client = TestClient(server: service.server, key: TestKey(key: key, account: "shop"))
    try await service.startPlayer()
    #expect(try await client.send(.post, "/v1/playback/pause").string("state") == "paused")
    await service.server.player?.player?.stop()
    let restarted = try self.service { $0.remembersPause = true }
    let again = TestClient(server: restarted.server, key: client.key)
    let player = try await restarted.startPlayer()
    #expect(try await again.get("/v1/playback").string("state") == "paused")
    let pause = try await player.status().pause
    #expect(pause?.by == "till" && pause?.account == "shop")
    #expect(try await again.send(.post, "/v1/playback/resume").string("state") == "idle")
    #expect(try await restarted.ledger.pause(lane: TestService.lane) == nil)
  }

  @Test("a chosen chime is played before the next announcements, even those already rendered, and survives a restart")
  func chime() async throws {
    let service = try service()
    let client = try await service.client([.announce, .read, .play, .admin])
    try await service.startPlayer()
    #expect(try await client.get("/v1/playback").value("chime.set") as? Bool == false)
    for id in ["p1", "p2"] { try await play(client, id) }
    await service.output.begins(1)
    try await eventually { try await service.ledger.entry(account: "shop", id: "p2")?.state == .waiting }
    let answer = try await setChime(client, Self.tone())
    #expect(try answer.status == 200 && answer.value("chime.set") as? Bool == true)
    let length = try Self.length(Self.tone())
    #expect(try answer.number("chime.duration_ms") == length && (500...520).contains(length))
    service.output.hearAll()
    let plain = try service.output.sounds.first.orThrow("a sound").samples
    let chimed = try await heard(service, "p2").samples
    // After the chime there is a pause of 120 ms.
    #expect(abs((chimed - plain) * 1000 / 22_050 - length - 120) <= 1)
    let restarted = try self.service()
    let again = TestClient(server: restarted.server, key: client.key)
    await service.server.player?.player?.stop()
    try await restarted.startPlayer()
    restarted.output.hearAll()
    #expect(try await again.get("/v1/playback").number("chime.duration_ms") == length)
    try await play(again, "p3")
    #expect(try await heard(restarted, "p3").samples == chimed)
    #expect(try await again.send(.delete, "/v1/playback/chime").value("chime.set") as? Bool == false)
    try await play(again, "p4")
    #expect(try await heard(restarted, "p4").samples == plain)
    let acts = try await restarted.ledger.administrativeActs().map(\.action)
    #expect(acts.suffix(2) == [.chimeChanged, .chimeRemoved])
  }

  @Test("after the removal of the chosen chime, the chime of the settings applies again")
  func settingsChime() async throws {
    let own = try PlayableFile.chime(Self.tone(milliseconds: 300), named: "own")
    let service = try service { $0.chimes.all = own }
    let client = try await service.client([.admin])
    try await service.startPlayer()
    let length = own.durationMilliseconds
    #expect(try await client.get("/v1/playback").number("chime.duration_ms") == length)
    #expect(try await setChime(client, Self.tone()).number("chime.duration_ms") == Self.length(Self.tone()))
    for _ in 0..<2 {
      #expect(try await client.send(.delete, "/v1/playback/chime").number("chime.duration_ms") == length)
    }
  }

  // MARK: The chimes of kinds

  private func setChime(_ client: TestClient, of kind: String, _ sound: [UInt8]) async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/playback/chime/\(kind)", headers: ["Content-Type": "audio/wav"], body: Data(sound))
  }

  private func setChime(_ client: TestClient, of kind: String, json: String) async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/playback/chime/\(kind)", headers: ["Content-Type": "application/json"], body: Data(json.utf8))
  }

  /// Plays a payment of each kind, and returns the lengths of the sounds before the words, in ms: 0 without a chime.
  private func chimes(_ service: TestService, _ client: TestClient, _ round: String) async throws -> [String: Int] {
    var lengths: [String: Int] = [:]
    for kind in Payment.Kind.allCases.map(\.rawValue) {
      let answer = try await client.post(
        payment("\(kind)-\(round)", "12.50", #""kind":"\#(kind)","deliver":["clip","play"]"#))
      #expect(answer.status == 201)
      let samples = try await heard(service, "\(kind)-\(round)").samples
      lengths[kind] = samples * 1000 / 22_050 - Int(try answer.number("clip.duration_ms").orThrow("a length"))
    }
    return lengths
  }

  @Test("each kind of announcement can have its own chime or none; this choice survives a restart and can be removed")
  func kindChimes() async throws {
    let service = try service()
    let client = try await service.client([.announce, .read, .play, .admin])
    try await service.startPlayer()
    service.output.hearAll()
    #expect(try await chimes(service, client, "1").values.allSatisfy { abs($0) <= 1 })
    #expect(try await setChime(client, Self.tone()).status == 200)
    let answer = try await setChime(client, of: "refunded", Self.tone(milliseconds: 800))
    let (all, refunded) = (try Self.length(Self.tone()), try Self.length(Self.tone(milliseconds: 800)))
    #expect(try answer.number("chimes.refunded.duration_ms") == refunded && answer.number("chime.duration_ms") == all)
    let none = try await setChime(client, of: "failed", json: #"{"chime":"none"}"#)
    #expect(try none.status == 200 && none.value("chimes.failed.set") as? Bool == false)
    func expectKept(_ heard: [String: Int]) {
      for (kind, length) in heard {
        let chime = kind == "refunded" ? refunded + 120 : kind == "failed" ? 0 : all + 120
        #expect(abs(length - chime) <= 2, "\(kind): \(length) ms")
      }
      #expect(heard.count == Payment.Kind.allCases.count)
    }
    expectKept(try await chimes(service, client, "2"))
    let restarted = try self.service()
    #expect(restarted.log.lines.isEmpty)
    let again = TestClient(server: restarted.server, key: client.key)
    await service.server.player?.player?.stop()
    try await restarted.startPlayer()
    restarted.output.hearAll()
    expectKept(try await chimes(restarted, again, "3"))
    for kind in ["refunded", "failed"] {
      #expect(try await again.send(.delete, "/v1/playback/chime/\(kind)").status == 200)
    }
    #expect(try await again.get("/v1/playback").value("chimes") as? [String: String] == [:])
    #expect(try await chimes(restarted, again, "4").values.allSatisfy { abs($0 - all - 120) <= 2 })
    let acts = try await restarted.ledger.administrativeActs().map(\.action)
    #expect(acts.suffix(4) == [.chimeChanged, .chimeChanged, .chimeRemoved, .chimeRemoved])
  }

  @Test(
    "the settings' chime for a kind applies until a chime is chosen for this kind, even if one is chosen for all kinds")
  func settingsKindChimes() async throws {
    let own = try PlayableFile.chime(Self.tone(milliseconds: 300), named: "own")
    let service = try service { $0.chimes.own = [.refunded: .sound(own), .failed: Chimes.Own.none] }
    let client = try await service.client([.admin])
    try await service.startPlayer()
    #expect(try await setChime(client, Self.tone()).number("chimes.refunded.duration_ms") == own.durationMilliseconds)
    let chosen = try await setChime(client, of: "refunded", Self.tone(milliseconds: 700))
    #expect(try chosen.number("chimes.refunded.duration_ms") == Self.length(Self.tone(milliseconds: 700)))
    let returned = try await client.send(.delete, "/v1/playback/chime/refunded")
    #expect(try returned.number("chimes.refunded.duration_ms") == own.durationMilliseconds)
    #expect(try returned.value("chimes.failed.set") as? Bool == false)
  }

  @Test("a broken chime file of a kind causes a line in the log, and the chime of the settings applies")
  func brokenKindChime() async throws {
    let kept = folder.url.appending(path: "player")
    try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
    try Data("RIFF".utf8).write(to: kept.appending(path: "chime-refunded.wav"))
    let service = try service()
    let client = try await service.client([.admin])
    try await service.startPlayer()
    #expect(try await client.get("/v1/playback").value("chimes") as? [String: String] == [:])
    #expect(service.log.lines.count { $0.contains("chime-refunded.wav") } == 1)
  }

  @Test("a chime is refused for an unknown kind, for an invalid body, and for a key that is not an admin's")
  func badKindChime() async throws {
    let service = try service()
    let client = try await service.client([.admin])
    try await service.startPlayer()
    let other = try await service.client()
    for (answer, status, code) in [
      (try await setChime(client, of: "bonus", Self.tone()), 404, "not_found"),
      (try await client.send(.delete, "/v1/playback/chime/Refunded"), 404, "not_found"),
      (try await setChime(client, of: "refunded", Array("noise".utf8)), 422, "file_malformed"),
      (try await setChime(client, of: "refunded", json: #"{"chime":"tone:falling"}"#), 422, "field_invalid"),
      (try await setChime(client, of: "refunded", json: #"{"chime":null}"#), 422, "field_invalid"),
      (try await setChime(client, of: "refunded", json: "{}"), 422, "field_missing"),
      (try await setChime(client, of: "refunded", json: #"{"chimes":"none"}"#), 422, "field_unknown"),
      (try await setChime(client, of: "refunded", json: "none"), 400, "payload_malformed"),
      (try await setChime(other, of: "refunded", Self.tone()), 403, "scope_missing"),
      (try await other.send(.delete, "/v1/playback/chime/refunded"), 403, "scope_missing"),
    ] {
      #expect(answer.status == status && answer.code == code, "\(answer.text)")
    }
    #expect(try await client.get("/v1/playback").value("chimes") as? [String: String] == [:])
  }

  @Test(
    "a damaged file with a chosen volume or chime causes a line in the log, and the settings apply instead",
    arguments: ["", "{", #"{"volume":101}"#, #"{"volume":"9"}"#, "RIFF"])
  func broken(text: String) async throws {
    let kept = folder.url.appending(path: "player")
    try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
    for name in ["volume.json", "chime.wav"] { try Data(text.utf8).write(to: kept.appending(path: name)) }
    let service = try service { $0.volume = 70 }
    let client = try await service.client([.admin])
    try await service.startPlayer()
    let status = try await client.get("/v1/playback")
    #expect(try status.number("volume") == 70 && status.value("chime.set") as? Bool == false)
    #expect(service.log.lines.count { $0.contains("volume.json") } == 1)
    #expect(service.log.lines.count { $0.contains("chime.wav") } == 1)
    // The volume and the chime can be chosen again.
    #expect(try await setVolume(client, #"{"volume":30}"#).number("volume") == 30)
    #expect(try await setChime(client, Self.tone()).status == 200)
    #expect(try self.service().log.lines.isEmpty)
  }

  @Test(
    "an invalid volume is refused",
    arguments: [
      (#"{"volume":101}"#, 422, "field_invalid"), (#"{"volume":-1}"#, 422, "field_invalid"),
      (#"{"volume":40.5}"#, 422, "field_invalid"), (#"{"volume":"40"}"#, 422, "field_invalid"),
      (#"{"volume":true}"#, 422, "field_invalid"), ("{}", 422, "field_missing"),
      (#"{"volume":4,"x":1}"#, 422, "field_unknown"), ("[]", 400, "payload_malformed"), ("", 400, "payload_malformed"),
    ])
  func badVolume(body: String, status: Int, code: String) async throws {
    let service = try service()
    let client = try await service.client()
    try await service.startPlayer()
    let answer = try await setVolume(client, body)
    #expect(answer.status == status && answer.code == code, "\(answer.text)")
    #expect(try await client.get("/v1/playback").number("volume") == 100)
  }

  @Test("a chime that is not a short, audible sound is refused, and only an admin may set or remove a chime")
  func badChime() async throws {
    let service = try service()
    let client = try await service.client([.admin])
    try await service.startPlayer()
    let silent = WAVFile.encode(Waveform(samples: Array(repeating: 0, count: 22_050), sampleRate: 22_050))
    for (answer, status, code) in [
      (try await setChime(client, Array("noise".utf8)), 422, "file_malformed"),
      (try await setChime(client, []), 422, "file_malformed"),
      (try await setChime(client, silent), 422, "file_malformed"),
      (try await setChime(client, Self.tone(milliseconds: 10_100)), 422, "file_too_long"),
      (try await setChime(client, Self.tone(milliseconds: 61_000, rate: 8_000)), 422, "file_malformed"),
      (try await setChime(client, Self.tone(), "application/json"), 415, "media_type_unsupported"),
      (try await setChime(client, Array(repeating: 0, count: (4 << 20) + 1)), 413, "payload_too_large"),
      (try await setChime(try await service.client(), Self.tone()), 403, "scope_missing"),
      (try await service.client().send(.delete, "/v1/playback/chime"), 403, "scope_missing"),
    ] {
      #expect(answer.status == status && answer.code == code, "\(answer.text)")
      #expect(!answer.text.contains(folder.url.path(percentEncoded: false)))
    }
    #expect(try await client.get("/v1/playback").value("chime.set") as? Bool == false)
  }

  @Test("without a running player, changes of the volume and the chime are refused")
  func noPlayer() async throws {
    let service = try service()
    let client = try await service.client([.admin])
    #expect(try await setVolume(client, #"{"volume":4}"#).code == "player_unavailable")
    #expect(try await setChime(client, Self.tone()).code == "player_unavailable")
    #expect(try await client.send(.delete, "/v1/playback/chime").code == "player_unavailable")
    #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "player").path(percentEncoded: false)))
  }

  @Test("an announcement with the id 'chime' is cancelled by its percent-encoded id")
  func announcementNamedChime() async throws {
    let service = try service()
    let client = try await service.client()
    let player = try await service.startPlayer()
    try await play(client, "chime")
    try await service.event(.accepted, of: player)
    #expect(try await client.send(.delete, "/v1/playback/%63hime").string("state") == "cancelled")
  }
}
