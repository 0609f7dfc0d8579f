// SPDX-License-Identifier: Apache-2.0

/// The decision when a change is pushed: at once if nothing was pushed for an interval, else when the interval is over.
/// However many changes come within an interval, they lead to one push at once and to at most one more.
///
/// It is a value without a clock. All times are durations since the same moment, and never decrease.
struct LibraryPushPace<Key: Hashable & Sendable>: Sendable {
  private struct Line {
    var pushedAt: Duration
    /// Whether something has changed since.
    var isDeferred = false
  }

  /// The time between two pushes with the same key.
  let interval: Duration
  private var lines: [Key: Line] = [:]

  init(interval: Duration) { self.interval = interval }

  /// Records a change.
  ///
  /// - Returns: Whether it is pushed now. If not, ``due(at:)`` returns the key later.
  mutating func change(_ key: Key, at now: Duration) -> Bool {
    guard let line = lines[key], line.pushedAt + interval > now else {
      lines[key] = Line(pushedAt: now)
      return true
    }
    lines[key]?.isDeferred = true
    return false
  }

  /// Returns the keys whose deferred change is pushed now, and forgets those of which nothing is deferred.
  mutating func due(at now: Duration) -> [Key] {
    let over = lines.filter { $0.value.pushedAt + interval <= now }
    for (key, line) in over { lines[key] = line.isDeferred ? Line(pushedAt: now) : nil }
    return over.filter(\.value.isDeferred).map(\.key)
  }

  /// The time at which a deferred change is due; nil if nothing is deferred.
  var nextMoment: Duration? { lines.values.lazy.filter(\.isDeferred).map { $0.pushedAt + interval }.min() }
}
