// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks

@testable import AnnouncementServer
@testable import Announcer

@Suite("Computed values of voice packs", .timeLimit(.minutes(5)))
struct PackValuesTests {
  private struct Failed: Error {}

  private static func manifest(_ id: String = "a", digest: String = "1") -> PackManifest {
    PackManifest(id: id, locale: "en-US", speaker: "test", licence: "CC0-1.0", digest: digest)
  }

  @Test("a value of a pack is computed once for each digest, also for simultaneous callers")
  func once() async throws {
    let values = PackValues<Int>()
    let got = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<50 { group.addTask { try await values.value(for: Self.manifest()) { number } } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(got.count == 1 && values.computed == 1)
    #expect(try await values.value(for: Self.manifest()) { -1 } == got.first)
  }

  @Test("a pack whose digest has changed gets a new value, and its former value is forgotten")
  func changed() async throws {
    let values = PackValues<Int>()
    #expect(try await values.value(for: Self.manifest()) { 1 } == 1)
    #expect(try await values.value(for: Self.manifest(digest: "2")) { 2 } == 2)
    #expect(try await values.value(for: Self.manifest("b")) { 3 } == 3)
    #expect(values.count == 2)
    #expect(try await values.value(for: Self.manifest(digest: "2")) { 4 } == 2)
  }

  @Test("the values of removed, broken and changed packs are forgotten, and other values stay")
  func gone() async throws {
    let values = PackValues<Int>()
    for id in ["stays", "gone", "broken", "changed"] { _ = try await values.value(for: Self.manifest(id)) { 1 } }
    values.keep([
      PackState(id: "stays", digest: "1"),
      PackState(id: "broken", fault: ErrorReport(code: "pack_invalid", message: "")),
      PackState(id: "changed", digest: "2"),
    ])
    #expect(values.count == 1)
    #expect(try await values.value(for: Self.manifest("stays")) { 2 } == 1)
  }

  @Test("an error is not stored as a pack's value, and the next caller computes the value again")
  func failed() async throws {
    let values = PackValues<Int>()
    await #expect(throws: Failed.self) { try await values.value(for: Self.manifest()) { throw Failed() } }
    #expect(try await values.value(for: Self.manifest()) { 2 } == 2)
  }

  /// Writes a pack, and replaces one with the same id.
  private static func write(_ id: String, hertz: Double = 300, in voices: URL) throws {
    let clips = ["received", "dollars"].map { word in
      PackClip(
        tokens: [word], position: .plain, text: word,
        waveform: Tone.sine(hertz, milliseconds: 300, rate: 22_050))
    }
    try PackWriter(directory: voices).write(
      PackFacts(id: id, locale: "en-US", speaker: "test", licence: "CC0-1.0"), clips: clips, replacing: true)
  }

  @Test(
    "the missing words of a pack and its list of clips are computed once, and again only after the pack has changed")
  func calls() async throws {
    let folder = try TemporaryFolder()
    let voices = folder.url.appending(path: "Voices", directoryHint: .isDirectory)
    for id in ["a", "b"] { try Self.write(id, in: voices) }
    let service = try TestService(in: folder) { $0.packs = [voices] }
    let client = try await service.client([.read, .admin])
    let (missing, listed) = (service.server.speakable.missing, service.server.packClips.listed)
    let first = try await client.get("/v1/packs")
    #expect(try first.number("packs.0.missing_count").map { $0 > 0 } == true)
    let clips = try await client.get("/v1/packs/a/clips")
    let answers = try await withThrowingTaskGroup(of: (Bool, Bool).self) { group in
      for _ in 0..<16 {
        group.addTask {
          (
            try await client.get("/v1/packs").body == first.body,
            try await client.get("/v1/packs/a/clips").body == clips.body
          )
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.count == 16 && answers.allSatisfy { $0.0 && $0.1 })
    let marked = try await client.send(
      .put, "/v1/packs/a/marks/received.wav", headers: ["Content-Type": "application/json"],
      body: Data(#"{"is_marked":true}"#.utf8))
    #expect(marked.status == 200, "\(marked.text)")
    #expect(try await client.get("/v1/packs/a/clips").text.contains(#""is_marked":true"#))
    #expect(missing.computed == 2 && listed.computed == 1)

    try Self.write("a", hertz: 500, in: voices)
    _ = try await client.get("/v1/packs")
    _ = try await client.get("/v1/packs/a/clips")
    #expect(missing.computed == 3 && listed.computed == 2 && missing.count == 2 && listed.count == 1)
    try FileManager.default.removeItem(at: voices.appending(path: "a"))
    await service.server.packWatch.look()
    #expect(missing.count == 1 && listed.count == 0)
  }
}
