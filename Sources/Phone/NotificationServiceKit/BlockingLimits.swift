// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The longest times in seconds for which a work on a notification blocks its thread. They are times of the system,
/// because another process may hold the lock of the order, and stand still.
struct BlockingLimits: Sendable {
  /// The wait for the lock of the order. A work that does not get it tries again.
  var lock = NotificationOrderFile.lockTimeout
  /// The wait of an expiring work for the lock.
  var expiryLock: TimeInterval = 0.5
  /// The wait for the lock of work that a hand-over waits for.
  var backgroundLock: TimeInterval = 0.05
  /// The waits of the last hand-over of a process until lost pushes have their local notifications, and until no sound
  /// is being published, each, if it has a sound.
  var soundHandOver: TimeInterval = 0.1
  /// The same waits if the last hand-over has no sound.
  var silentHandOver: TimeInterval = 1
}
