// SPDX-License-Identifier: Apache-2.0

import Answers

/// The values that were used last, as many as fit into a number of bytes.
///
/// Thread-safe. The one that was not used for longest goes first; one that is larger than all of it is not kept.
final class RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    var value: Value
    var bytes: Int
    /// Neighbours in the order of use.
    var newer: Key?
    var older: Key?
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var newest: Key?
    var oldest: Key?
    var bytes = 0

    mutating func unlink(_ entry: Entry) {
      if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
      if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
    }

    mutating func pushNewest(_ key: Key, _ value: Value, _ bytes: Int) {
      entries[key] = Entry(value: value, bytes: bytes, newer: nil, older: newest)
      if let newest { entries[newest]?.newer = key } else { oldest = key }
      newest = key
    }
  }

  let capacityBytes: Int
  private let state = Locked(State())

  init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

  var count: Int { state.withLock { $0.entries.count } }
  var bytes: Int { state.withLock { $0.bytes } }

  /// The value, which is the newest from now on.
  func value(for key: Key) -> Value? {
    state.withLock { state in
      guard let entry = state.entries[key] else { return nil }
      if state.newest != key {
        state.unlink(entry)
        state.pushNewest(key, entry.value, entry.bytes)
      }
      return entry.value
    }
  }

  /// - Parameter bytes: what it takes, as far as that matters.
  func insert(_ value: Value, for key: Key, bytes: Int) {
    state.withLock { state in
      if let old = state.entries.removeValue(forKey: key) {
        state.unlink(old)
        state.bytes -= old.bytes
      }
      guard bytes <= capacityBytes else { return }
      state.pushNewest(key, value, bytes)
      state.bytes += bytes
      while state.bytes > capacityBytes, let key = state.oldest, let entry = state.entries.removeValue(forKey: key) {
        state.unlink(entry)
        state.bytes -= entry.bytes
      }
    }
  }

  func remove(_ key: Key) {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: key) else { return }
      state.unlink(entry)
      state.bytes -= entry.bytes
    }
  }
}
