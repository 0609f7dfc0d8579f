// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import Mastering
import ServiceAccess
import SoundFiles
import SpeechEngine
import TestSupport
import Testing
import Waveforms

@testable import AnnouncementServer

@Suite("POST /v1/audio/speech", .timeLimit(.minutes(5)))
struct SpeechCallTests {
  private let service: TestService

  init() throws { service = try TestService() }

  private static let json = ["Content-Type": "application/json"]

  private func speech(
    _ client: TestClient, _ body: String, _ headers: [String: String] = Self.json
  ) async throws -> TestAnswer {
    try await client.send(.post, "/v1/audio/speech", headers: headers, body: Data(body.utf8))
  }

  /// Returns the clip that a preview with this body has.
  private func clip(_ client: TestClient, _ body: String) async throws -> Waveform {
    let answer = try await client.send(
      .post, "/v1/previews", headers: Self.json.merging(["Accept": "audio/wav"]) { $1 }, body: Data(body.utf8))
    #expect(answer.status == 200, "\(answer.text)")
    return try SoundFiles.decode([UInt8](answer.body)).waveform
  }

  /// Reads the sound of an answer.
  private static func sound(_ answer: TestAnswer) throws -> Waveform {
    guard answer.header("Content-Type") == "audio/pcm" else { return try SoundFiles.mix([UInt8](answer.body)) }
    let bytes = [UInt8](answer.body)
    let samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
    return Waveform(samples: samples, sampleRate: 24_000)
  }

  private static let text = "Ada paid $3,497.12 on May 3."

  @Test(
    "the sound of a speech request has the length and the loudness of the text's clip, in each format",
    arguments: [
      ("", "audio/mpeg"), (#","response_format":"mp3""#, "audio/mpeg"), (#","response_format":"flac""#, "audio/flac"),
      (#","response_format":"wav""#, "audio/wav"), (#","response_format":"pcm""#, "audio/pcm"),
    ])
  func formats(field: String, media: String) async throws {
    let client = try await service.client()
    let clip = try await clip(client, #"{"text":"\#(Self.text)"}"#)
    let answer = try await speech(client, #"{"model":"tts-1","voice":"alloy","input":"\#(Self.text)"\#(field)}"#)
    #expect(answer.status == 200 && answer.header("Content-Type") == media, "\(answer.text.prefix(300))")
    #expect(answer.header("Cache-Control") == "no-store")
    let sound = try Self.sound(answer)
    let seconds = Double(sound.samples.count) / Double(sound.sampleRate)
    #expect(abs(seconds - Double(clip.samples.count) / Double(clip.sampleRate)) < 0.002)
    let measures = try Mastering.measure(sound)
    #expect(abs(measures.loudnessLUFS + 16) <= 1, "\(measures.loudnessLUFS) LUFS")
    #expect(measures.truePeakDBTP <= -0.5, "\(measures.truePeakDBTP) dBTP")
    if ["audio/flac", "audio/wav"].contains(media) { #expect(sound.samples == clip.samples) }
    #expect(sound.sampleRate == (media == "audio/pcm" ? 24_000 : 22_050))
  }

  @Test("numbers, sums and dates are said in the words of the phrase book")
  func words() async throws {
    let client = try await service.client()
    let preview = try await client.send(
      .post, "/v1/previews", headers: Self.json, body: Data(#"{"text":"\#(Self.text)"}"#.utf8))
    let words = try preview.string("text").orThrow("words")
    #expect(words.contains("three thousand four hundred ninety-seven dollars"), "\(words)")
    #expect(!words.contains { $0.isNumber })
    // The stand-in for the engine says other words with another tone.
    let sound = try await speech(client, #"{"input":"\#(Self.text)","response_format":"wav"}"#)
    let clip = try await clip(client, #"{"text":"\#(Self.text)"}"#)
    #expect(try Self.sound(sound).samples == clip.samples)
    let other = try await speech(client, #"{"input":"Ada paid $3,497.13 on May 3.","response_format":"wav"}"#)
    #expect(try Self.sound(other).samples != clip.samples)
  }

  @Test(
    "a speech request sounds like an announcement with the same voice, locale and speed",
    arguments: [
      (#""voice":"alloy""#, ""), (#""voice":"en-gb-x-rp""#, #","voice":"en-gb-x-rp""#),
      (#""voice":"de-DE""#, #","locale":"de-DE""#), (#""voice":"de""#, #","locale":"de-DE","voice":"de""#),
      (#""locale":"fr-FR""#, #","locale":"fr-FR""#), (#""speed":1.25"#, #","rate":200"#), (#""speed":1.0"#, ""),
    ])
  func voices(fields: String, options: String) async throws {
    let client = try await service.client(locale: "en-US")
    let sound = try await speech(client, #"{"input":"Paid 12.50.","response_format":"wav",\#(fields)}"#)
    #expect(sound.status == 200, "\(sound.text.prefix(300))")
    #expect(try await Self.sound(sound).samples == clip(client, #"{"text":"Paid 12.50."\#(options)}"#).samples)
  }

  @Test("a text in a speech request is spoken in the locale of the API key")
  func locale() async throws {
    let client = try await service.client(locale: "zh-CN")
    let sound = try await speech(client, #"{"input":"到账12.50元","response_format":"flac"}"#)
    #expect(
      try await Self.sound(sound).samples == clip(client, #"{"text":"到账12.50元","locale":"zh-CN"}"#).samples)
  }

  @Test("a speech request announces, stores and publishes nothing")
  func nothingIsStored() async throws {
    let client = try await service.client()
    let events = await client.stream("/v1/events")
    _ = await events.next()
    for _ in 0..<2 {
      let answer = try await speech(client, #"{"input":"Hello"}"#, Self.json.merging(["Idempotency-Key": "k"]) { $1 })
      #expect(answer.status == 200 && answer.header("Location") == nil && answer.header("ETag") == nil)
    }
    #expect(try await client.get("/v1/announcements").value("announcements.0") == nil)
    #expect(try await service.ledger.lastEventPosition() == 0)
    #expect(service.clips().isEmpty)
    #expect(service.voice.calls == 2)
    // The key is still free.
    #expect(try await client.post(#"{"id":"p1","text":"Hello"}"#, ["Idempotency-Key": "k"]).status == 201)
    #expect(try await events.event("rendered").string("id") == "p1")
    events.end()
  }

  @Test("each sound counts towards the daily limit, and so does a text that cannot be spoken")
  func limit() async throws {
    let service = try TestService { $0.settings.work.clipsADay = 2 }
    let client = try await service.client()
    #expect(try await speech(client, #"{"input":"Hello"}"#).status == 200)
    service.voice.fail(.textUnspeakable)
    #expect(try await speech(client, #"{"input":"Hello"}"#).code == "text_unspeakable")
    service.voice.fail(nil)
    let refusal = try await speech(client, #"{"input":"Hello"}"#)
    #expect(refusal.status == 429 && refusal.code == "daily_limit" && refusal.header("Retry-After") != nil)
    #expect(try await speech(try await service.client(account: "other"), #"{"input":"Hello"}"#).status == 200)
  }

  @Test("a speech request that fails in the service gets 503, and does not count towards the daily limit")
  func failure() async throws {
    let service = try TestService { $0.settings.work.clipsADay = 1 }
    let client = try await service.client()
    service.voice.fail(.engineUnavailable)
    for _ in 0..<3 {
      let answer = try await speech(client, #"{"input":"Hello"}"#)
      #expect(answer.status == 503 && answer.code == "engine_unavailable")
    }
    service.voice.fail(nil)
    #expect(try await speech(client, #"{"input":"Hello"}"#).status == 200)
  }

  @Test(
    "a speech request with a mistake gets 400, and the error begins with the name of the field",
    arguments: [
      ("{", "payload_malformed", "payload"), ("[]", "payload_malformed", "The body"), ("{}", "field_missing", "input"),
      (#"{"input":""}"#, "nothing_to_say", "input"), (#"{"input":"!?"}"#, "nothing_to_say", "input"),
      (#"{"input":"\#(String(repeating: "word ", count: 800))"}"#, "too_long", "input"),
      (#"{"input":"\#(String(repeating: "word ", count: 820))"}"#, "field_invalid", "input"),
      (#"{"input":"a","voice":"nobody"}"#, "field_invalid", "voice"),
      (#"{"input":"a","voice":"ja-JP","locale":"en-US"}"#, "fields_conflict", "voice"),
      (#"{"input":"a","locale":"tlh"}"#, "locale_unknown", "locale"),
      (#"{"input":"a","response_format":"opus"}"#, "field_invalid", "response_format"),
      (#"{"input":"a","speed":5}"#, "field_invalid", "speed"),
      (#"{"input":"a","stream_format":"sse"}"#, "field_invalid", "stream_format"),
      (#"{"input":"a","seed":7}"#, "field_unknown", "seed"),
    ])
  func wrong(body: String, code: String, key: String) async throws {
    let answer = try await speech(try await service.client(locale: "en-US"), body)
    #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
    #expect(answer.header("Content-Type") == "application/problem+json")
    #expect(try answer.number("status") == 400)
    #expect(try answer.string("detail")?.hasPrefix(key) == true, "\(answer.text)")
    #expect(service.voice.calls == 0)
  }

  @Test("a voice that cannot read the requested language is refused")
  func otherVoice() async throws {
    let answer = try await speech(try await service.client(), #"{"input":"a","voice":"de","locale":"en-US"}"#)
    #expect(answer.status == 400, "\(answer.text)")
  }

  @Test("a speech request with a wrong size, media type, key, query or method is refused like an announcement")
  func refusals() async throws {
    let client = try await service.client()
    let long = #"{"input":"\#(String(repeating: "a", count: 1 << 16))"}"#
    #expect(try await speech(client, long).code == "payload_too_large")
    #expect(try await speech(client, #"{"input":"a"}"#, [:]).status == 415)
    #expect(try await speech(try await service.client([.read]), #"{"input":"a"}"#).code == "scope_missing")
    #expect(try await speech(service.stranger, #"{"input":"a"}"#).status == 401)
    let query = try await client.send(
      .post, "/v1/audio/speech?voice=alloy", headers: Self.json, body: Data(#"{"input":"a"}"#.utf8))
    #expect(query.status == 400 && query.code == "parameter_invalid")
    #expect(try await client.get("/v1/audio/speech").status == 405)
  }

  @Test("a speech request's Accept header is ignored, because OpenAI's client asks only for application/octet-stream")
  func accept() async throws {
    let client = try await service.client()
    for accept in ["application/octet-stream", "application/json", "image/png"] {
      let answer = try await speech(client, #"{"input":"a"}"#, Self.json.merging(["Accept": accept]) { $1 })
      #expect(answer.status == 200 && answer.header("Content-Type") == "audio/mpeg")
    }
  }

  @Test("a test key may send a speech request")
  func testKey() async throws {
    #expect(try await speech(try await service.client([.test]), #"{"input":"Hello"}"#).status == 200)
  }
}
