// SPDX-License-Identifier: Apache-2.0

import Foundation
import SpeechServerTestSupport
import Testing

@Suite("The setting 'speech_servers'")
struct SpeechServerSettingTests {
  private func write(_ setting: String, _ crier: Command) throws {
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data(setting.utf8).write(to: crier.home.appending(path: "crier.yaml"))
  }

  private func printed(_ setting: String, _ crier: Command) throws -> Command.Result {
    try write(setting, crier)
    return try crier.serve("--print-config")
  }

  @Test("entries of 'speech_servers' are printed with their addresses, and without the files of their keys")
  func entries() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try printed(
      """
      speech_servers:
        - id: joe
          wyoming: tcp://127.0.0.1:10200
          voice: en_US-joe-medium
          locales: [en-US, en-GB]
          timeout_ms: 800
          at_once: 4
          amounts: true
          names: false
        - id: kokoro
          openai: https://speech.example/v1
          key_file: secret-key
          ca: ca.pem
          voice: af_heart
          model: kokoro
          speed_percent: 110
          pcm_rate: 24000
          locales: en
      """, crier)
    #expect(result.status == 0, "\(result.message)")
    #expect(
      result.output.contains(
        "speech_servers: 'joe=tcp://127.0.0.1:10200 kokoro=https://speech.example:443/v1'"), "\(result.output)")
    #expect(!result.output.contains("secret-key"))
  }

  private static func entry(_ keys: String) -> String { "speech_servers: [{\(keys)}]" }

  @Test(
    "an unusable entry of 'speech_servers' is refused, and the message names its line and the remedy",
    arguments: [
      ("speech_servers: yes", "give a list of entries with id, wyoming or openai, voice and locales"),
      ("speech_servers: [joe]", "give a list of entries with id, wyoming or openai, voice and locales"),
      (entry("wyoming: 'tcp://h:1', voice: v, locales: en"), "id: give a name of 1 to 64"),
      (entry("id: 'a b', wyoming: 'tcp://h:1', voice: v, locales: en"), "id: give a name of 1 to 64"),
      (entry("id: joe, voice: v, locales: en"), "give either wyoming, such as tcp://127.0.0.1:10200, or openai"),
      (
        entry("id: joe, wyoming: 'tcp://h:1', openai: 'http://h/v1', voice: v, locales: en"),
        "give either wyoming, such as tcp://127.0.0.1:10200, or openai"
      ),
      (entry("id: joe, wyoming: 'http://h:1', voice: v, locales: en"), "wyoming: give tcp://HOST:PORT or unix:///PATH"),
      (entry("id: joe, openai: 'h:80', voice: v, locales: en"), "openai: give a base URL"),
      (entry("id: joe, wyoming: 'tcp://h:1', locales: en"), "voice is missing; give the name of one of its voices"),
      (entry("id: joe, wyoming: 'tcp://h:1', voice: v"), "locales is missing; give what the voice speaks"),
      (entry("id: joe, wyoming: 'tcp://h:1', voice: v, locales: [[en]]"), "locales: give BCP 47 tags"),
      (
        entry("id: joe, wyoming: 'tcp://h:1', voice: v, locales: en, speed: 1"),
        "speed is not a key of an entry; use id"
      ),
      (
        entry("id: joe, wyoming: 'tcp://h:1', voice: v, locales: en, timeout_ms: 50"),
        "timeout_ms: give 100 to 60000 ms"
      ),
      (entry("id: joe, wyoming: 'tcp://h:1', voice: v, locales: en, at_once: 0"), "at_once: give 1 to 64 utterances"),
      (entry("id: joe, wyoming: 'tcp://h:1', voice: v, locales: en, amounts: maybe"), "amounts: give true or false"),
      (
        entry("id: joe, wyoming: 'tcp://h:1', voice: v, locales: en, key_file: k"),
        "key_file can only be used with openai; leave it out"
      ),
      (
        entry("id: joe, openai: 'http://h/v1', voice: v, locales: en, speed_percent: 500"),
        "speed_percent: give 25 to 400 percent"
      ),
      (
        "speech_servers: [{id: a, wyoming: 'tcp://h:1', voice: v, locales: en}, "
          + "{id: a, wyoming: 'tcp://h:2', voice: v, locales: en}]",
        "two entries have the id a; give each its own"
      ),
    ])
  func refused(setting: String, message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try printed(setting, crier)
    #expect(result.status == 64)
    #expect(result.message.contains("speech_servers (crier.yaml, line 1): \(message)"), "\(result.message)")
  }

  @Test("the setting 'speech_servers' cannot come from the environment, because it is a list of entries")
  func environment() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.serve(["--print-config"], environment: ["CRIER_SPEECH_SERVERS": "joe"])
    #expect(result.status == 64)
    #expect(result.message.contains("is a list of entries, so set it in the settings file"), "\(result.message)")
  }

  @Test("if others can read the key of a speech server, crier render does not speak, and the message says what to do")
  func openKey() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write(Self.entry("id: joe, openai: 'http://127.0.0.1:9/v1', key_file: key, voice: v, locales: en-US"), crier)
    let key = crier.home.appending(path: "key")
    try Data("secret".utf8).write(to: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key.path)
    let result = try crier("render", "--text", "Hello", "--locale", "en-US")
    #expect(result.status == 65 && result.message.contains("run chmod 600 on the file"), "\(result.message)")
    #expect(!result.message.contains("secret"))
  }

  @Test("crier render lets a server of the settings speak, without an option or with --voice and the server's id")
  func rendered() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await StandInSpeechServer { request in
      request.asksForDescription
        ? .description(voice: "v") : .wyoming(EncodedSpeech.samples(for: request.text))
    }
    let port = try #require(server.port)
    try write(
      Self.entry(
        "id: joe, wyoming: 'tcp://127.0.0.1:\(port)', voice: v, locales: en-US, amounts: true, timeout_ms: 60000"),
      crier)
    for voice in [[], ["--voice", "joe"]] {
      let result = try crier.run(
        ["render", "--amount", "3.00", "--currency", "USD", "--locale", "en-US", "--json"] + voice)
      let report = try #require(
        try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result.message)")
      #expect(report["voice"] as? String == "joe" && report["reproducible"] as? Bool == false)
      #expect(report["fallback"] is NSNull)
    }
    #expect(server.requests.filter { !$0.asksForDescription }.map(\.text).allSatisfy { $0.contains("three dollars") })
  }

  @Test("crier render speaks with the engine while the speech server does not answer, and the report says why")
  func fallback() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write(Self.entry("id: joe, wyoming: 'unix:///nowhere/speech', voice: v, locales: en-US"), crier)
    let result = try crier("render", "--amount", "3.00", "--currency", "USD", "--locale", "en-US", "--json")
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result.message)")
    #expect(report["fallback"] as? String == "cannot_connect" && report["reproducible"] as? Bool == true)
  }
}
