// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("crier apns-simulator", .timeLimit(.minutes(5)))
struct APNSSimulatorCommandTests {
  private static let device = "0123456789abcdef" + String(repeating: "0f", count: 24)

  /// Any key is accepted, so the signature is three bytes without a meaning.
  private var token: String {
    let part = { (text: String) in
      Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
    return part(#"{"alg":"ES256","kid":"ABC123DEFG"}"#) + "."
      + part(#"{"iss":"DEF123GHIJ","iat":\#(Int(Date.now.timeIntervalSince1970))}"#) + ".AAAA"
  }

  private func push(
    to port: String, of crier: Command, topic: String = "com.example.shop", type: String = ": alert"
  ) throws -> String {
    try crier.run(
      [
        "--silent", "--http2", "--cacert", "ca.pem", "--header", "authorization: bearer \(token)",
        "--header", "apns-topic: \(topic)", "--header", "apns-push-type\(type)",
        "--data-binary", "{\"aps\":\n{\"alert\":\"12.50\"}}", "--write-out", "%{http_code}",
        "https://localhost:\(port)/3/device/\(Self.device)",
      ], program: URL(filePath: "/usr/bin/curl")
    ).output
  }

  private func port(of simulator: RunningCommand) throws -> String {
    var port: Substring?
    try eventually("The simulator says where it is.") {
      port = try simulator.messages().firstMatch(of: /at https:\/\/localhost:([0-9]+)\n/)?.1
      return port != nil
    }
    return String(try #require(port))
  }

  @Test(
    "crier apns-simulator prints each accepted push without the whole token, and a signal ends it with status 0",
    arguments: [SIGINT, SIGTERM])
  func pushes(number: Int32) throws {
    let crier = try Command()
    defer { crier.remove() }
    let simulator = try RunningCommand(
      ["apns-simulator", "--any-key", "--ca", "ca.pem", "--topic", "com.example.shop", "--token-seconds", "0"],
      of: crier)
    let port = try self.port(of: simulator)
    #expect(try push(to: port, of: crier) == "200")
    #expect(try push(to: port, of: crier, topic: "com.example.other") == #"{"reason":"TopicDisallowed"}400"#)
    var output = Data()
    // `read(upToCount:)` would wait until the program ends.
    while !output.contains(UInt8(ascii: "\n")) {
      let more = simulator.output.availableData
      if more.isEmpty { break }
      output += more
    }
    let line = try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
    #expect(line["device"] as? String == "01234567" && line["topic"] as? String == "com.example.shop")
    #expect(line["number"] as? Int == 1 && line["priority"] as? Int == 10 && line["type"] as? String == "alert")
    #expect((line["payload"] as? [String: [String: String]]) == ["aps": ["alert": "12.50"]])
    #expect(line["warnings"] == nil)
    simulator.signal(number)
    #expect(simulator.wait() == 0)
    #expect(
      try simulator.messages().contains(
        #"{"device":"01234567","reason":"TopicDisallowed","status":400,"topic":"com.example.other","type":"alert"}"#))
    #expect(try simulator.messages().contains("The new authority is in ca.pem, and its key in ca.pem.key."))
    #expect(
      try simulator.messages().contains("2 requests on 2 connections: 1 accepted (0 with a repeated id), 1 refused"))
  }

  @Test("a fault with the rate 1 is the simulator's answer to every push")
  func faults() throws {
    let crier = try Command()
    defer { crier.remove() }
    let simulator = try RunningCommand(
      ["apns-simulator", "--any-key", "--ca", "ca.pem", "--fault", "503:Shutdown=1", "--retry-after", "3"], of: crier)
    #expect(try push(to: self.port(of: simulator), of: crier) == #"{"reason":"Shutdown"}503"#)
    simulator.signal(SIGTERM)
    #expect(simulator.wait() == 0)
    #expect(try simulator.messages().contains(#""fault":true,"reason":"Shutdown","status":503"#))
  }

  @Test(
    "a reason that Apple does not document for the given status is sent as typed, and a warning says so",
    arguments: [
      (
        "403:InvalidProvderToken", "InvalidProvderToken", "403:InvalidProvderToken: Apple does not document this reason"
      ),
      ("502", "Unknown", "502: Apple documents no reason with this status"),
      ("400:Unregistered", "Unregistered", "400:Unregistered: Apple documents this reason with the status 410"),
      ("503:Shutdown", "Shutdown", nil),
    ])
  func undocumentedFault(fault: String, reason: String, warning: String?) throws {
    let crier = try Command()
    defer { crier.remove() }
    let simulator = try RunningCommand(
      ["apns-simulator", "--any-key", "--ca", "ca.pem", "--fault", "\(fault)=1"], of: crier)
    #expect(try push(to: self.port(of: simulator), of: crier) == #"{"reason":"\#(reason)"}\#(fault.prefix(3))"#)
    simulator.signal(SIGTERM)
    #expect(simulator.wait() == 0)
    let messages = try simulator.messages()
    #expect(messages.contains("warning: ") == (warning != nil))
    if let warning { #expect(messages.contains("warning: --fault " + warning)) }
  }

  @Test("a push without apns-push-type is accepted with a warning, also after a restart with the same authority")
  func withoutType() throws {
    let crier = try Command()
    defer { crier.remove() }
    for start in 1...2 {
      let simulator = try RunningCommand(
        ["apns-simulator", "--any-key", "--ca", "ca.pem", "--token-seconds", "0"], of: crier)
      #expect(try push(to: self.port(of: simulator), of: crier, type: ":") == "200")
      simulator.signal(SIGTERM)
      #expect(simulator.wait() == 0)
      #expect(try simulator.messages().contains("used again.\n") == (start == 2))
      let output = simulator.output.availableData
      let line = try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
      #expect(line["type"] as? String == "alert")
      #expect((line["warnings"] as? [String])?.first?.hasPrefix("apns-push-type is missing.") == true)
    }
  }

  @Test(
    "a wrong command line ends crier apns-simulator with status 64, and the message says what is wrong",
    arguments: [
      (["apns-simulator"], "Give either --key FILE.p8 with --key-id and --team, or --any-key."),
      (["apns-simulator", "--any-key", "--host", "0.0.0.0"], "127.0.0.1 only"),
      (["apns-simulator", "--any-key", "--port", "70000"], "use a number from 0 to 65535"),
      (["apns-simulator", "--any-key", "--fault", "500=2"], "The rate is not a number from 0 to 1."),
      (["apns-simulator", "--any-key", "--fault", "500=often"], "The rate is not a number from 0 to 1."),
      (["apns-simulator", "--any-key", "--fault", "500"], "The rate is missing: give FAULT=RATE, such as 500=0.1."),
      (
        ["apns-simulator", "--any-key", "--fault", "200=0.1"],
        "The status 200 is not a refusal: give a status from 400 to 599."
      ),
      (
        ["apns-simulator", "--any-key", "--fault", "goway=1"],
        "goway is not a fault: give STATUS or STATUS:REASON"
      ),
      (
        ["apns-simulator", "--any-key", "--fault", "400:Bad Topic=1"],
        "The reason must be one word of letters and digits, such as BadTopic."
      ),
      (["apns-simulator", "--any-key", "--drop", "1.5"], "use a number from 0 to 1"),
      (["apns-simulator", "--key", "a.p8"], "--key needs --key-id and --team"),
    ])
  func wrong(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(arguments, seconds: 60)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.contains(message))
  }

  @Test("a file without a key ends crier apns-simulator with status 65, and a missing folder with status 73")
  func files() throws {
    let crier = try Command()
    defer { crier.remove() }
    try Data("secret".utf8).write(to: crier.directory.appending(path: "a.p8"))
    let key = try crier.run(
      ["apns-simulator", "--key", "a.p8", "--key-id", "ABC123DEFG", "--team", "DEF123GHIJ"], seconds: 60)
    #expect(key.status == 65 && key.message.hasPrefix("crier: --key: ") && !key.message.contains("secret"))
    let authority = try crier.run(["apns-simulator", "--any-key", "--ca", "missing/ca.pem"], seconds: 60)
    #expect(authority.status == 73 && authority.message.hasPrefix("crier: --ca: "))
    let own = try crier.run(["apns-simulator", "--any-key", "--ca", "a.p8"], seconds: 60)
    #expect(own.status == 65 && own.message.hasPrefix("crier: --ca: the file exists, but its key a.p8.key does not"))
    #expect(try Data(contentsOf: crier.directory.appending(path: "a.p8")) == Data("secret".utf8))
  }
}
