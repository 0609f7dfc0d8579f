// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HostAddresses
import SoundLibrary

@testable import SoundDownloads

/// A sound library in a fresh folder, which is removed when the test is over.
final class TemporaryLibrary: Sendable {
  let root: URL
  let library: SoundLibrary

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "sound-downloads-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    library = SoundLibrary(container: try GroupContainer(containers: root, group: "group.crier"))
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  /// All files in `Library/Sounds`, also hidden ones, with their bytes.
  var files: [String: [UInt8]] { Self.files(in: library.soundsDirectory) }

  /// The records of downloads.
  var records: [String: [UInt8]] { Self.files(in: DownloadRecords(library: library).folder) }

  private static func files(in folder: URL) -> [String: [UInt8]] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    var files: [String: [UInt8]] = [:]
    for name in names { files[name] = (try? Data(contentsOf: folder.appending(path: name))).map { Array($0) } ?? [] }
    return files
  }
}

enum Sample {
  /// A URL made of a constant text.
  static func url(_ text: String) -> URL {
    guard let url = URL(string: text) else { preconditionFailure("The text is not a URL.") }
    return url
  }

  /// A WAV file whose header is true.
  ///
  /// - Parameter seed: Different seeds give different samples.
  static func wav(_ sampleBytes: Int = 1000, seed: UInt8 = 1) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
    let format: [UInt8] = [1, 0, 1, 0, 0x22, 0x56, 0, 0, 0x44, 0xAC, 0, 0, 2, 0, 16, 0]
    let samples = (0..<sampleBytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
    let content = Array("WAVEfmt ".utf8) + number(16) + format + Array("data".utf8) + number(sampleBytes) + samples
    return Array("RIFF".utf8) + number(content.count) + content
  }

  struct LyingHeader: Error, CustomStringConvertible {
    var description: String { "The header declares another length." }
  }

  /// A content check: the header must declare the file's real length.
  static let check: @Sendable ([UInt8]) throws -> Void = { bytes in
    let declared = (0..<4).reduce(0) { $0 | Int(bytes[4 + $1]) << ($1 * 8) }
    guard declared == bytes.count - 8 else { throw LyingHeader() }
  }
}

/// A resolver with a table of hosts. It knows `sounds.example` and `other.example`, which are public, and
/// `inside.example`, which is private. The system reads addresses.
struct TableResolver: HostResolving {
  static let publicAddress = HostAddress(bytes: [93, 184, 216, 34])

  var table: [String: [HostAddress]] = [
    "sounds.example": [publicAddress], "other.example": [publicAddress],
    "inside.example": [publicAddress, HostAddress(bytes: [10, 0, 0, 7])],
  ]

  func addresses(of host: String) async -> [HostAddress] {
    if host.hasSuffix(".example") { return table[host] ?? [] }
    return await SystemHostResolver().addresses(of: host)
  }
}

/// A fetcher whose answers are made by a closure. It keeps the requests.
final class ScriptedFetcher: SoundFetching {
  typealias Script = @Sendable (_ request: SoundRequest, _ number: Int) async throws -> SoundAnswer

  /// Happens once for each request.
  let requested = Event()
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
    requested.happen()
    return try await script(request, number)
  }
}

extension SoundAnswer {
  /// An answer whose body ends after some pieces, or breaks there.
  init(
    _ status: Int = 200, _ fields: [String: String] = [:], _ pieces: [[UInt8]] = [],
    breaksWith failure: SoundFetchError? = nil, connectedTo address: HostAddress? = nil
  ) {
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    for piece in pieces { continuation.yield(piece) }
    continuation.finish(throwing: failure)
    self.init(status: status, fields: fields, body: stream) { address }
  }
}

/// A clock that stands still. All sleepers wake when the test says so.
final class HeldClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Swift.Duration

    func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
  }

  private struct State {
    var sleepers: [AsyncStream<Void>.Continuation] = []
    var deadlines: [Swift.Duration] = []
    var isOver = false
  }

  private let state = Locked(State())

  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Swift.Duration { .zero }

  /// The times for which somebody slept.
  var deadlines: [Swift.Duration] { state.withLock { $0.deadlines } }

  func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let isOver = state.withLock { state in
      state.deadlines.append(deadline.offset)
      if !state.isOver { state.sleepers.append(continuation) }
      return state.isOver
    }
    if isOver { return }
    for await _ in stream {}
    try Task.checkCancellation()
  }

  /// Wakes all sleepers, also later ones.
  func end() {
    let sleepers = state.withLock { state in
      state.isOver = true
      return state.sleepers
    }
    for sleeper in sleepers { sleeper.finish() }
  }
}

/// An event for which tasks of a test wait.
final class Event: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream<Void>.makeStream() }

  /// Lets one task that waits, or the next one, go on.
  func happen() { continuation.yield() }

  /// Waits for the event, or until the task is cancelled. One task waits at a time.
  func wait() async {
    var iterator = stream.makeAsyncIterator()
    _ = await iterator.next()
  }
}

/// Returns the error of a download that must fail.
func failure(_ download: () async throws -> DownloadedSound) async -> SoundDownloadError? {
  do {
    _ = try await download()
    return nil
  } catch {
    return error as? SoundDownloadError
  }
}
