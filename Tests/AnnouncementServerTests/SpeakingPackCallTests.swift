// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks

@testable import AnnouncementServer

@Suite("Reports on voice packs", .timeLimit(.minutes(5)))
struct SpeakingPackCallTests {
  private let folder: TemporaryFolder
  private let voices: URL
  private let choices: URL

  init() throws {
    folder = try TemporaryFolder()
    voices = folder.url.appending(path: "Voices", directoryHint: .isDirectory)
    choices = folder.url.appending(path: "packs.json")
  }

  private func write(
    _ id: String, _ locale: String = "en-US", words: [String] = ["word"], isSynthesized: Bool = false
  ) throws {
    let clips = words.enumerated().map { number, word in
      PackClip(
        tokens: [word], position: .plain, text: word,
        waveform: Tone.sine(Double(300 + 40 * number), milliseconds: 300, rate: 22_050))
    }
    try PackWriter(directory: voices).write(
      PackFacts(id: id, locale: locale, speaker: "test", licence: "CC0-1.0", isSynthesized: isSynthesized),
      clips: clips)
  }

  private func service(settled: ChosenPacks = ChosenPacks()) throws -> TestService {
    try TestService(in: folder) {
      $0.packs = [voices]
      $0.chosenPacks = choices
      $0.settledPacks = settled
    }
  }

  /// Returns the reason of each pack that speaks, by id.
  private func speaking(_ service: TestService) async throws -> [String: String] {
    let answer = try await service.client([.read]).get("/v1/packs")
    let packs = try (answer.value("packs") as? [[String: Any]]).orThrow("packs")
    #expect(packs.allSatisfy { $0.keys.contains("speaks") }, "the value is null if the pack does not speak")
    return Dictionary(
      uniqueKeysWithValues: packs.compactMap { pack in
        guard let id = pack["id"] as? String, let reason = pack["speaks"] as? String else { return nil }
        return (id, reason)
      })
  }

  @Test("the list of packs shows which pack speaks for a locale and why, and follows the choice")
  func speaks() async throws {
    try write("a")
    try write("b")
    try write("built", isSynthesized: true)
    try write("nsk", "hi-IN", isSynthesized: true)
    let service = try service()
    #expect(try await speaking(service) == ["a": "first"])
    try Data(#"{"packs": {"en-US": "built", "hi-IN": "nsk"}}"#.utf8).write(to: choices)
    #expect(try await speaking(service) == ["built": "chosen", "nsk": "chosen"])
    try FileManager.default.removeItem(at: voices.appending(path: "built"))
    #expect(try await speaking(service) == ["a": "first", "nsk": "chosen"])
  }

  @Test("a pack that the settings select is shown with the reason 'setting', although another pack was chosen")
  func settings() async throws {
    try write("a")
    try write("b")
    try Data(#"{"packs": {"en-US": "a"}}"#.utf8).write(to: choices)
    var settled = ChosenPacks()
    settled["en-US"] = "b"
    #expect(try await speaking(service(settled: settled)) == ["b": "setting"])
  }

  @Test("a broken pack speaks only if a good version of the pack was loaded before")
  func broken() async throws {
    try write("a")
    try write("b")
    try Data(#"{"packs": {"en-US": "b"}}"#.utf8).write(to: choices)
    let earlier = try service()
    #expect(try await speaking(earlier) == ["b": "chosen"])
    try Data("{".utf8).write(to: voices.appending(path: "b/\(PackManifest.fileName)"))
    #expect(try await speaking(earlier) == ["b": "chosen"])
    let shelf = VoicePackShelf(folders: [voices], choices: choices, interval: .zero)
    let later = try TestService {
      $0.packs = [voices]
      $0.chosenPacks = choices
    }
    #expect(try await speaking(later) == ["a": "first"])
    #expect(SpeakingPack(for: "en-US", on: shelf).id == "a")
  }

  @Test("the clips of a pack are listed in the order of the recording sheet, with other words after them")
  func clips() async throws {
    try write("shop", words: ["aardvark", "dollars", "Received", "twenty", "two", "cents"])
    let writer = try TestService.books.get().writer(for: "en-US")
    let sheet = RecordingSheet(vocabulary: try writer.vocabulary()).rows.map(\.token)
    let recorded = Set(["dollars", "Received", "twenty", "two", "cents"])
    var order: [String] = []
    for token in sheet where recorded.contains(token) && !order.contains(token) { order.append(token) }
    #expect(order.count == 5 && order != order.sorted())
    let answer = try await service().client([.read]).get("/v1/packs/shop/clips")
    let clips = try (answer.value("clips") as? [[String: Any]]).orThrow("clips")
    #expect(clips.compactMap { ($0["tokens"] as? [String])?.first } == order + ["aardvark"])
  }
}
