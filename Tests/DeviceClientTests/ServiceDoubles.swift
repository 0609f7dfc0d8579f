// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import Foundation
import HostAddresses
import SoundDownloads

/// A service whose answers are made by a closure. It keeps the requests.
final class ScriptedService: SoundFetching {
  typealias Script = @Sendable (_ request: SoundRequest, _ number: Int) async throws -> SoundAnswer

  private let sent = Locked<[SoundRequest]>([])
  private let script: Script

  /// - Parameter script: Answers a request; the number of the first one is 1.
  init(_ script: @escaping Script) { self.script = script }

  var requests: [SoundRequest] { sent.withLock { $0 } }

  func fetch(_ request: SoundRequest) async throws -> SoundAnswer {
    let number = sent.withLock { sent in
      sent.append(request)
      return sent.count
    }
    return try await script(request, number)
  }
}

extension SoundAnswer {
  /// An answer whose body ends after some pieces, or breaks there.
  init(
    _ status: Int = 200, _ fields: [String: String] = [:], pieces: [[UInt8]],
    breaksWith failure: SoundFetchError? = nil, connectedTo address: IPAddress? = nil
  ) {
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    for piece in pieces { continuation.yield(piece) }
    continuation.finish(throwing: failure)
    self.init(status: status, fields: fields, body: stream) { address }
  }

  init(_ status: Int, _ fields: [String: String], _ text: String) {
    self.init(status, fields, pieces: [Array(text.utf8)])
  }

  init(_ status: Int, _ text: String) { self.init(status, [:], text) }

  init(_ text: String) { self.init(200, [:], text) }

  /// An answer whose body neither continues nor ends after some pieces.
  static func stalled(_ pieces: [[UInt8]]) -> SoundAnswer {
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    for piece in pieces { continuation.yield(piece) }
    return SoundAnswer(status: 200, fields: [:], body: stream) {
      _ = continuation
      return nil
    }
  }
}

/// A resolver that knows `crier.example`, which is public, and `inside.example`, which is private.
struct TableResolver: HostResolving {
  func addresses(of host: String) async -> [IPAddress] {
    switch host {
    case "crier.example": [IPAddress(bytes: [93, 184, 216, 34])]
    case "inside.example": [IPAddress(bytes: [10, 0, 0, 7])]
    default: []
    }
  }
}

/// A clock that stands still, or whose sleeps end at once.
final class TestClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Swift.Duration

    func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
  }

  let isOver: Bool

  init(isOver: Bool) { self.isOver = isOver }

  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Swift.Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    if isOver { return }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    defer { continuation.finish() }
    for await _ in stream {}  // This ends when the task is cancelled.
    try Task.checkCancellation()
  }
}

let testKey = "crier_7d3k9q2m_secret"

func url(_ text: String) -> URL {
  guard let url = URL(string: text) else { preconditionFailure("The text is not a URL.") }
  return url
}

extension DeviceClient {
  convenience init(
    _ service: ScriptedService, at url: URL = url("https://crier.example"), device: String = "till-1",
    key: String = testKey, rules: DownloadRules = DownloadRules(), clock: any Clock<Duration> = TestClock(isOver: false)
  ) {
    self.init(
      access: DeviceAccess(service: url, device: device, key: key), fetcher: service, resolver: TableResolver(),
      rules: rules, clock: clock)
  }
}

/// Returns the error of a call that must fail.
func failure<Value>(_ call: () async throws(DeviceClientError) -> Value) async -> DeviceClientError? {
  do throws(DeviceClientError) {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}

/// A fresh folder, which is removed when the test is over.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "device-client-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var file: URL { url.appending(path: "file") }
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
