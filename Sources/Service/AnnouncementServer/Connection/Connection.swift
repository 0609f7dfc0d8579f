// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HostAddresses

/// The parts of a client's connection that calls use: the address of the client, and whether the client has
/// disconnected.
final class Connection: Sendable {
  /// The connection of the current request; nil if there is none, for example in tests.
  @TaskLocal static var current: Connection?

  private struct State {
    var isOver = false
    var nextWatcher = 0
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  /// The client's address; nil if the connection has none.
  let peer: IPAddress?
  private let closeChannel: @Sendable () -> Void
  private let state = Locked(State())

  init(peer: IPAddress?, close: @escaping @Sendable () -> Void = {}) {
    self.peer = peer
    closeChannel = close
  }

  /// Whether the client has disconnected, or sends nothing more.
  var isOver: Bool { state.withLock { $0.isOver } }
  /// The number of streams that wait for the client to disconnect.
  var watchers: Int { state.withLock { $0.watchers.count } }

  /// Closes the connection, even if a request or a response is incomplete.
  func close() { closeChannel() }

  /// Records that the client has disconnected or sends nothing more, and notifies all waiting streams.
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

  /// Returns a stream that yields one element when the client disconnects, and then ends.
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

  /// Returns a stream that yields one element when the client of the current request disconnects.
  static func currentEnds() -> AsyncStream<Void> { current?.ends() ?? AsyncStream { _ in } }
}
