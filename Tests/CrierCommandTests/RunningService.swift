// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The built `crier serve` while it runs; it is ended with the test.
final class RunningService {
  struct Ended: Error {
    var status: Int32
    var message: String
  }

  /// What it printed when it was ready: one line, or three when it shows or names a key.
  let greeting: [String]
  /// `http://127.0.0.1:PORT`
  let address: String
  /// The key that its greeting shows, or names the file of.
  let key: String?

  private let crier: Command
  private let process: RunningCommand

  static let flags = ["--port", "0", "--output", "null"]

  /// Returns when it listens.
  ///
  /// - Throws: ``Ended`` when it ended instead.
  init(of crier: Command, _ flags: [String] = RunningService.flags, environment: [String: String] = [:]) throws {
    self.crier = crier
    process = try RunningCommand(["serve"] + flags, of: crier, environment: environment)
    var text = ""
    // Its lines come at once, or not at all.
    while !text.hasSuffix("\n") {
      let bytes = process.output.availableData
      guard !bytes.isEmpty else { throw Ended(status: process.wait(), message: try process.messages()) }
      text += String(decoding: bytes, as: UTF8.self)
    }
    greeting = text.split(separator: "\n").map(String.init)
    let place = try #require(greeting[0].wholeMatch(of: /Crier is at (http:\/\/[^\/]+)\/(?:#key=(crier_\S+))?/))
    address = String(place.1)
    let file = greeting.count > 1 ? greeting[1].wholeMatch(of: /Key: in (\/.*)/) : nil
    key =
      try place.2.map(String.init)
      ?? file.map { try String(contentsOfFile: String($0.1), encoding: .utf8).trimmingCharacters(in: .newlines) }
  }

  var port: UInt16 { address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

  /// The soft and the hard limit of a core file of the process, in bytes, as the kernel has them.
  var coreLimits: [String] {
    let text = (try? String(contentsOfFile: "/proc/\(process.processID)/limits", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    return line?.dropFirst("Max core file size".count).split(separator: " ").prefix(2).map(String.init) ?? []
  }

  func signal(_ number: Int32) { process.signal(number) }

  /// - Returns: as `Spawned.wait()`.
  func wait() -> Int32 { process.wait() }

  /// What it has written to standard error.
  func messages() throws -> String { try process.messages() }

  /// A request, answered.
  ///
  /// - Parameters:
  ///   - target: path and query, as they are to be sent.
  ///   - headers: `Name: value`, each.
  ///   - key: nil for the greeting's; empty for none.
  func send(
    _ method: String = "GET", _ target: String, key: String? = nil, headers: [String] = [], body: Data? = nil
  ) throws -> HTTPAnswer {
    let key = key ?? self.key ?? ""
    return try Curl.send(
      method, address + target, headers: (key.isEmpty ? [] : ["Authorization: Bearer \(key)"]) + headers, body: body,
      in: crier.directory)
  }

  /// Sends a JSON document to be announced.
  func announce(_ body: String, key: String? = nil, headers: [String] = []) throws -> HTTPAnswer {
    try send(
      "POST", "/v1/announcements", key: key, headers: ["Content-Type: application/json"] + headers,
      body: Data(body.utf8))
  }

  /// A connection of which each byte is the test's.
  func connect() throws -> RawConnection { try RawConnection(port: port) }
}

extension Command {
  /// Runs `crier serve` where it is to end at once; one that serves is ended after a minute, with status 137.
  func serve(_ flags: String..., environment: [String: String] = [:]) throws -> Result {
    try run(["serve"] + flags, environment: environment, seconds: 60)
  }

  func serve(_ flags: [String], environment: [String: String] = [:]) throws -> Result {
    try run(["serve"] + flags, environment: environment, seconds: 60)
  }
}

/// Waits for what another process does.
///
/// - Parameter isSo: is asked again until it is so.
/// - Throws: when it is not so after half a minute.
func eventually(_ what: Comment, _ isSo: () throws -> Bool) throws {
  let start = ContinuousClock.now
  while try !isSo() { try #require(ContinuousClock.now - start < .seconds(30), what) }
}
