// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("crier push", .timeLimit(.minutes(5)))
struct PushCommandTests {
  private static let device = String(repeating: "0f", count: 32)
  private static let payment = ["--amount", "12.50", "--currency", "USD", "--locale", "en-US"]
  private static let target = ["--token", device, "--topic", "com.example.shop"]
  private static let signing = ["--key", "AuthKey.p8", "--key-id", "ABC123DEFG", "--team", "DEF123GHIJ"]

  /// A folder with a key that only its owner may read.
  private func command(mode: Int = 0o600) throws -> Command {
    let crier = try Command()
    let key = crier.home.deletingLastPathComponent().appending(path: "AuthKey.p8")
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: key)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key.path)
    return crier
  }

  /// Runs the work with a simulator that accepts the key of the folder, and returns what it printed at its end.
  private func withSimulator(
    _ crier: Command, _ options: [String] = [], _ work: (_ server: [String]) throws -> Void
  ) throws -> String {
    let simulator = try RunningCommand(
      ["apns-simulator", "--ca", "ca.pem"] + Self.signing + options, of: crier)
    var port: Substring?
    try eventually("The simulator says where it is.") {
      port = try simulator.messages().firstMatch(of: /at https:\/\/localhost:([0-9]+)\n/)?.1
      return port != nil
    }
    try work(["--server", "https://localhost:\(try #require(port))", "--ca", "ca.pem"])
    simulator.signal(SIGTERM)
    #expect(simulator.wait() == 0)
    return try simulator.messages()
  }

  @Test("a dry run of crier push prints the headers and the body, without a key and without sending anything")
  func dryRun() throws {
    let crier = try Command()
    defer { crier.remove() }
    let done = try crier.run(["push", "alert", "--dry-run"] + Self.target + Self.payment)
    #expect(done.status == 0, "\(done.message)")
    let parts = done.output.components(separatedBy: "\n\n")
    #expect(parts.count == 2)
    let lines = parts[0].split(separator: "\n")
    #expect(lines.first == "POST /3/device/\(Self.device)")
    for line in [
      "authorization: bearer (not shown)", "apns-topic: com.example.shop", "apns-push-type: alert",
      "apns-priority: 10",
    ] { #expect(lines.contains { $0 == line }, "\(line)") }
    let body = try JSONSerialization.jsonObject(with: Data((parts.last ?? "").utf8)) as? [String: [String: Any]]
    #expect(body?["aps"]?["mutable-content"] as? Int == 1)
    #expect((body?["aps"]?["alert"] as? [String: String])?["title"]?.contains("$12.50") == true)
    #expect(body?["aps"]?["sound"] as? String == "default")

    let container = try crier.run(
      ["push", "file-provider", "--dry-run", "--container", "working-set"] + Self.target)
    #expect(container.output.contains("apns-topic: com.example.shop.pushkit.fileprovider\n"))
    #expect(container.output.contains(#"{"container-identifier":"NSFileProviderWorkingSetContainerItemIdentifier"}"#))

    let background = try crier.run(["push", "background", "--dry-run"] + Self.target)
    #expect(background.output.contains("apns-priority: 5\n") && background.output.contains(#""content-available":1"#))
  }

  /// Returns the key crier of a dry run.
  private func content(_ crier: Command, _ arguments: [String], input: String? = nil) throws -> [String: Any]? {
    let done = try crier.run(["push", "alert", "--dry-run"] + Self.target + arguments, input: input)
    #expect(done.status == 0, "\(done.message)")
    let body = Data((done.output.components(separatedBy: "\n\n").last ?? "").utf8)
    return (try JSONSerialization.jsonObject(with: body) as? [String: [String: Any]])?["crier"]
  }

  @Test("an alert has the fields that the extension reads: id, amount, kind, words, payer, and the payload's sequence")
  func content() throws {
    let crier = try Command()
    defer { crier.remove() }
    let payload =
      #"{"id":"77","amount":"12.50","currency":"USD","kind":"refunded","payer":"Alice","locale":"en-US","sequence":42}"#
    let whole = try #require(try content(crier, ["-"], input: payload))
    #expect(whole["id"] as? String == "77" && whole["sequence"] as? Int == 42 && whole["kind"] as? String == "refunded")
    #expect(whole["amount"] as? String == "12.50" && whole["currency"] as? String == "USD")
    #expect(whole["locale"] as? String == "en-US" && (whole["payer"] as? [String: String])?["name"] == "Alice")
    #expect((whole["text"] as? String)?.contains("twelve dollars and fifty cents") == true)
    #expect(whole["clip"] == nil && whole["tokens"] == nil)

    let ids = try (0..<2).map { _ in try #require(try content(crier, Self.payment)?["id"] as? String) }
    #expect(ids[0] != ids[1] && ids.allSatisfy { $0.hasPrefix("push-") })
    let text = try #require(try content(crier, ["--text", "Closed", "--locale", "en-US"]))
    #expect(text["amount"] == nil && text["kind"] == nil && text["text"] as? String == "Closed")
    #expect(try content(crier, Self.payment + ["--no-extension"]) == nil)
  }

  @Test("crier push describes a clip with its digest, size and length, and names it as the sound if --sound is missing")
  func clip() throws {
    let crier = try Command()
    defer { crier.remove() }
    let rendered = try crier.run(["render", "--output", "cash.wav"] + Self.payment)
    #expect(rendered.status == 0, "\(rendered.message)")
    let bytes = try Data(contentsOf: crier.directory.appending(path: "cash.wav"))
    let clip = ["--clip", "cash.wav", "--clip-url", "https://shop.example/cash.wav"]
    let described = try #require(try content(crier, Self.payment + clip)?["clip"] as? [String: Any])
    #expect(described["name"] as? String == "cash.wav" && described["bytes"] as? Int == bytes.count)
    #expect(described["url"] as? String == "https://shop.example/cash.wav")
    let digest = SHA256.hash(data: bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(described["sha256"] as? String == digest && (described["duration_ms"] as? Int ?? 0) > 500)
    for (sound, name) in [([], "cash.wav"), (["--sound", "default"], "default")] as [([String], String)] {
      let done = try crier.run(["push", "alert", "--dry-run"] + Self.target + Self.payment + clip + sound)
      #expect(done.output.contains(#""sound":"\#(name)""#))
    }
  }

  @Test("a clip of 30 s is refused, because iOS would play its default sound; a clip one sample shorter is accepted")
  func longClip() throws {
    let crier = try Command()
    defer { crier.remove() }
    let clip = ["--clip", "long.wav", "--clip-url", "https://shop.example/long.wav"]
    for (samples, status) in [(240_000, 65), (239_999, 0)] {
      try Self.silence(samples: samples).write(to: crier.directory.appending(path: "long.wav"))
      let done = try crier.run(["push", "alert", "--dry-run"] + Self.target + Self.payment + clip)
      #expect(done.status == status, "\(done.message)")
      #expect(done.message.contains("--clip: lasts 30 s or more") == (status != 0))
    }
  }

  /// Returns a WAVE file of silence with 8,000 samples a second, of 8 bits each.
  private static func silence(samples: Int) -> Data {
    func number(_ value: Int, bytes: Int) -> Data { Data((0..<bytes).map { UInt8(value >> ($0 * 8) & 255) }) }
    var file = Data("RIFF".utf8) + number(36 + samples, bytes: 4) + Data("WAVEfmt ".utf8) + number(16, bytes: 4)
    file += number(1, bytes: 2) + number(1, bytes: 2) + number(8_000, bytes: 4) + number(8_000, bytes: 4)
    file += number(1, bytes: 2) + number(8, bytes: 2) + Data("data".utf8) + number(samples, bytes: 4)
    return file + Data(repeating: 128, count: samples)
  }

  @Test("an accepted push prints one line of JSON with status 0, and a second command sends the same provider token")
  func accepted() throws {
    let crier = try command()
    defer { crier.remove() }
    // The simulator refuses a second new token within 20 minutes.
    let counters = try withSimulator(crier) { server in
      for _ in 0..<2 {
        let done = try crier.run(["push", "alert"] + Self.target + Self.payment + Self.signing + server)
        #expect(done.status == 0, "\(done.message)")
        let answer = try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any]
        #expect(answer?["status"] as? Int == 200 && answer?["reason"] is NSNull)
        #expect((answer?["apns_id"] as? String).flatMap(UUID.init(uuidString:)) != nil)
      }
    }
    #expect(counters.contains("2 accepted"))
  }

  @Test("a refused push ends crier push with status 65 and Apple's reason, and a busy server with status 69")
  func refused() throws {
    let crier = try command()
    defer { crier.remove() }
    for (fault, status) in [("400:BadDeviceToken=1", 65), ("503:ServiceUnavailable=1", 69)] {
      _ = try withSimulator(crier, ["--fault", fault]) { server in
        let done = try crier.run(["push", "alert"] + Self.target + Self.payment + Self.signing + server)
        #expect(done.status == status, "\(done.message)")
        let answer = try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any]
        #expect(
          answer?["reason"] as? String == fault.split(separator: "=")[0].split(separator: ":").last.map(String.init))
        #expect(!done.message.contains(Self.device))
        let meaning =
          status == 65
          ? "BadDeviceToken: The phone's token is not valid, or belongs to the other environment."
          : "What the service does then: retry: app (docs/push.md)."
        #expect(done.message.contains(meaning), "\(done.message)")
      }
    }
  }

  @Test("a server that cannot be reached, or whose certificate is not trusted, ends crier push with status 69")
  func unreachable() throws {
    let crier = try command()
    defer { crier.remove() }
    _ = try withSimulator(crier) { server in
      let done = try crier.run(["push", "alert"] + Self.target + Self.payment + Self.signing + server.prefix(2))
      #expect(done.status == 69 && done.output.isEmpty, "\(done.message)")
    }
    let nobody = ["--server", "https://localhost:1"]
    let done = try crier.run(["push", "alert"] + Self.target + Self.payment + Self.signing + nobody)
    #expect(done.status == 69 && done.output.isEmpty, "\(done.message)")
  }

  @Test("a provider key that other users can read is refused, and the message has the repair command")
  func readableKey() throws {
    let crier = try command(mode: 0o644)
    defer { crier.remove() }
    let done = try crier.run(["push", "alert"] + Self.target + Self.payment + Self.signing)
    #expect(done.status != 0 && done.output.isEmpty)
    #expect(done.message.contains("chmod 600 AuthKey.p8"), "\(done.message)")
  }

  @Test(
    "a missing or wrong option of crier push is named in the error",
    arguments: [
      (["push", "alert"] + target + payment, "--key is missing"),
      (["push", "alert", "--token", "xyz", "--topic", "com.example.shop", "--dry-run"] + payment, "token"),
      (
        ["push", "alert", "--token", device, "--topic", "com.example.shop.pushkit.fileprovider", "--dry-run"] + payment,
        "has a suffix"
      ),
      (["push", "alert", "--dry-run", "--minutes=-1"] + target + payment, "--minutes -1 is out of range"),
      (
        ["push", "alert", "--dry-run", "--server", "http://a"] + target + payment,
        "--server 'http://a' is not an address"
      ),
      (["push", "background", "--dry-run", "--priority", "10"] + target, "priority"),
      (["push", "alert", "--dry-run", "--sound", "cash"] + target + payment, "iOS plays the default sound"),
      (["push", "alert", "--dry-run", "--clip", "a.wav"] + target + payment, "--clip needs --clip-url"),
      (["push", "alert", "--dry-run", "--clip-url", "https://a/b.wav"] + target + payment, "--clip-url needs --clip"),
      (
        ["push", "alert", "--dry-run", "--clip", "a.wav", "--clip-url", "https://a/b.wav"] + target + payment,
        "--clip: cannot be read"
      ),
      (
        ["push", "alert", "--dry-run", "--no-extension", "--clip", "a.wav", "--clip-url", "https://a/b"] + target
          + payment, "--clip is for the service extension"
      ),
    ])
  func faults(arguments: [String], text: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let done = try crier.run(arguments)
    #expect(done.status != 0 && done.output.isEmpty)
    #expect(done.message.contains(text), "\(done.message)")
  }
}
