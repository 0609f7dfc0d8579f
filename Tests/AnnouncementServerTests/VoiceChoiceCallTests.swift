// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import SoundOutputTestSupport
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks

@testable import AnnouncementServer

@Suite("The voice of a locale, chosen through the service", .timeLimit(.minutes(5)))
struct VoiceChoiceCallTests {
  private let folder: TemporaryFolder
  private let voices: URL
  private let choices: URL

  init() throws {
    folder = try TemporaryFolder()
    voices = folder.url.appending(path: "Voices", directoryHint: .isDirectory)
    choices = folder.url.appending(path: "packs.json")
    for (id, locale) in [("a", "en-US"), ("b", "en-US"), ("c", "hi-IN")] {
      let clip = PackClip(
        tokens: ["word"], position: .plain, text: "word",
        waveform: Tone.sine(440, milliseconds: 300, rate: 22_050))
      try PackWriter(directory: voices).write(
        PackFacts(id: id, locale: locale, speaker: "test", licence: "CC0-1.0"), clips: [clip])
    }
  }

  private func service(settled: ChosenPacks = ChosenPacks()) throws -> TestService {
    try TestService(in: folder) {
      $0.packs = [voices]
      $0.chosenPacks = choices
      $0.settledPacks = settled
    }
  }

  private func choose(_ client: TestClient, _ body: String, _ locale: String = "en-US") async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/locales/\(locale)/voice", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }

  @Test("the chosen pack speaks at once, and a request with null removes the choice")
  func chosen() async throws {
    let service = try service()
    let client = try await service.client([.admin])
    let answer = try await choose(client, #"{"pack":"b"}"#, "EN-us")
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try answer.string("locale") == "en-US" && answer.value("packs") as? [String] == ["b", "a"])
    #expect(try await client.get("/v1/packs").string("packs.1.speaks") == "chosen")
    #expect(try ChosenPacks(file: choices)["en-US"] == "b")
    #expect(try await choose(client, #"{"pack":null}"#).value("packs") as? [String] == ["a", "b"])
    #expect(try ChosenPacks(file: choices)["en-US"] == nil)
    #expect(try await service.ledger.administrativeActs().map(\.subject).suffix(2) == ["en-US", "en-US"])
  }

  @Test(
    "a choice of a pack that is missing or speaks another locale is refused",
    arguments: [
      (#"{"pack":"nobody"}"#, "field_invalid"), (#"{"pack":"c"}"#, "field_invalid"), (#"{"pack":7}"#, "field_invalid"),
      ("{}", "field_missing"), (#"{"voice":"b"}"#, "field_unknown"),
    ])
  func refused(body: String, code: String) async throws {
    let answer = try await choose(try await service().client([.admin]), body)
    #expect(answer.status == 422 && answer.code == code, "\(answer.text)")
    #expect(!FileManager.default.fileExists(atPath: choices.path))
  }

  @Test("a broken pack cannot be chosen")
  func broken() async throws {
    try Data("noise".utf8).write(to: voices.appending(path: "b/word.wav"))
    let answer = try await choose(try await service().client([.admin]), #"{"pack":"b"}"#)
    #expect(answer.status == 422 && answer.code != "field_invalid", "\(answer.text)")
  }

  @Test("no other voice can be chosen for a locale for which the setting 'packs' selects a pack")
  func settled() async throws {
    var settled = ChosenPacks()
    settled["en-US"] = "a"
    let client = try await service(settled: settled).client([.admin])
    let answer = try await choose(client, #"{"pack":"b"}"#)
    #expect(answer.status == 409 && answer.code == "voice_settled")
    #expect(try await choose(client, #"{"pack":null}"#).status == 200)
  }

  @Test("a choice for an unknown locale, or with a key that is not an admin's, is refused")
  func notAllowed() async throws {
    let service = try service()
    #expect(try await choose(try await service.client([.admin]), #"{"pack":"b"}"#, "tlh").code == "not_found")
    let client = try await service.client([.read, .play, .announce])
    #expect(try await choose(client, #"{"pack":"b"}"#).code == "scope_missing")
  }
}
