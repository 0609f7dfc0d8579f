// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HostAddresses
import TestSupport
import WebhookDelivery
import WebhookMessages

/// `Tests/webhooks/receiver.py`, which is written in another language and checks signatures by itself.
final class Receiver: Sendable {
  /// A request as the receiver saw it.
  struct Request: Decodable, Sendable {
    var path: String
    var host: String
    var id: String
    var timestamp: String
    var type: String
    var body: String
    var genuine: Bool
    /// The sender's port.
    var client: Int
  }

  static let host = "shop.example"

  let secret: WebhookSecret
  let port: Int
  /// The receiver's certificate; nil without TLS.
  let certificate: URL?
  private let folder: URL
  private let process: Process
  private let requests: AsyncStream<Request>
  private let seen = Locked<[Request]>([])

  /// - Parameter certified: The name in the certificate; nil for a receiver without TLS.
  init(certified name: String? = nil) async throws {
    secret = .make()
    folder = FileManager.default.temporaryDirectory.appending(path: "receiver-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "webhooks/receiver.py")
    var arguments = [program.path, secret.text]
    if let name {
      let (key, file) = (folder.appending(path: "key.pem"), folder.appending(path: "certificate.pem"))
      try await Self.makeCertificate(for: name, key, file)
      arguments += [file.path, key.path]
      certificate = file
    } else {
      certificate = nil
    }
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    self.process = process
    let output = pipe.fileHandleForReading
    struct Start: Decodable { var port: Int }
    let line = try await onWaitingThread { try Self.line(of: output).orThrow("a port") }
    port = try JSONDecoder().decode(Start.self, from: line).port
    let (requests, arrived) = AsyncStream<Request>.makeStream()
    self.requests = requests
    Thread { [seen] in
      while let line = try? Self.line(of: output), let request = try? JSONDecoder().decode(Request.self, from: line) {
        seen.withLock { $0.append(request) }
        arrived.yield(request)
      }
      arrived.finish()
    }.start()
  }

  deinit {
    process.killAndWait()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func makeCertificate(for name: String, _ key: URL, _ file: URL) async throws {
    let openssl = Process()
    openssl.executableURL = URL(filePath: "/usr/bin/openssl")
    openssl.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
      "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", key.path, "-out", file.path,
    ]
    openssl.standardError = FileHandle.nullDevice
    try openssl.run()
    await onWaitingThread { [openssl] in openssl.waitUntilExit() }
  }

  /// Returns the next line without its end; nil at the end of the output.
  private static func line(of output: FileHandle) throws -> Data? {
    var bytes = Data()
    while let byte = try output.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return bytes }
      bytes.append(byte)
    }
    return nil
  }

  /// The requests that the receiver has told of so far. It tells of a request before it answers, but the test may read
  /// that a moment after the answer.
  var requestsSoFar: [Request] { seen.withLock { $0 } }

  /// Waits until so many requests have arrived in all, and returns all of them.
  func received(_ count: Int) async throws -> [Request] {
    if requestsSoFar.count >= count { return requestsSoFar }
    for await _ in requests where requestsSoFar.count >= count { return requestsSoFar }
    throw Missing(what: "\(count) requests")
  }

  /// The URL of a path by the receiver's name.
  func url(_ path: String, host: String = Receiver.host) -> String {
    "\(certificate == nil ? "http" : "https")://\(host):\(port)/\(path)"
  }

  /// A client that finds the receiver by its name.
  ///
  /// - Parameter longest: The longest time for an answer.
  func client(longest: Duration = .seconds(30), trustRoots: URL? = nil) -> WebhookClient {
    var settings = WebhookClient.Settings()
    settings.allowsPrivateAddresses = true
    settings.longest = longest
    settings.trustRoots = trustRoots ?? certificate
    return WebhookClient(settings: settings, resolver: TableResolver())
  }
}

/// A resolver with a table, which counts the look-ups.
final class TableResolver: HostResolving {
  static let loopback = IPAddress(bytes: [127, 0, 0, 1])

  private let table: [String: [IPAddress]]
  private let counter = Locked(0)

  init(_ table: [String: [IPAddress]] = [Receiver.host: [loopback]]) { self.table = table }

  var lookUps: Int { counter.withLock { $0 } }

  func addresses(of host: String) async -> [IPAddress] {
    counter.withLock { $0 += 1 }
    return table[host] ?? []
  }
}

/// A resolver whose name servers do not answer until they are let go.
final class StuckResolver: HostResolving {
  private let (questions, question) = AsyncStream<Void>.makeStream()
  private let state = Locked((isOpen: false, waiting: [AwaitedAnswer<[IPAddress]>]()))

  func addresses(of host: String) async -> [IPAddress] {
    question.yield()
    // Like the system, it does not care whether somebody still waits.
    return await waitForAnswer { answer in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(answer) }
        return state.isOpen
      }
      if isOpen { answer.give([]) }
    }
  }

  /// Waits for a total number of questions. It includes the questions of earlier waits.
  func asked(_ count: Int) async {
    var left = count
    for await _ in questions {
      left -= 1
      if left == 0 { return }
    }
  }

  func letGo() {
    let waiting = state.withLock { state in
      defer { state = (true, []) }
      return state.waiting
    }
    for answer in waiting { answer.give([]) }
  }
}

/// A steady clock that jumps to the end of each wait at once unless it is stopped, and a wall clock beside it that can be
/// set.
final class JumpingClock: Sendable {
  private let times = Locked((now: Date(timeIntervalSince1970: 1_800_000_000), step: TimeInterval(0)))
  private let isStopped = Locked(false)

  var now: Date { times.withLock { $0.now } }
  /// The time of day.
  var date: Date { times.withLock { $0.now.addingTimeInterval($0.step) } }

  /// Sets the wall clock forward, or back with a negative number of seconds.
  func step(by seconds: TimeInterval) { times.withLock { $0.step += seconds } }

  /// Lets the clock stand still, so that each wait lasts until its task is cancelled.
  func stop() { isStopped.withLock { $0 = true } }
  func go() { isStopped.withLock { $0 = false } }

  func sleep(_ duration: Duration) async throws {
    try Task.checkCancellation()
    // Only the cancellation ends this wait. A test has a limit of minutes, so it never lasts for the day.
    if isStopped.withLock({ $0 }) { try await Task.sleep(for: .seconds(86_400)) }
    times.withLock { $0.now.addTimeInterval(duration / .seconds(1)) }
  }
}
