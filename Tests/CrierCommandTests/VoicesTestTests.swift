// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SpeechServerTestSupport
import Testing

@Suite("crier voices test, and crier voices build --server")
struct VoicesTestTests {
  private let crier: Command
  private let voices: URL

  init() throws {
    crier = try Command()
    voices = crier.home.appending(path: "Voices")
  }

  /// The description of a Wyoming server.
  private static func info(version: String = "1.8.0") -> StandInAnswer {
    let voice = #"{"name": "deep", "languages": ["zh_CN"], "version": "2"}"#
    let data = #"{"tts": [{"name": "piper", "version": "\#(version)", "voices": [\#(voice)]}]}"#
    return StandInAnswer([.send(StandInAnswer.event("info", data)), .stall])
  }

  /// Starts a server, and writes the settings that name it.
  ///
  /// - Parameter sound: Returns, for the text that is asked for, the text that the sound encodes.
  private func server(
    locales: String = "[zh-CN]", saying sound: @escaping @Sendable (String) -> String? = { $0 }
  ) async throws -> StandInSpeechServer {
    let server = try await StandInSpeechServer { request in
      if request.text.isEmpty { return Self.info() }
      guard let text = sound(request.text) else { return StandInAnswer([.close]) }
      return .wyoming(EncodedSpeech.samples(for: text))
    }
    try settings(port: try #require(server.port), locales: locales)
    return server
  }

  private func settings(port: Int, locales: String = "[zh-CN]") throws {
    try FileManager.default.createDirectory(
      at: crier.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let text = """
      speech_servers:
        - id: joe
          wyoming: tcp://127.0.0.1:\(port)
          voice: deep
          locales: \(locales)
          timeout_ms: 30000

      """
    try Data(text.utf8).write(to: crier.home.appending(path: "crier.yaml"))
  }

  private func json(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  private func verdicts() throws -> [[String: Any]] {
    let bytes = try Data(contentsOf: crier.home.appending(path: "speech-servers.json"))
    let content = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    return try #require(content["verdicts"] as? [[String: Any]])
  }

  private func build(_ options: String...) throws -> Command.Result {
    try crier.run(
      ["voices", "build", "--server", "joe", "--locale", "zh-CN", "--currency", "CNY", "--id", "deep"] + options)
  }

  private func manifest() throws -> [String: Any] {
    try json(try String(contentsOf: voices.appending(path: "deep/manifest.json"), encoding: .utf8))
  }

  @Test(
    "if a speech server's voice passes its test, the verdict is stored, and the manifest of its pack has the server")
  func passed() async throws {
    defer { crier.remove() }
    let server = try await server()
    let result = try crier("voices", "test", "joe", "--json")
    #expect(result.status == 0, "\(result)")
    let verdict = try json(result.output)
    #expect(verdict["server"] as? String == "joe" && verdict["locale"] as? String == "zh-CN")
    #expect(verdict["identity"] as? String == "piper 1.8.0, deep 2" && verdict["passed"] as? Bool == true)
    let findings = try #require(verdict["findings"] as? [String])
    #expect(findings.contains { $0.hasPrefix("No two of ") }, "\(findings)")
    #expect(findings.last == "No recogniser for zh-CN: whether people understand the amounts was not measured.")
    #expect(verdict["tested_at"] is String)
    #expect(try verdicts().count == 1)
    let asked = server.requests.filter { !$0.text.isEmpty }.map(\.text)
    #expect(asked.count > 120)
    #expect(asked.allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .decimalNumber } })

    let built = try build("--licence", "CC0-1.0")
    #expect(built.status == 0, "\(built)")
    #expect(built.output == voices.appending(path: "deep").path + "\n")
    let manifest = try manifest()
    #expect(manifest["speech_server"] as? String == "piper 1.8.0, deep 2")
    #expect(manifest["speaker"] as? String == "piper 1.8.0, deep 2" && manifest["licence"] as? String == "CC0-1.0")
    #expect(manifest["synthesized"] as? Bool == true && manifest["locale"] as? String == "zh-CN")
    #expect(!FileManager.default.fileExists(atPath: voices.appending(path: ".rows-deep").path))
  }

  @Test("a voice does not pass if two of its numbers sound the same, and the verdict names these numbers")
  func alike() async throws {
    defer { crier.remove() }
    let server = try await server { $0.replacing("七", with: "一") }
    let result = try crier("voices", "test", "joe", "--locale", "zh-CN")
    #expect(result.status == 65, "\(result)")
    #expect(result.output.hasPrefix("joe\tzh-CN\tnot passed\tpiper 1.8.0, deep 2\n"))
    #expect(result.output.contains("“一” and “七” sound the same."), "\(result.output)")
    #expect(try verdicts().first?["passed"] as? Bool == false)
    withExtendedLifetime(server) {}
  }

  @Test("a server that fails, or that sends the sound of other words, does not pass the test")
  func failing() async throws {
    defer { crier.remove() }
    let server = try await server { $0.contains("三") ? nil : $0.contains("四") ? "a" : $0 }
    let result = try crier("voices", "test", "joe")
    #expect(result.status == 65, "\(result)")
    #expect(result.output.contains("failed: closed_early."), "\(result.output)")
    #expect(result.output.contains("failed: sound_refused:too_short."), "\(result.output)")
    #expect(result.output.contains(", and then no more were asked."))
    withExtendedLifetime(server) {}
  }

  @Test("if the server cannot be reached, the test has exit status 69 and stores no verdict")
  func unreachable() async throws {
    defer { crier.remove() }
    let server = try await server()
    try await server.stop()
    let result = try crier("voices", "test", "joe")
    #expect(result.status == 69 && result.output.isEmpty, "\(result)")
    #expect(result.message.contains("The speech server joe"), "\(result.message)")
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "speech-servers.json").path))
    #expect(try build().status == 69)
    #expect(!FileManager.default.fileExists(atPath: voices.appending(path: "deep").path))
  }

  @Test("the manifest of an untested voice's pack has no server, and a build after a failure continues where it ended")
  func untested() async throws {
    defer { crier.remove() }
    let isFailing = FailingOnce()
    let server = try await server { isFailing.fails($0) ? nil : $0 }
    let failed = try build()
    #expect(failed.status == 69 && failed.output.isEmpty, "\(failed)")
    #expect(failed.message.contains("row ") && failed.message.contains("the speech server joe"), "\(failed.message)")
    #expect(failed.message.contains("the finished rows are kept for the next run"))
    let before = server.requests.map(\.text).filter { !$0.isEmpty }
    #expect(before.count == FailingOnce.place)

    let built = try build()
    #expect(built.status == 0, "\(built)")
    #expect(built.message.contains("Run crier voices test joe --locale zh-CN"), "\(built.message)")
    let all = server.requests.map(\.text).filter { !$0.isEmpty }
    #expect(Set(all).count == all.count - 1, "only the failed row is asked for twice")
    let manifest = try manifest()
    #expect(manifest["speech_server"] == nil && manifest["licence"] as? String == "not stated")
  }

  @Test(
    "crier voices build --server refuses options that do not fit together",
    arguments: [
      (["--server", "joe"], "--id is missing: name the pack, such as --id my-voice."),
      (["--server", "joe", "--id", "a", "--with", "say {text} {output}"], "--with cannot be used with --server"),
      (["--server", "joe", "--id", "a", "--speaker", "Ada"], "--speaker cannot be used with --server"),
      (["--server", "joe", "--id", "a", "--timeout", "5"], "--timeout cannot be used with --server"),
      (["--server", "joe", "--id", "a", "--voice", "en"], "set the voice of the speech server"),
      (["--server", "joe", "--id", "a", "--locale", "en-US"], "--server can only be used with one --locale"),
      (["--server", "ann", "--id", "a"], "There is no speech server ann: choose one of joe."),
      (["--server", "joe", "--id", "../a"], "--id ../a is not a valid pack name"),
    ])
  func refused(options: [String], message: String) throws {
    defer { crier.remove() }
    try settings(port: 1)
    let result = try crier.run(["voices", "build", "--locale", "zh-CN"] + options)
    #expect(result.status == 64 && result.output.isEmpty, "\(result)")
    #expect(result.message.contains(message), "\(result.message)")
    #expect(!FileManager.default.fileExists(atPath: voices.path))
  }

  @Test("crier voices refuses a speech server or a language that is not in the settings")
  func unknown() throws {
    defer { crier.remove() }
    try settings(port: 1)
    for (words, message) in [
      (["ann"], "There is no speech server ann: choose one of joe."),
      (["joe", "--locale", "en-US"], "--locale en-US: the speech server joe speaks zh-CN"),
    ] {
      let result = try crier.run(["voices", "test"] + words)
      #expect(result.status == 64 && result.output.isEmpty, "\(result)")
      #expect(result.message.contains(message), "\(result.message)")
    }
    let build = try crier("voices", "build", "--server", "joe", "--locale", "en-US", "--id", "a")
    #expect(build.status == 64 && build.message.contains("the speech server joe speaks zh-CN"), "\(build)")
    try Data().write(to: crier.home.appending(path: "crier.yaml"))
    #expect(try crier("voices", "test", "joe").message.contains("add one to the setting 'speech_servers'"))
  }
}

/// Fails once, at one of the rows.
private final class FailingOnce: Sendable {
  static let place = 5
  private let asked = Locked(0)

  func fails(_ text: String) -> Bool {
    asked.withLock { asked in
      asked += 1
      return asked == Self.place
    }
  }
}
