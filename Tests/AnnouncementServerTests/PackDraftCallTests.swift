// SPDX-License-Identifier: Apache-2.0

import Announcements
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

@Suite("Voice packs that are made through the service", .timeLimit(.minutes(10)))
struct PackDraftCallTests {
  private let service: TestService
  private let folder: TemporaryFolder
  private let voices: URL
  private let choices: URL

  init() throws {
    folder = try TemporaryFolder()
    let voices = folder.url.appending(path: "Voices", directoryHint: .isDirectory)
    let choices = folder.url.appending(path: "packs.json")
    (self.voices, self.choices) = (voices, choices)
    service = try TestService(in: folder) {
      $0.packs = [voices]
      $0.chosenPacks = choices
    }
    // Nothing is compared without an engine, so that tones count as words.
    service.voice.fail(.engineUnavailable)
  }

  private static let json = ["Content-Type": "application/json"]

  private func create(_ client: TestClient, _ body: String) async throws -> TestAnswer {
    try await client.send(.post, "/v1/packs", headers: Self.json, body: Data(body.utf8))
  }

  /// A recording of tones with silences between them, as if somebody had read a sheet aloud.
  private static func recording(_ count: Int = 1, rate: Int = 22_050) -> Data {
    let silence = [Int16](repeating: 0, count: rate * 7 / 10)
    var samples = silence
    for number in 0..<count {
      samples += Tone.sine(Double(300 + 10 * number), milliseconds: 300, rate: rate).samples + silence
    }
    return Data(WAVFile.encode(Waveform(samples: samples, sampleRate: rate)))
  }

  private func record(
    _ client: TestClient, _ file: String, of id: String = "my-shop", query: String = "",
    _ sound: Data = Self.recording()
  ) async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/packs/\(id)/clips/\(file)\(query)", headers: ["Content-Type": "audio/wav"], body: sound)
  }

  private func choose(_ client: TestClient, _ id: String = "my-shop") async throws -> TestAnswer {
    try await client.send(
      .put, "/v1/locales/en-US/voice", headers: Self.json, body: Data(#"{"pack":"\#(id)"}"#.utf8))
  }

  private func speaking(_ client: TestClient) async throws -> [String] {
    let packs = try (await client.get("/v1/packs").value("packs") as? [[String: Any]]).orThrow("packs")
    return packs.compactMap { $0["speaks"] is String ? $0["id"] as? String : nil }
  }

  @Test("a new pack has the rows of the recording sheet without recordings, and does not speak")
  func created() async throws {
    let client = try await service.client([.admin])
    let answer = try await create(client, #"{"id":"my-shop","locale":"EN-us","speaker":"Ada"}"#)
    #expect(answer.status == 201, "\(answer.text)")
    #expect(try answer.string("locale") == "en-US" && answer.string("speaker") == "Ada")
    #expect(try answer.string("licence") == "not stated" && answer.number("recorded") == 0)
    let rows = try await client.get("/v1/packs/my-shop/rows")
    let writer = try TestService.books.get().writer(for: "en-US")
    let sheet = RecordingSheet(vocabulary: try writer.vocabulary()).rows
    let listed = try (rows.value("rows") as? [[String: Any]]).orThrow("rows")
    #expect(listed.compactMap { $0["text"] as? String } == sheet.map(\.text))
    #expect(try rows.string("rows.0.file") == "001.wav" && rows.value("rows.0.is_recorded") as? Bool == false)
    #expect(try rows.value("rows.0.is_required") as? Bool == true && rows.string("rows.0.how") != nil)
    #expect(try rows.number("pack.rows") == sheet.count && rows.value("pack.is_complete") as? Bool == false)
    let packs = try await client.get("/v1/packs")
    #expect(try packs.string("drafts.0.id") == "my-shop" && (packs.value("packs") as? [Any])?.isEmpty == true)
    #expect(try await client.get("/v1/packs/my-shop/clips/001.wav").code == "not_found")
    #expect(try await choose(client).code == "pack_incomplete")
  }

  @Test("the rows of a new pack are recorded one by one, and the pack speaks when it is complete and chosen")
  func recordedByRow() async throws {
    let client = try await service.client([.admin])
    let required = try await create(client, #"{"id":"my-shop","locale":"en-US"}"#).number("required").orThrow("rows")
    let rows = try await client.get("/v1/packs/my-shop/rows")
    let listed = try (rows.value("rows") as? [[String: Any]]).orThrow("rows")
    let files = listed.filter { $0["is_required"] as? Bool == true }.compactMap { $0["file"] as? String }
    #expect(files.count == required && required > 8)
    let first = try await record(client, files[0])
    #expect(try first.status == 200 && first.string("file") == files[0] && first.string("text") == "Received")
    #expect(try (first.value("warnings") as? [String])?.first?.contains("not compared") == true)
    let clip = try await client.get("/v1/packs/my-shop/clips/\(files[0])")
    #expect(clip.status == 200 && clip.header("Content-Type") == "audio/wav")
    #expect(try await client.get("/v1/packs/my-shop/rows").value("rows.0.is_recorded") as? Bool == true)
    for file in files.dropFirst() { #expect(try await record(client, file).status == 200) }
    #expect(try await client.get("/v1/packs").value("drafts.0.is_complete") as? Bool == true)
    #expect(try await speaking(client).isEmpty, "a complete pack does not speak before it is chosen")
    let chosen = try await choose(client)
    #expect(chosen.status == 200, "\(chosen.text)")
    #expect(try await speaking(client) == ["my-shop"])
    let packs = try await client.get("/v1/packs")
    #expect(try (packs.value("drafts") as? [Any])?.isEmpty == true && packs.value("packs.0.error") == nil)
    #expect(try await client.get("/v1/packs/my-shop/rows").code == "not_found")
  }

  @Test("one long recording of the required rows is cut into a recording for each row")
  func longRecording() async throws {
    let client = try await service.client([.admin])
    let required = try await create(client, #"{"id":"my-shop","locale":"en-US"}"#).number("required").orThrow("rows")
    let wav = ["Content-Type": "audio/wav"]
    let wrong = try await client.send(
      .post, "/v1/packs/my-shop/recording", headers: wav, body: Self.recording(required + 1))
    #expect(wrong.status == 422 && wrong.code == "utterance_count_mismatch", "\(wrong.text)")
    #expect(!wrong.text.contains("crier-"), "the name of the temporary file is not told")
    #expect(try await client.get("/v1/packs").number("drafts.0.recorded") == 0)
    let answer = try await client.send(
      .post, "/v1/packs/my-shop/recording", headers: wav, body: Self.recording(required))
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try answer.number("pack.recorded") == required && answer.value("pack.is_complete") as? Bool == true)
    let warnings = try (answer.value("warnings") as? [String]).orThrow("warnings")
    #expect(warnings.contains { $0.contains("not compared") } && warnings.contains { $0.contains("have no recording") })
    #expect(try await choose(client).status == 200)
  }

  @Test("a recording that seems to be wrong is refused, unless the request accepts this fault")
  func suspicious() async throws {
    let client = try await service.client([.admin])
    #expect(try await create(client, #"{"id":"my-shop","locale":"en-US"}"#).status == 201)
    let sound = Self.recording(rate: 8_000)
    let refused = try await record(client, "001.wav", sound)
    #expect(refused.status == 409 && refused.code == "recording_suspicious", "\(refused.text)")
    #expect(try refused.string("detail")?.contains("8000 Hz") == true)
    #expect(try await client.get("/v1/packs/my-shop/rows").number("pack.recorded") == 0)
    #expect(try await record(client, "001.wav", query: "?accept=false", sound).status == 409)
    #expect(try await record(client, "001.wav", query: "?accept=yes", sound).code == "parameter_invalid")
    let accepted = try await record(client, "001.wav", query: "?accept=true", sound)
    #expect(try accepted.status == 200 && (accepted.value("warnings") as? [String])?.isEmpty == false)
  }

  @Test(
    "a request for a pack with a missing, invalid or unknown field is refused",
    arguments: [
      (#"{"locale":"en-US"}"#, 422, "field_missing"), (#"{"id":"my-shop"}"#, 422, "field_missing"),
      (#"{"id":"../x","locale":"en-US"}"#, 422, "field_invalid"),
      (#"{"id":".x","locale":"en-US"}"#, 422, "field_invalid"),
      (#"{"id":"a","locale":"tlh"}"#, 422, "locale_unknown"), (#"{"id":"a","locale":7}"#, 422, "field_invalid"),
      (#"{"id":"a","locale":"en-US","speaker":" "}"#, 422, "field_invalid"),
      (#"{"id":"a","locale":"en-US","pack":"b"}"#, 422, "field_unknown"),
    ])
  func notCreated(body: String, status: Int, code: String) async throws {
    let answer = try await create(try await service.client([.admin]), body)
    #expect(answer.status == status && answer.code == code, "\(answer.text)")
    #expect(!FileManager.default.fileExists(atPath: voices.appending(path: ".drafts").path))
  }

  @Test("the id of a finished pack, or of a pack under construction, cannot be used again")
  func taken() async throws {
    let client = try await service.client([.admin])
    let body = #"{"id":"my-shop","locale":"en-US"}"#
    #expect(try await create(client, body).status == 201)
    #expect(try await create(client, body).code == "pack_exists")
    try PackWriter(directory: voices).write(
      PackFacts(id: "other", locale: "en-US", speaker: "test", licence: "CC0-1.0"),
      clips: [
        PackClip(
          tokens: ["word"], position: .plain, text: "word", waveform: Tone.sine(440, milliseconds: 300, rate: 22_050))
      ])
    #expect(try await create(client, #"{"id":"other","locale":"en-US"}"#).code == "pack_exists")
  }

  @Test("the removal of a pack also removes its recordings and the choice of the pack")
  func removed() async throws {
    let client = try await service.client([.admin])
    #expect(try await create(client, #"{"id":"my-shop","locale":"en-US"}"#).status == 201)
    #expect(try await client.send(.delete, "/v1/packs/my-shop").status == 200)
    #expect(try await client.get("/v1/packs/my-shop/rows").code == "not_found")
    #expect(try await client.send(.delete, "/v1/packs/my-shop").code == "not_found")
    try PackWriter(directory: voices).write(
      PackFacts(id: "other", locale: "en-US", speaker: "test", licence: "CC0-1.0"),
      clips: [
        PackClip(
          tokens: ["word"], position: .plain, text: "word", waveform: Tone.sine(440, milliseconds: 300, rate: 22_050))
      ])
    #expect(try await choose(client, "other").status == 200)
    #expect(try ChosenPacks(file: choices)["en-US"] == "other")
    #expect(try await client.send(.delete, "/v1/packs/other").status == 200)
    #expect(try ChosenPacks(file: choices)["en-US"] == nil)
    #expect(try (await client.get("/v1/packs").value("packs") as? [Any])?.isEmpty == true)
    for id in ["..", "%2E%2E", "a%2Fb", ".drafts"] {
      #expect(try await client.send(.delete, "/v1/packs/\(id)").code == "not_found")
    }
    let acts = try await service.ledger.administrativeActs().filter { $0.action == .packRemoved }
    #expect(acts.map(\.subject) == ["my-shop", "other"])
  }

  @Test("only an admin makes and removes packs")
  func scopes() async throws {
    let client = try await service.client([.read, .play, .announce])
    #expect(try await create(client, #"{"id":"my-shop","locale":"en-US"}"#).code == "scope_missing")
    #expect(try await client.send(.delete, "/v1/packs/my-shop").code == "scope_missing")
    #expect(try await client.send(.post, "/v1/packs/my-shop/recording").code == "scope_missing")
  }
}
