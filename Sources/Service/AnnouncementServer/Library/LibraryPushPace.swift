// SPDX-License-Identifier: Apache-2.0

/// The state machine that decides when a change is pushed, and for which item. There is at most one push for a key in
/// each interval. The items of a key that have changed take turns, so each of them gets its push, however many changes
/// come.
///
/// If nothing was pushed for an interval, a change is pushed at once. An item that changes again while it waits keeps
/// its turn and is pushed once.
///
/// It is a value that reads no clock. The caller passes all times, which are durations since the same moment and never
/// decrease.
struct LibraryPushPace<Key: Hashable & Sendable, Item: Hashable & Sendable> {
  private struct Line {
    var pushedAt: Duration
    /// The items that have changed and were not pushed since, in the order of their turns.
    var waiting: [Item] = []
  }

  /// The time between two pushes with the same key.
  let interval: Duration
  private var lines: [Key: Line] = [:]

  init(interval: Duration) { self.interval = interval }

  /// Records a change of some items of a key.
  ///
  /// - Returns: The item that is pushed now; nil if no item is pushed now. The others wait, and ``due(at:)`` returns
  ///   them later.
  mutating func change(_ items: [Item], of key: Key, at now: Duration) -> Item? {
    guard !items.isEmpty else { return nil }
    let isQuiet = lines[key].map { $0.waiting.isEmpty && $0.pushedAt + interval <= now } ?? true
    var line = isQuiet ? Line(pushedAt: now) : lines[key, default: Line(pushedAt: now)]
    let known = Set(line.waiting)
    line.waiting += items.filter { !known.contains($0) }
    let first = isQuiet ? line.waiting.removeFirst() : nil
    lines[key] = line
    return first
  }

  /// Returns the items whose turn has come, at most one of each key, and forgets the keys for which nothing waits.
  mutating func due(at now: Duration) -> [(key: Key, item: Item)] {
    let over = lines.filter { $0.value.pushedAt + interval <= now }
    var due: [(key: Key, item: Item)] = []
    for key in over.keys {
      lines[key]?.pushedAt = now
      if let item = next(of: key) { due.append((key, item)) } else { lines[key] = nil }
    }
    return due
  }

  /// Returns the next waiting item of a key, in place of an item that need not be pushed any more; nil if none waits.
  mutating func next(of key: Key) -> Item? {
    lines[key].map(\.waiting.isEmpty) == false ? lines[key]?.waiting.removeFirst() : nil
  }

  /// The time at which a waiting item is due; nil if none waits.
  var nextMoment: Duration? { lines.values.lazy.filter { !$0.waiting.isEmpty }.map { $0.pushedAt + interval }.min() }
}
