// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport

/// A cache of the values that were used last, limited by a number of bytes.
///
/// Thread-safe. The least recently used value is removed first. A value that is larger than the whole cache is not
/// kept.
final class RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// An entry of the list of values in the order of use.
  private final class Node {
    let key: Key
    var value: Value
    var bytes: Int
    var newer: Node?
    var older: Node?

    init(_ key: Key, _ value: Value, _ bytes: Int) {
      self.key = key
      self.value = value
      self.bytes = bytes
    }
  }

  private struct State: @unchecked Sendable {  // The nodes never leave the lock.
    var nodes: [Key: Node] = [:]
    var newest: Node?
    var oldest: Node?
    var bytes = 0

    mutating func unlink(_ node: Node) {
      if let newer = node.newer { newer.older = node.older } else { newest = node.older }
      if let older = node.older { older.newer = node.newer } else { oldest = node.newer }
      (node.newer, node.older) = (nil, nil)
    }

    mutating func pushNewest(_ node: Node) {
      node.older = newest
      if let newest { newest.newer = node } else { oldest = node }
      newest = node
    }

    mutating func remove(_ node: Node) {
      nodes[node.key] = nil
      unlink(node)
      bytes -= node.bytes
    }
  }

  /// The memory of an entry in bytes, without the memory that its key and its value refer to. It consists of the
  /// entry's node and of its place in a hash table that is between three eighths and three quarters full.
  static var entryBytes: Int {
    let place = MemoryLayout<Key>.stride + MemoryLayout<Node>.stride
    return MemoryLayout<Key>.stride + MemoryLayout<Value>.stride + 64 + 2 * place
  }

  let capacityBytes: Int
  private let state = Locked(State())

  init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

  deinit {
    // Neighbouring nodes reference each other, so the cycles must be broken.
    state.withLock { state in
      while let node = state.oldest { state.unlink(node) }
    }
  }

  var count: Int { state.withLock { $0.nodes.count } }
  var bytes: Int { state.withLock { $0.bytes } }

  /// Returns the keys of all values for which a condition is true. Their order of use does not change.
  func keys(where isWanted: (Value) -> Bool) -> [Key] {
    state.withLock { state in state.nodes.values.filter { isWanted($0.value) }.map(\.key) }
  }

  /// Returns the value of a key and marks it as the most recently used.
  ///
  /// - Parameter note: Called with the value. While it runs, no value enters or leaves the cache.
  func value(for key: Key, note: (Value) -> Void = { _ in }) -> Value? {
    state.withLock { state in
      guard let node = state.nodes[key] else { return nil }
      note(node.value)
      if state.newest !== node {
        state.unlink(node)
        state.pushNewest(node)
      }
      return node.value
    }
  }

  /// Adds a value or replaces the value of a key.
  ///
  /// - Parameter bytes: The size that is counted for the value. The caller includes ``entryBytes``.
  /// - Returns: The values that left the cache: the replaced one, and those that had no room any more.
  @discardableResult
  func insert(_ value: Value, for key: Key, bytes: Int) -> [(key: Key, value: Value)] {
    state.withLock { state in
      var left: [(key: Key, value: Value)] = []
      if let old = state.nodes[key] {
        state.remove(old)
        left.append((key, old.value))
      }
      guard bytes <= capacityBytes else { return left }
      let node = Node(key, value, bytes)
      state.nodes[key] = node
      state.pushNewest(node)
      state.bytes += bytes
      while state.bytes > capacityBytes, let oldest = state.oldest {
        state.remove(oldest)
        left.append((oldest.key, oldest.value))
      }
      return left
    }
  }

  /// Removes the value of a key.
  ///
  /// - Returns: Whether there was a value.
  @discardableResult
  func remove(_ key: Key) -> Bool {
    state.withLock { state in
      guard let node = state.nodes[key] else { return false }
      state.remove(node)
      return true
    }
  }

  /// Removes the value of a key, unless a condition is true for it.
  ///
  /// - Returns: Whether the cache has no value of the key now.
  func remove(_ key: Key, unless isWanted: (Value) -> Bool) -> Bool {
    state.withLock { state in
      guard let node = state.nodes[key] else { return true }
      if isWanted(node.value) { return false }
      state.remove(node)
      return true
    }
  }

  /// Removes all values for which a condition is true.
  func remove(where isUnwanted: (Value) -> Bool) {
    state.withLock { state in
      for node in state.nodes.values.filter({ isUnwanted($0.value) }) { state.remove(node) }
    }
  }
}

extension ClipReport {
  /// The heap memory that a report refers to, in bytes, with the allocator's overhead. The block of a text of more than
  /// 15 bytes has 32 bytes besides the text.
  var heapBytes: Int {
    let texts = [
      id ?? "", text, locale, method, voice, amount?.value ?? "", clip.name, clip.path, clip.url, clip.sha256,
      clip.format, clip.encoding,
    ]
    let lists =
      marks.map(\.text) + tokens.map(\.name) + shortened + unspoken.flatMap { [$0.field, $0.text] } + warnings
    let list =
      64 + MemoryLayout<Mark>.stride * marks.capacity + MemoryLayout<ClipToken>.stride * tokens.capacity
    return list + (texts + lists).reduce(0) { $0 + ($1.utf8.count > 15 ? 48 + $1.utf8.count : 0) }
  }
}
