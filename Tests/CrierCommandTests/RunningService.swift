// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The running `crier serve`. It is ended with the test.
final class RunningService {
  struct Ended: Error {
    var status: Int32
    var message: String
  }

  /// The lines printed at start: one line, or three if they contain a key or name its file.
  let greeting: [String]
  /// `http://127.0.0.1:PORT`
  let address: String
  /// The key from the printed text, or from the file that it names.
  let key: String?

  private let crier: Command
  private let process: RunningCommand

  static let flags = ["--port", "0", "--output", "null"]

  /// Starts the service and waits until it listens.
  ///
  /// - Throws: ``Ended`` if the service ended instead.
  init(of crier: Command, _ flags: [String] = RunningService.flags, environment: [String: String] = [:]) throws {
    self.crier = crier
    process = try RunningCommand(["serve"] + flags, of: crier, environment: environment)
    var text = ""
    // The service prints all lines at once, or none.
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

  /// The process's soft and hard limits of a core file, in bytes, as the kernel reports them.
  var coreLimits: [String] {
    let text = (try? String(contentsOfFile: "/proc/\(process.processID)/limits", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    return line?.dropFirst("Max core file size".count).split(separator: " ").prefix(2).map(String.init) ?? []
  }

  func signal(_ number: Int32) { process.signal(number) }

  /// - Returns: The status, as `Spawned.wait()` returns it.
  func wait() -> Int32 { process.wait() }

  /// The service's output on standard error so far.
  func messages() throws -> String { try process.messages() }

  /// Sends a request and returns its answer.
  ///
  /// - Parameters:
  ///   - target: The path and query, sent unchanged.
  ///   - headers: The header fields, each as `Name: value`.
  ///   - key: The key to send. Nil means the first key, and empty means no key.
  func send(
    _ method: String = "GET", _ target: String, key: String? = nil, headers: [String] = [], body: Data? = nil
  ) throws -> HTTPAnswer {
    let key = key ?? self.key ?? ""
    return try Curl.send(
      method, address + target, headers: (key.isEmpty ? [] : ["Authorization: Bearer \(key)"]) + headers, body: body,
      in: crier.directory)
  }

  /// Sends a JSON payload to be announced.
  func announce(_ body: String, key: String? = nil, headers: [String] = []) throws -> HTTPAnswer {
    try send(
      "POST", "/v1/announcements", key: key, headers: ["Content-Type: application/json"] + headers,
      body: Data(body.utf8))
  }

  /// Opens a connection on which the test controls each byte.
  func connect() throws -> RawConnection { try RawConnection(port: port) }
}

extension Command {
  /// Runs a `crier serve` that is expected to end at once. A service that keeps running is killed after a minute
  /// (status 137).
  func serve(_ flags: String..., environment: [String: String] = [:]) throws -> Result {
    try run(["serve"] + flags, environment: environment, seconds: 60)
  }

  func serve(_ flags: [String], environment: [String: String] = [:]) throws -> Result {
    try run(["serve"] + flags, environment: environment, seconds: 60)
  }
}

/// Waits for an effect of another process.
///
/// - Parameter isSo: The condition, which is checked repeatedly.
/// - Throws: An error if the condition is not true after half a minute.
func eventually(_ what: Comment, _ isSo: () throws -> Bool) throws {
  let start = ContinuousClock.now
  while try !isSo() { try #require(ContinuousClock.now - start < .seconds(30), what) }
}
