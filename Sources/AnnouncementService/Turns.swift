// SPDX-License-Identifier: Apache-2.0

/// A set of locks, one for each key. For example, requests with the same idempotency key are processed one after
/// another, so that the second request finds the result of the first.
package actor Turns<Key: Hashable & Sendable> {
  private var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

  package init() {}

  /// Performs work as soon as no other work is in progress for any of these keys.
  ///
  /// - Parameter keys: The keys, which are locked in this order. All callers must use the same order to avoid a
  ///   deadlock.
  package nonisolated func take<Value: Sendable>(
    _ keys: [Key], _ work: @Sendable () async throws -> Value
  ) async rethrows -> Value {
    for key in keys { await enter(key) }
    do {
      let value = try await work()
      for key in keys.reversed() { await leave(key) }
      return value
    } catch {
      for key in keys.reversed() { await leave(key) }
      throw error
    }
  }

  /// The number of tasks that work or wait.
  package var count: Int { waiting.values.reduce(0) { $0 + $1.count + 1 } }

  private func enter(_ key: Key) async {
    guard waiting[key] != nil else {
      waiting[key] = []
      return
    }
    await withCheckedContinuation { waiting[key]?.append($0) }
  }

  private func leave(_ key: Key) {
    guard waiting[key]?.isEmpty == false else {
      waiting[key] = nil
      return
    }
    waiting[key]?.removeFirst().resume()
  }
}
