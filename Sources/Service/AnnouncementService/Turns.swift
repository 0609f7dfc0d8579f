// SPDX-License-Identifier: Apache-2.0

/// A set of locks, one for each key, with shared and exclusive turns. The announcements of a clip have shared turns and
/// do not wait for each other. The removal of a clip waits for them and has an exclusive turn.
///
/// Turns are granted in the order of the requests, so that neither kind makes the other wait forever.
package actor Turns<Key: Hashable & Sendable> {
  private struct Waiter {
    var isAlone: Bool
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct Turn {
    var sharing = 0
    var isAlone = false
    var waiting: [Waiter] = []

    func admits(alone: Bool) -> Bool { !isAlone && (!alone || sharing == 0) }

    mutating func begin(alone: Bool) {
      if alone { isAlone = true } else { sharing += 1 }
    }
  }

  private var turns: [Key: Turn] = [:]

  package init() {}

  /// The number of tasks that wait.
  package var waitingCount: Int { turns.values.reduce(0) { $0 + $1.waiting.count } }
  /// The number of tasks that work or wait.
  package var count: Int { turns.values.reduce(waitingCount) { $0 + ($1.isAlone ? 1 : $1.sharing) } }

  /// Performs work as soon as no exclusive work is in progress for any of the keys.
  package nonisolated func share<Value: Sendable>(
    _ keys: Set<Key>, _ work: @Sendable () async throws -> Value
  ) async rethrows -> Value where Key: Comparable {
    // All callers use the same order of keys, so that two tasks cannot wait for each other.
    try await take(keys.sorted()[...], alone: false, work)
  }

  /// Performs work exclusively, as soon as no other work is in progress for any of the keys. For example, requests with
  /// the same idempotency key are processed one after another, so that the second finds the result of the first.
  ///
  /// - Parameter keys: The keys, which are locked in this order. All callers must use the same order to avoid a
  ///   deadlock.
  package nonisolated func take<Value: Sendable>(
    _ keys: [Key], _ work: @Sendable () async throws -> Value
  ) async rethrows -> Value {
    try await take(keys[...], alone: true, work)
  }

  private nonisolated func take<Value: Sendable>(
    _ keys: ArraySlice<Key>, alone: Bool, _ work: @Sendable () async throws -> Value
  ) async rethrows -> Value {
    guard let key = keys.first else { return try await work() }
    await enter(key, alone: alone)
    do {
      let value = try await take(keys.dropFirst(), alone: alone, work)
      await leave(key, alone: alone)
      return value
    } catch {
      await leave(key, alone: alone)
      throw error
    }
  }

  private func enter(_ key: Key, alone: Bool) async {
    var turn = turns[key] ?? Turn()
    if turn.waiting.isEmpty, turn.admits(alone: alone) {
      turn.begin(alone: alone)
      turns[key] = turn
      return
    }
    await withCheckedContinuation { turns[key]?.waiting.append(Waiter(isAlone: alone, continuation: $0)) }
  }

  private func leave(_ key: Key, alone: Bool) {
    guard var turn = turns[key] else { return }
    if alone { turn.isAlone = false } else { turn.sharing -= 1 }
    let next = turn.waiting.prefix { waiter in
      guard turn.admits(alone: waiter.isAlone) else { return false }
      turn.begin(alone: waiter.isAlone)
      return true
    }
    turn.waiting.removeFirst(next.count)
    turns[key] = turn.sharing == 0 && !turn.isAlone ? nil : turn
    for waiter in next { waiter.continuation.resume() }
  }
}
