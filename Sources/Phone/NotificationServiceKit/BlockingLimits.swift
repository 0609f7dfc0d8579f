// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The longest times in seconds for which the work on a notification blocks its thread. They are measured with the
/// system's clock, because the process that holds the lock of the order may be suspended.
struct BlockingLimits: Sendable {
  /// The longest wait for the lock of the order. Afterwards, the work tries again.
  var lock = NotificationOrderFile.lockTimeout
  /// The longest wait for the lock when iOS is about to end the extension.
  var expiryLock: TimeInterval = 0.5
  /// The longest wait for the lock in background work, because a hand-over may wait for that work.
  var backgroundLock: TimeInterval = 0.05
  /// The longest wait before the last hand-over of a process, if the hand-over has a sound. The limit applies to each
  /// of two waits: until lost pushes have their local notifications, and until no sound is being published.
  var soundHandOver: TimeInterval = 0.1
  /// The same limit if the last hand-over has no sound.
  var silentHandOver: TimeInterval = 1
}
