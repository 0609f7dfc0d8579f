// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport

/// The values that were used last, as many as fit into a number of bytes.
///
/// Thread-safe. The one that was not used for longest goes first; one that is larger than all of it is not kept.
final class RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// An entry of a list in the order of use.
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

  private struct State {
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

  /// What an entry takes beside what its key and its value refer to, in bytes: its node, and its place in a table that is
  /// between three eighths and three quarters full.
  static var entryBytes: Int {
    let place = MemoryLayout<Key>.stride + MemoryLayout<Node>.stride
    return MemoryLayout<Key>.stride + MemoryLayout<Value>.stride + 64 + 2 * place
  }

  let capacityBytes: Int
  private let state = Locked(State())

  init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

  deinit {
    // Neighbours hold each other.
    state.withLock { state in
      while let node = state.oldest { state.unlink(node) }
    }
  }

  var count: Int { state.withLock { $0.nodes.count } }
  var bytes: Int { state.withLock { $0.bytes } }

  /// The value, which is the newest from now on.
  func value(for key: Key) -> Value? {
    state.withLock { state in
      guard let node = state.nodes[key] else { return nil }
      if state.newest !== node {
        state.unlink(node)
        state.pushNewest(node)
      }
      return node.value
    }
  }

  /// - Parameter bytes: what it takes, with ``entryBytes`` where that matters.
  func insert(_ value: Value, for key: Key, bytes: Int) {
    state.withLock { state in
      if let old = state.nodes[key] { state.remove(old) }
      guard bytes <= capacityBytes else { return }
      let node = Node(key, value, bytes)
      state.nodes[key] = node
      state.pushNewest(node)
      state.bytes += bytes
      while state.bytes > capacityBytes, let oldest = state.oldest { state.remove(oldest) }
    }
  }

  /// - Returns: whether there was a value.
  @discardableResult
  func remove(_ key: Key) -> Bool {
    state.withLock { state in
      guard let node = state.nodes[key] else { return false }
      state.remove(node)
      return true
    }
  }
}

extension ClipReport {
  /// What a report refers to, in bytes, as memory is given: a text of more than 15 bytes has 32 beside itself.
  var heapBytes: Int {
    let texts = [
      id ?? "", text, locale, method, voice, amount?.value ?? "", clip.name, clip.path, clip.url, clip.sha256,
      clip.format, clip.encoding,
    ]
    let lists = marks.map(\.text) + shortened + unspoken.flatMap { [$0.field, $0.text] } + warnings
    let list = 32 + MemoryLayout<Mark>.stride * marks.capacity
    return list + (texts + lists).reduce(0) { $0 + ($1.utf8.count > 15 ? 48 + $1.utf8.count : 0) }
  }
}
