// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import NIOCore
import NIOHTTP1
import ServiceAccess

/// A client's connection, as far as calls need to know of it: who is at its other side, and when that side has gone.
final class Connection: Sendable {
  /// The connection of the request that is being answered; nil where there is none, as in tests.
  @TaskLocal static var current: Connection?

  private struct State {
    var isOver = false
    var nextWatcher = 0
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  /// The address of the other side; nil where it has none.
  let peer: IPAddress?
  private let closeChannel: @Sendable () -> Void
  private let state = Locked(State())

  init(peer: IPAddress?, close: @escaping @Sendable () -> Void = {}) {
    self.peer = peer
    closeChannel = close
  }

  /// Whether the other side has gone.
  var isOver: Bool { state.withLock { $0.isOver } }
  /// How many wait for that.
  var watchers: Int { state.withLock { $0.watchers.count } }

  /// Closes it, whatever was begun on it.
  func close() { closeChannel() }

  /// The other side has gone, or sends nothing more.
  func end() {
    let watchers = state.withLock { state in
      state.isOver = true
      defer { state.watchers = [:] }
      return state.watchers.values
    }
    for watcher in watchers {
      watcher.yield()
      watcher.finish()
    }
  }

  /// Has one element, when the other side has gone.
  func ends() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let key: Int? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.nextWatcher += 1
      state.watchers[state.nextWatcher] = continuation
      return state.nextWatcher
    }
    guard let key else {
      continuation.yield()
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.watchers.removeValue(forKey: key) } }
    return stream
  }

  /// Has one element when the client of the request that is being answered has gone.
  static func currentEnds() -> AsyncStream<Void> { current?.ends() ?? AsyncStream { _ in } }
}

/// Tells a ``Connection`` that its other side has gone.
///
/// The server library notices it with its next write. A stream that has nothing to tell writes once in 15 s.
final class ConnectionEndHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A client that goes closes both directions, which looks the same from here as closing its own.
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { connection.end() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection.end()
    context.fireChannelInactive()
  }
}
