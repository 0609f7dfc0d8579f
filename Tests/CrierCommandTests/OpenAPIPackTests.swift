// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundOutputTestSupport
import Testing
import VoicePackMaking
import Waveforms

@Suite("The service conforms to /openapi.json: voice packs", .timeLimit(.minutes(10)))
struct OpenAPIPackTests {
  /// Begins a voice pack, records it and removes it.
  private func drafts(_ service: Conformity) throws {
    let made = try service.check("createPack", json: #"{"id":"new","locale":"en-US","speaker":"Ada"}"#, 201).json()
    for (body, status, code) in [
      (#"{"id":"new","locale":"en-US"}"#, 409, "pack_exists"),
      (#"{"id":"a b","locale":"en-US"}"#, 422, "field_invalid"),
      (#"{"id":"b","locale":"tlh"}"#, 422, "locale_unknown"), (#"{"id":"b"}"#, 422, "field_missing"),
      (#"{"ids":"b"}"#, 422, "field_unknown"), ("[]", 400, "payload_malformed"),
      (String(repeating: " ", count: 5000), 413, "payload_too_large"),
    ] { try service.check("createPack", json: body, status, code) }
    try service.check("createPack", headers: ["Content-Type: text/plain"], body: "1", 415, "media_type_unsupported")
    try service.check("listPackRows", at: "new", key: service.keys["read"], 200)
    try service.check("listPackRows", at: "nobody", 404, "not_found")
    try service.check("listPacks", 200)
    let required = try #require(made["required"]?.number)
    let silence = Array(repeating: Int16(0), count: 16_000)
    let samples = (0..<Int(required)).reduce(into: silence) { samples, number in
      samples += Tone.sine(Double(300 + 10 * number), milliseconds: 300, rate: 22_050).samples + silence
    }
    let sound = Data(WAVFile.encode(Waveform(samples: samples, sampleRate: 22_050)))
    let wav = ["Content-Type: audio/wav"]
    let imported = try service.service.send("POST", "/v1/packs/new/recording?accept=true", headers: wav, body: sound)
    try service.record(imported, "importRecording", 200)
    try service.check("importRecording", at: "new", headers: wav, body: "noise", 422, "recording_unreadable")
    try service.check("importRecording", at: "new", body: "noise", 415, "media_type_unsupported")
    try service.check("importRecording", at: "nobody", headers: wav, body: "noise", 404, "not_found")
    for id in ["createPack", "listPackRows", "importRecording", "removePack"] { try service.checkRefusals(id, "new") }
    try service.check("removePack", at: "new", 200)
    try service.check("removePack", at: "new", 404, "not_found")
  }

  @Test("the answers to calls about the clips of voice packs conform to /openapi.json")
  func clips() throws {
    let crier = try Command()
    defer { crier.remove() }
    let words = [("one", 440.0), ("two", 550)].map { word, hertz in
      PackClip(tokens: [word], text: word, waveform: Tone.sine(hertz, milliseconds: 400, rate: 22_050))
    }
    try PackWriter(directory: crier.home.appending(path: "Voices")).write(
      PackFacts(id: "my-shop", locale: "en-US", speaker: "test", licence: "CC0-1.0"), clips: words)
    let service = try Conformity(crier)
    let listed = try service.check("listPackClips", at: "my-shop", key: service.keys["read"], 200).json()
    #expect(listed["is_writable"] == .boolean(true))
    let file = try #require(listed["clips"]?.array?.first?["file"]?.string)
    let place = "my-shop \(file)"
    let sound = try service.check("getPackClip", at: place, key: service.keys["read"], 200)
    let etag = try #require(sound.header("ETag"))
    try service.check("getPackClip", at: place, headers: ["Range: bytes=10-19"], 206)
    try service.check("getPackClip", at: place, headers: ["If-None-Match: \(etag)"], 304)
    try service.check("getPackClip", at: place, headers: ["Range: bytes=99999999-"], 416, "range_not_satisfiable")
    for target in ["/v1/packs/my-shop/clips", "/v1/packs/my-shop/clips/\(file)"] {
      let head = try service.service.send("HEAD", target)
      #expect(head.status == 200 && head.body.isEmpty)
    }

    let silence = Array(repeating: Int16(0), count: 6_600)
    let tone = Tone.sine(700, milliseconds: 400, rate: 22_050).samples
    let recording = WAVFile.encode(Waveform(samples: silence + tone + silence, sampleRate: 22_050))
    let again = try service.service.send(
      "PUT", "/v1/packs/my-shop/clips/\(file)", headers: ["Content-Type: audio/wav"], body: Data(recording))
    try service.record(again, "recordPackClip", 200)
    let wav = ["Content-Type: audio/wav"]
    try service.check("recordPackClip", at: place, headers: wav, body: "noise", 422, "recording_unreadable")
    try service.check("recordPackClip", at: place, body: "noise", 415, "media_type_unsupported")
    try service.check("markPackClip", at: place, headers: ["Content-Type: text/plain"], body: "x", 415)
    let json = ["Content-Type: application/json"]
    for (body, status, code) in [
      (#"{"is_marked":true}"#, 200, nil), (#"{"is_marked":false}"#, 200, nil), ("{}", 422, "field_missing"),
      (#"{"is_marked":1}"#, 422, "field_invalid"), (#"{"marked":true}"#, 422, "field_unknown"),
      ("[]", 400, "payload_malformed"), (String(repeating: " ", count: 5000), 413, "payload_too_large"),
    ] as [(String, Int, String?)] {
      try service.check("markPackClip", at: place, headers: json, body: body, status, code)
    }
    try service.check("listPackClips", at: "nobody", 404, "not_found")
    try service.check("getPackClip", at: "my-shop nothing.wav", 404, "not_found")
    try service.check("recordPackClip", at: "nobody \(file)", headers: wav, body: "x", 404, "not_found")
    try service.check(
      "markPackClip", at: "nobody \(file)", headers: json, body: #"{"is_marked":true}"#, 404, "not_found")

    // PackClipCallTests provoke the conflicts with packs of the installation.
    let broken = service.crier.home.appending(path: "Voices/broken")
    try FileManager.default.createDirectory(at: broken, withIntermediateDirectories: true)
    try Data("{".utf8).write(to: broken.appending(path: "manifest.json"))
    for id in ["listPackClips", "getPackClip"] {
      try eventually("The broken pack is found.") {
        try service.service.send("GET", "/v1/packs/broken/clips").status == 422
      }
      try service.check(id, at: "broken \(file)", 422)
    }
    for id in ["listPackClips", "getPackClip", "recordPackClip", "markPackClip"] {
      try service.checkRefusals(id, "broken \(file)")
    }
    try drafts(service)
    service.expectAllProvoked(tag: "Voice packs", without: [409, 500, 503, 507])
  }
}
