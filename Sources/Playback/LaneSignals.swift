// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What need not be told twice, and those who watch.
final class LaneSignals: @unchecked Sendable {  // What changes is used under the lock.
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

  /// Nothing happens any more.
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
