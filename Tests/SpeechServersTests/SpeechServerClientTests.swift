// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
import SpeechServerTestSupport
import TestSupport
import Testing
import Waveforms

@testable import SpeechServers

extension Networked {
  @Suite("The client of speech servers", .timeLimit(.minutes(5)))
  struct SpeechServerClientTests {
    @Test("a Wyoming server gets the words and the voice, and its sound is returned")
    func wyoming() async throws {
      let server = try await StandInSpeechServer(answering: Fixture.speak)
      let words = try Fixture.words("3497.05", payer: "John Smith")
      let sound = try await SpeechServerClient(Fixture.wyoming(server)).speak(words)
      #expect(words.text.contains("three thousand four hundred ninety-seven dollars and five cents"))
      #expect(EncodedSpeech.text(in: sound.samples) == words.text)
      #expect(sound.sampleRate == Mastering.sampleRate && sound.marks.isEmpty)
      let request = try #require(server.requests.first)
      #expect(server.requests.count == 1 && request.text == words.text)
      #expect(request.firstLine.contains(#""type":"synthesize""#) && request.firstLine.contains("en_US-joe-medium"))
    }

    @Test("a Wyoming server may listen on a Unix socket")
    func unixSocket() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "speech-\(UUID().uuidString.prefix(8))")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.appending(path: "s").path
      let server = try await StandInSpeechServer(at: .socket(path: path), answering: Fixture.speak)
      let address = try SpeechServerAddress(wyoming: "unix://\(path)")
      let client = try SpeechServerClient(
        SpeechServer(id: "joe", address: address, voice: "joe", locales: ["en-US"]).patient)
      let words = try Fixture.words()
      #expect(try await EncodedSpeech.text(in: client.speak(words).samples) == words.text)
      #expect(server.requests.count == 1)
    }

    @Test("a server of OpenAI's protocol gets the words, the voice, the model, the sound format, the speed and the key")
    func openAI() async throws {
      let server = try await StandInSpeechServer(answering: Fixture.speak)
      let key = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString)")
      try Data("sk-12345\n".utf8).write(to: key)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
      defer { try? FileManager.default.removeItem(at: key) }
      var settings = try Fixture.openAI(server)
      settings.keyFile = key
      let words = try Fixture.words()
      let sound = try await SpeechServerClient(settings).speak(words, speedPercent: 125)
      #expect(EncodedSpeech.text(in: sound.samples) == words.text)
      let request = try #require(server.requests.first)
      #expect(request.firstLine == "POST /v1/audio/speech HTTP/1.1")
      #expect(request.headers["authorization"] == "Bearer sk-12345")
      #expect(request.headers["content-type"] == "application/json")
      #expect(request.headers["host"] == "127.0.0.1:\(server.port ?? 0)")
      struct Body: Decodable, Equatable {
        var model: String
        var input: String
        var voice: String
        var response_format: String
        var speed: Double
      }
      #expect(
        try JSONDecoder().decode(Body.self, from: Data(request.body))
          == Body(model: "tts-1", input: words.text, voice: "af_heart", response_format: "wav", speed: 1.25))
    }

    @Test("samples without a header are read at the rate in the settings, and converted to the pipeline's rate")
    func samplesAlone() async throws {
      let samples = EncodedSpeech.samples(for: "word")
      let server = try await StandInSpeechServer { _ in .http(body: StandInAnswer.bytes(of: samples[...])) }
      var settings = try Fixture.openAI(server)
      settings.soundForm = .pcm(sampleRate: 24_000)
      let sound = try await SpeechServerClient(settings).speak(Fixture.words())
      #expect(sound.sampleRate == 22_050)
      #expect(abs(sound.samples.count - samples.count * 22_050 / 24_000) <= 2)
    }

    @Test("a chunked HTTP answer is complete at its last chunk, even if the WAV header does not state the length")
    func chunked() async throws {
      let wav = StandInAnswer.wav(EncodedSpeech.samples(for: "twelve"), statedBytes: 0xFFFF_FFFF)
      let server = try await StandInSpeechServer { _ in
        var bytes = Array("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".utf8)
        for start in stride(from: 0, to: wav.count, by: 3_000) {
          let piece = wav[start..<min(wav.count, start + 3_000)]
          bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
        }
        return StandInAnswer([.send(bytes + Array("0\r\n\r\n".utf8)), .stall])
      }
      let sound = try await SpeechServerClient(Fixture.openAI(server)).speak(Fixture.words())
      #expect(EncodedSpeech.text(in: sound.samples) == "twelve")
    }

    @Test("a server with a trusted certificate is accepted, and a server with another certificate is sent no words")
    func encrypted() async throws {
      let certificate = try await Certificate(for: "localhost")
      let server = try await StandInSpeechServer(
        tls: (certificate.file.path, certificate.key.path), answering: Fixture.speak)
      var settings = try Fixture.openAI(server, scheme: "https")
      settings.trustRoots = certificate.file
      let words = try Fixture.words()
      #expect(try await EncodedSpeech.text(in: SpeechServerClient(settings).speak(words).samples) == words.text)
      settings.trustRoots = nil
      let untrusting = try SpeechServerClient(settings)
      await expectSpeechServerError(.certificateRefused) { try await untrusting.speak(words) }
      #expect(server.requests.count == 1)
      // A server without TLS.
      let plain = try await StandInSpeechServer(answering: Fixture.speak)
      let confused = try SpeechServerClient(Fixture.openAI(plain, scheme: "https"))
      await expectSpeechServerError(.cannotConnect, .closedEarly) {
        try await confused.speak(words)
      }
    }

    @Test("a closed port, an unknown host and a missing socket give an error that the server cannot be reached")
    func unreachable() async throws {
      let words = try Fixture.words()
      for address in ["tcp://127.0.0.1:1", "tcp://nobody.invalid:10200", "unix:///nowhere/socket"] {
        let settings = SpeechServer(
          id: "joe", address: try SpeechServerAddress(wyoming: address), voice: "joe", locales: ["en-US"]
        ).patient
        let client = try SpeechServerClient(settings)
        await expectSpeechServerError(.cannotConnect) { try await client.speak(words) }
      }
    }

    @Test("a server that accepts a request and sends nothing fails at the limit for the first sound, in both protocols")
    func silent() async throws {
      let server = try await StandInSpeechServer { _ in StandInAnswer([.stall]) }
      for settings in [try Fixture.wyoming(server), try Fixture.openAI(server)] {
        let alarms = Alarms()
        let client = try SpeechServerClient(settings, sleep: alarms.sleep)
        let words = try Fixture.words()
        let count = server.requests.count
        let speaking = Task { try await client.speak(words) }
        _ = try await server.received(count + 1)
        alarms.ring(settings.limits.firstSound)
        await expectSpeechServerError(.firstSoundTimedOut) { try await speaking.value }
      }
    }

    @Test("a server that stalls within a sound fails at the limit for the whole sound, in both protocols")
    func stalled() async throws {
      let samples = EncodedSpeech.samples(for: "twelve")
      let server = try await StandInSpeechServer { request in
        var answer = Fixture.speak(request)
        if request.firstLine.hasPrefix("{") {
          let format = StandInAnswer.format()
          let chunk = StandInAnswer.bytes(of: samples[..<1_000])
          answer.steps = [
            .send(
              StandInAnswer.event("audio-start", format) + StandInAnswer.event("audio-chunk", format, payload: chunk))
          ]
        } else if case .send(let bytes) = answer.steps[0] {
          answer.steps = [.send(Array(bytes.prefix(500))), .stall]
        }
        return answer
      }
      for settings in [try Fixture.wyoming(server), try Fixture.openAI(server)] {
        let alarms = Alarms()
        let client = try SpeechServerClient(settings, sleep: alarms.sleep)
        let words = try Fixture.words()
        let speaking = Task { try await client.speak(words) }
        try await alarms.cancelled(settings.limits.firstSound)
        alarms.ring(settings.limits.whole)
        await expectSpeechServerError(.timedOut) { try await speaking.value }
      }
    }

    @Test("words that wait longer than the time limit for earlier words fail as busy, and are not sent")
    func busy() async throws {
      let server = try await StandInSpeechServer { _ in StandInAnswer([.stall]) }
      var settings = try Fixture.wyoming(server)
      settings.mostAtOnce = 1
      let alarms = Alarms()
      let client = try SpeechServerClient(settings, sleep: alarms.sleep)
      let (first, second) = (try Fixture.words("1.00"), try Fixture.words("2.00"))
      let holder = Task { try await client.speak(first) }
      _ = try await server.received(1)
      let waiting = Task { try await client.speak(second) }
      alarms.ring(settings.limits.whole)
      await expectSpeechServerError(.firstSoundTimedOut) { try await holder.value }
      await expectSpeechServerError(.busy) { try await waiting.value }
      #expect(server.requests.map(\.text) == [first.text])
    }

    @Test("a cancelled call to a speech server ends at once")
    func cancelled() async throws {
      let server = try await StandInSpeechServer { _ in StandInAnswer([.stall]) }
      let client = try SpeechServerClient(Fixture.wyoming(server))
      let words = try Fixture.words()
      let speaking = Task { try await client.speak(words) }
      _ = try await server.received(1)
      speaking.cancel()
      await expectSpeechServerError(.cancelled) { try await speaking.value }
    }

    @Test("words with a name are not sent to a speech server whose settings forbid names")
    func names() async throws {
      let server = try await StandInSpeechServer(answering: Fixture.speak)
      var settings = try Fixture.wyoming(server)
      #expect(settings.hearsNames, "the server is on this machine")
      settings.hearsNames = false
      let client = try SpeechServerClient(settings)
      let (named, plain) = (try Fixture.words(payer: "John Smith"), try Fixture.words())
      await expectSpeechServerError(.namesStay) { try await client.speak(named) }
      #expect(server.connectionCount == 0)
      #expect(try await EncodedSpeech.text(in: client.speak(plain).samples) == plain.text)
    }

    @Test("a Wyoming server describes its programs, versions and voices, and a server of OpenAI's protocol its models")
    func described() async throws {
      let info = """
        {"tts": [{"name": "piper", "version": "2.5.2", "installed": true, "attribution": {"name": "", "url": ""},
        "voices": [{"name": "en_US-joe-medium", "languages": ["en_US"], "version": null, "speakers": null}]}],
        "asr": [{"name": 7}]}
        """.replacing("\n", with: " ")
      let models = #"{"object": "list", "data": [{"id": "tts-1", "object": "model"}, {"id": "kokoro\u0007"}]}"#
      let server = try await StandInSpeechServer { request in
        request.firstLine.hasPrefix("{")
          ? StandInAnswer([.send(StandInAnswer.event("info", info)), .stall]) : .http(body: Array(models.utf8))
      }
      let wyoming = try await SpeechServerClient(Fixture.wyoming(server)).describe()
      let piper = try #require(wyoming.program(with: "en_US-joe-medium"))
      #expect(piper.name == "piper" && piper.version == "2.5.2" && piper.voices[0].languages == ["en_US"])
      #expect(wyoming.program(with: "other") == nil)
      let openAI = try await SpeechServerClient(Fixture.openAI(server)).describe()
      #expect(openAI.models == ["tts-1", "kokoro"])
      #expect(server.requests.map(\.firstLine).last == "GET /v1/models HTTP/1.1")
    }

    @Test("a key file is refused if it is missing, if others can read it, or if it does not have a key in one line")
    func keyFiles() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      var settings = SpeechServer(
        id: "kokoro", address: try SpeechServerAddress(openAI: "http://127.0.0.1:8880/v1"), voice: "v", locales: [])
      settings.keyFile = file
      await expectSpeechServerError(.keyUnusable) { try SpeechServerClient(settings) }
      for (content, mode) in [("sk-1", 0o644), ("", 0o600), ("a b", 0o600), ("a\r\nx: y", 0o600), ("ä", 0o600)] {
        try Data(content.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        await expectSpeechServerError(.keyUnusable) { try SpeechServerClient(settings) }
      }
    }
  }
}

/// A certificate that signs itself.
final class Certificate: Sendable {
  let file: URL
  let key: URL
  private let folder: URL

  init(for name: String) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "certificate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    (file, key) = (folder.appending(path: "certificate.pem"), folder.appending(path: "key.pem"))
    let openssl = Process()
    openssl.executableURL = URL(filePath: "/usr/bin/openssl")
    openssl.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
      "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", key.path, "-out", file.path,
    ]
    openssl.standardError = FileHandle.nullDevice
    try openssl.run()
    openssl.waitUntilExit()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
