// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import SoundOutputTestSupport
import SpeechEngine
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

@testable import AnnouncementServer

@Suite("The clips of voice packs through the service", .timeLimit(.minutes(5)))
struct PackClipCallTests {
  private let service: TestService
  private let folder: TemporaryFolder
  private let voices: URL
  private let shipped: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    shipped = try TemporaryFolder()
    voices = folder.url.appending(path: "Voices", directoryHint: .isDirectory)
    let folders = [voices, shipped.url]
    for (place, id) in zip(folders, ["my-shop", "en-US-espeak"]) {
      let clips = (0..<12).map { number in
        PackClip(
          tokens: ["word\(Self.letters[number])"], position: .plain, text: "word\(Self.letters[number])",
          waveform: Tone.sine(Double(300 + 40 * number), milliseconds: 400, rate: 22_050))
      }
      try PackWriter(directory: place).write(
        PackFacts(id: id, locale: "en-US", speaker: "test", licence: "CC0-1.0"), clips: clips)
    }
    service = try TestService(in: folder) { $0.packs = folders }
  }

  private static let letters = Array("abcdefghijkl").map(String.init)

  /// A recording of a tone between two silences, as if somebody had spoken one word.
  private static func recording(_ hertz: Double = 700, milliseconds: Int = 500, rate: Int = 22_050) -> [UInt8] {
    let silence = [Int16](repeating: 0, count: rate * 3 / 10)
    let tone = Tone.sine(hertz, milliseconds: milliseconds, rate: rate).samples
    return WAVFile.encode(Waveform(samples: silence + tone + silence, sampleRate: rate))
  }

  private func record(
    _ client: TestClient, _ sound: [UInt8], _ file: String = "worda.wav", of id: String = "my-shop",
    _ type: String = "audio/wav", accepting accepts: Bool = true
  ) async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/packs/\(id)/clips/\(file)\(accepts ? "?accept=true" : "")", headers: ["Content-Type": type],
      body: Data(sound))
  }

  private func mark(
    _ client: TestClient, _ body: String, _ file: String = "worda.wav", of id: String = "my-shop"
  ) async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/packs/\(id)/marks/\(file)", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }

  @Test("the list of a pack's clips has the words of each clip and whether the pack can be changed")
  func listed() async throws {
    let client = try await service.client([.read])
    let own = try await client.get("/v1/packs/my-shop/clips")
    #expect(try own.status == 200 && own.string("id") == "my-shop" && own.string("locale") == "en-US")
    #expect(try own.value("is_writable") as? Bool == true)
    #expect(try (own.value("clips") as? [Any])?.count == 12)
    #expect(try own.string("clips.1.file") == "wordb.wav" && own.string("clips.1.tokens") == nil)
    #expect(try own.value("clips.1.tokens") as? [String] == ["wordb"] && own.string("clips.1.text") == "wordb")
    #expect(try own.string("clips.1.position") == "plain" && own.number("clips.1.duration_ms") == 400)
    #expect(try own.value("clips.1.is_marked") as? Bool == false)
    #expect(try await client.get("/v1/packs/en-US-espeak/clips").value("is_writable") as? Bool == false)
    for id in ["nobody", "..", "%2E%2E", "a%2Fb"] {
      #expect(try await client.get("/v1/packs/\(id)/clips").code == "not_found")
    }
    try Data("{".utf8).write(to: voices.appending(path: "my-shop/\(PackManifest.fileName)"))
    #expect(try await client.get("/v1/packs/my-shop/clips").status == 422)
  }

  @Test("a pack's clip can be fetched whole or in part, and a cached clip must be validated each time")
  func fetched() async throws {
    let client = try await service.client([.read])
    let target = "/v1/packs/my-shop/clips/worda.wav"
    let clip = try await client.get(target)
    #expect(clip.status == 200 && clip.header("Content-Type") == "audio/wav")
    #expect(clip.body == (try Data(contentsOf: voices.appending(path: "my-shop/worda.wav"))))
    #expect(clip.header("Cache-Control") == "no-cache")
    let etag = try clip.header("ETag").orThrow("a tag")
    #expect(try await client.get(target, ["If-None-Match": etag]).status == 304)
    #expect(try await client.get(target, ["Range": "bytes=0-3"]).text == "RIFF")
    for file in ["wordz.wav", "manifest.json", "..%2Fmanifest.json"] {
      #expect(try await client.get("/v1/packs/my-shop/clips/\(file)").code == "not_found")
    }
    #expect(try await service.stranger.get(target).status == 401)
  }

  @Test("a new recording replaces the pack's clip at once, removes its mark, and is in the log of administration")
  func recorded() async throws {
    let client = try await service.client([.admin])
    #expect(try await mark(client, #"{"is_marked":true}"#).status == 200)
    let before = try await client.get("/v1/packs/my-shop/clips/worda.wav")
    let answer = try await record(client, Self.recording())
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try answer.string("file") == "worda.wav" && answer.value("is_marked") as? Bool == false)
    #expect(try answer.number("duration_ms").map { (480...560).contains($0) } == true)
    #expect(try answer.value("warnings") as? [String] != nil)
    let after = try await client.get("/v1/packs/my-shop/clips/worda.wav")
    #expect(after.body != before.body && after.header("ETag") != before.header("ETag"))
    let list = try await client.get("/v1/packs/my-shop/clips")
    #expect(try list.number("clips.0.duration_ms") == answer.number("duration_ms"))
    #expect(try list.value("clips.0.is_marked") as? Bool == false)
    let packs = try await client.get("/v1/packs")
    #expect(try packs.value("packs.0.error") == nil && packs.value("packs.1.error") == nil)
    let acts = try await service.ledger.administrativeActs().filter { $0.actor.hasPrefix("key:") }
    #expect(acts.map(\.action) == [.packClipMarked, .packClipRecorded] && acts[1].subject == "my-shop/worda.wav")
  }

  @Test("without an engine, the warnings about a recording list its faults and say that nothing was compared")
  func warned() async throws {
    let client = try await service.client([.admin])
    service.voice.fail(.engineUnavailable)
    let before = try await client.get("/v1/packs/my-shop/clips/worda.wav").body
    let refused = try await record(client, Self.recording(rate: 8_000), accepting: false)
    #expect(refused.status == 409 && refused.code == "recording_suspicious", "\(refused.text)")
    #expect(try await client.get("/v1/packs/my-shop/clips/worda.wav").body == before)
    let answer = try await record(client, Self.recording(rate: 8_000))
    let warnings = try (answer.value("warnings") as? [String]).orThrow("warnings")
    #expect(answer.status == 200 && warnings.contains { $0.contains("8000 Hz") })
    #expect(warnings.contains { $0.contains("not compared") }, "\(warnings)")
  }

  @Test("if the engine's queue is full, the warning about a recording says that the engine is busy, not missing")
  func busyEngine() async throws {
    let client = try await service.client([.admin])
    service.voice.fail(.queueFull)
    let answer = try await record(client, Self.recording())
    let warnings = try (answer.value("warnings") as? [String]).orThrow("warnings")
    #expect(
      answer.status == 200
        && warnings == [
          "The recording was not compared with what it should say, because the speech engine is busy."
        ])
  }

  @Test("a recording for a pack whose voice is a program is not compared, and the engine gets no request")
  func recordedIntoBuiltPack() async throws {
    let pack = try VoicePack(directory: voices.appending(path: "my-shop"), storage: .copied)
    try PackWriter(directory: voices).write(
      PackFacts(id: "my-shop", locale: "en-US", speaker: "test", licence: "CC0-1.0", isSynthesized: true),
      clips: RecordedClips(pack).clips, replacing: true)
    let client = try await service.client([.admin])
    let answer = try await record(client, Self.recording())
    #expect(answer.status == 200 && service.voice.calls == 0)
    #expect(
      try answer.value("warnings") as? [String] == [
        "The recording was not compared with what it should say, because a program made the pack."
      ])
  }

  @Test("a clip can be marked as wrong, and the mark can be removed")
  func marked() async throws {
    let client = try await service.client([.admin])
    for isMarked in [true, true, false] {
      let answer = try await mark(client, #"{"is_marked":\#(isMarked)}"#)
      #expect(try answer.status == 200 && answer.value("is_marked") as? Bool == isMarked)
      #expect(
        try await client.get("/v1/packs/my-shop/clips").value("clips.0.is_marked") as? Bool == isMarked)
    }
    for (body, code) in [
      ("{}", "field_missing"), (#"{"is_marked":1}"#, "field_invalid"), (#"{"is_marked":true,"x":1}"#, "field_unknown"),
      ("[]", "payload_malformed"),
    ] { #expect(try await mark(client, body).code == code) }
  }

  @Test("a recording or a mark that is not allowed or not valid is refused, and the clip stays unchanged")
  func refused() async throws {
    let client = try await service.client([.admin])
    let before = try await client.get("/v1/packs/my-shop/clips/worda.wav").body
    let silence = WAVFile.encode(Waveform(samples: Array(repeating: 0, count: 22_050), sampleRate: 22_050))
    for (answer, status, code) in [
      (try await record(client, Self.recording(), of: "en-US-espeak"), 409, "pack_read_only"),
      (try await mark(client, #"{"is_marked":true}"#, of: "en-US-espeak"), 409, "pack_read_only"),
      (try await record(client, Self.recording(), of: "nobody"), 404, "not_found"),
      (try await record(client, Self.recording(), "wordz.wav"), 404, "not_found"),
      (try await mark(client, #"{"is_marked":true}"#, "wordz.wav"), 404, "not_found"),
      (try await record(client, silence), 422, "silent"),
      (try await record(client, Array("noise".utf8)), 422, "recording_unreadable"),
      (try await record(client, []), 422, "recording_unreadable"),
      (try await record(client, Self.recording(milliseconds: 16_000)), 422, "too_long"),
      (
        try await record(client, Self.recording(), "worda.wav", of: "my-shop", "audio/mpeg"), 415,
        "media_type_unsupported"
      ),
      (try await record(client, Array(repeating: 0, count: (4 << 20) + 1)), 413, "payload_too_large"),
      (try await record(try await service.client(), Self.recording()), 403, "scope_missing"),
      (try await mark(try await service.client(), #"{"is_marked":true}"#), 403, "scope_missing"),
    ] {
      #expect(answer.status == status && answer.code == code, "\(answer.text)")
      #expect(!answer.text.contains(folder.url.path(percentEncoded: false)))
    }
    #expect(try await client.get("/v1/packs/my-shop/clips/worda.wav").body == before)
  }

  @Test("every recording, even a refused one, counts towards the daily limit of its account, which then gets 429")
  func charged() async throws {
    let service = try TestService(in: folder) {
      $0.packs = [voices]
      $0.settings.work.clipsADay = 2
    }
    let client = try await service.client([.admin])
    #expect(try await record(client, Self.recording()).status == 200)
    #expect(try await record(client, Array("noise".utf8)).status == 422)
    #expect(service.server.work.use(of: "shop").clips == 2)
    let answer = try await record(client, Self.recording(900))
    #expect(answer.status == 429 && answer.code == "daily_limit", "\(answer.text)")
    let other = try await service.client([.admin], account: "other")
    #expect(try await record(other, Self.recording(900)).status == 200)
  }

  @Test("simultaneous recordings of one pack are all stored")
  func together() async throws {
    let client = try await service.client([.admin])
    try await withThrowingTaskGroup(of: Int.self) { group in
      for (number, letter) in Self.letters.prefix(3).enumerated() {
        group.addTask {
          try await record(client, Self.recording(Double(800 + 100 * number)), "word\(letter).wav").status
        }
      }
      for try await status in group { #expect([200, 429].contains(status)) }
    }
    let pack = try VoicePack(directory: voices.appending(path: "my-shop"))
    #expect(pack.manifest.clips.count == 12)
  }
}
