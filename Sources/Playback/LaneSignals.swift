// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The flags of a lane, which are set without sending messages, and the watchers of its events.
final class LaneSignals: @unchecked Sendable {  // Mutable state is only used while the lock is held.
  private let lock = NSLock()
  private var hasArrivals = false
  private var isStopping = false
  private var isOver = false
  private var watchers: [ObjectIdentifier: Mailbox<Never>] = [:]

  func arrive() { lock.withLock { hasArrivals = true } }

  func takeArrivals() -> Bool {
    lock.withLock {
      defer { hasArrivals = false }
      return hasArrivals
    }
  }

  func stop() { lock.withLock { isStopping = true } }
  var isStopAsked: Bool { lock.withLock { isStopping } }

  /// Whether the player has ended.
  var isEnded: Bool { lock.withLock { isOver } }

  func end() {
    lock.withLock { isOver = true }
    happened()
  }

  func happened() {
    let watchers = lock.withLock { Array(self.watchers.values) }
    for watcher in watchers { watcher.nudge() }
  }

  func add(_ watcher: Mailbox<Never>) { lock.withLock { watchers[ObjectIdentifier(watcher)] = watcher } }
  func remove(_ watcher: Mailbox<Never>) {
    _ = lock.withLock { watchers.removeValue(forKey: ObjectIdentifier(watcher)) }
  }
}
