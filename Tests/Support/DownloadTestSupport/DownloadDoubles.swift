// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import HostAddresses
public import SoundDownloads

/// A resolver with a table of hosts. It knows `sounds.example` and `other.example`, which are public, and
/// `inside.example`, which is private. Hosts that are written as addresses are resolved by the system.
public struct TableResolver: HostResolving {
  public static let publicAddress = IPAddress(bytes: [93, 184, 216, 34])

  public var table: [String: [IPAddress]] = [
    "sounds.example": [publicAddress], "other.example": [publicAddress],
    "inside.example": [publicAddress, IPAddress(bytes: [10, 0, 0, 7])],
  ]

  public init() {}

  public func addresses(of host: String) async -> [IPAddress] {
    if host.hasSuffix(".example") { return table[host] ?? [] }
    return await SystemHostResolver().addresses(of: host)
  }
}

/// A fetcher whose answers are made by a closure. It keeps the requests.
public final class ScriptedFetcher: SoundFetching {
  public typealias Script = @Sendable (_ request: SoundRequest, _ number: Int) async throws -> SoundAnswer

  /// Happens once for each request.
  public let requested = Event()
  private let sent = Locked<[SoundRequest]>([])
  private let script: Script

  /// - Parameter script: Answers a request. The number of the first request is 1.
  public init(_ script: @escaping Script) { self.script = script }

  public var requests: [SoundRequest] { sent.withLock { $0 } }

  public func fetch(_ request: SoundRequest) async throws -> SoundAnswer {
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
  public init(
    _ status: Int = 200, _ fields: [String: String] = [:], _ pieces: [[UInt8]] = [],
    breaksWith failure: SoundFetchError? = nil, connectedTo address: IPAddress? = nil
  ) {
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    for piece in pieces { continuation.yield(piece) }
    continuation.finish(throwing: failure)
    self.init(status: status, fields: fields, body: stream) { address }
  }
}

/// A clock that stands still. All sleepers wake when the test calls ``end()``.
public final class HeldClock: Clock {
  public struct Instant: InstantProtocol {
    public var offset: Swift.Duration

    public func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    public static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
  }

  private struct State {
    var sleepers: [AsyncStream<Void>.Continuation] = []
    var deadlines: [Swift.Duration] = []
    var isOver = false
  }

  private let state = Locked(State())

  public init() {}

  public var now: Instant { Instant(offset: .zero) }
  public var minimumResolution: Swift.Duration { .zero }

  /// The times until which tasks wanted to sleep.
  public var deadlines: [Swift.Duration] { state.withLock { $0.deadlines } }

  public func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
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

  /// Wakes all sleepers. Later sleepers do not wait.
  public func end() {
    let sleepers = state.withLock { state in
      state.isOver = true
      return state.sleepers
    }
    for sleeper in sleepers { sleeper.finish() }
  }
}

/// An event for which tasks of a test wait.
public final class Event: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  public init() { (stream, continuation) = AsyncStream<Void>.makeStream() }

  /// Lets one waiting task continue. If no task waits, the next task does not have to wait.
  public func happen() { continuation.yield() }

  /// Waits for the event, or until the task is cancelled. One task waits at a time.
  public func wait() async {
    var iterator = stream.makeAsyncIterator()
    _ = await iterator.next()
  }
}
