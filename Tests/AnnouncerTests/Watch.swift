// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Counts the running workers and the requested items.
final class Watch: Sendable {
  private struct Counts {
    var asked = 0
    var atWork = 0
    var most = 0
    var done = 0
    var farthestAhead = 0
  }

  private let counts = Locked(Counts())

  /// Returns the next of `count` numbers, or nil at the end.
  func next(of count: Int) -> Int? {
    counts.withLock { counts in
      guard counts.asked < count else { return nil }
      counts.asked += 1
      counts.farthestAhead = max(counts.farthestAhead, counts.asked - counts.done)
      return counts.asked
    }
  }

  func begin() {
    counts.withLock { counts in
      counts.atWork += 1
      counts.most = max(counts.most, counts.atWork)
    }
  }

  func end() { counts.withLock { $0.atWork -= 1 } }
  func take() { counts.withLock { $0.done += 1 } }
  var asked: Int { counts.withLock(\.asked) }
  var atWork: Int { counts.withLock(\.atWork) }
  var most: Int { counts.withLock(\.most) }
  var farthestAhead: Int { counts.withLock(\.farthestAhead) }
}
