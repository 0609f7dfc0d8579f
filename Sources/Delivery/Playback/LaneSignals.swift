// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The flags of a lane, which are set without sending messages, and the watchers of its events.
final class LaneSignals: Sendable {
  private struct State {
    var hasArrivals = false
    var isStopping = false
    var isOver = false
    var watchers: [ObjectIdentifier: Mailbox<Never>] = [:]
  }

  private let state = Locked(State())

  func arrive() { state.withLock { $0.hasArrivals = true } }

  func takeArrivals() -> Bool {
    state.withLock { state in
      defer { state.hasArrivals = false }
      return state.hasArrivals
    }
  }

  func stop() { state.withLock { $0.isStopping = true } }
  var isStopAsked: Bool { state.withLock { $0.isStopping } }

  /// Whether the player has ended.
  var isEnded: Bool { state.withLock { $0.isOver } }

  func end() {
    state.withLock { $0.isOver = true }
    happened()
  }

  func happened() {
    let watchers = state.withLock { Array($0.watchers.values) }
    for watcher in watchers { watcher.nudge() }
  }

  func add(_ watcher: Mailbox<Never>) { state.withLock { $0.watchers[ObjectIdentifier(watcher)] = watcher } }
  func remove(_ watcher: Mailbox<Never>) { state.withLock { $0.watchers[ObjectIdentifier(watcher)] = nil } }
}
